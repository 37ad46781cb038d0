/** Compares the exact difference of two tables with brute force over the decision engine. */

import { differences } from '../../src/access/difference.ts'
import { EVERY_METHOD, oracle, type TablesInput, tablesOf } from './random-tables.ts'

type Diff = typeof differences

/** @returns the faults of `diff`: differences that it missed or made up, and witnesses that show none */
export function faultsOf(
  [before, after]: readonly [TablesInput, TablesInput],
  paths: readonly string[],
  diff: Diff = differences,
  hosts: readonly (string | null)[] = [null],
): string[] {
  const [old, now] = [tablesOf(before), tablesOf(after)]
  const [entryBefore, entryAfter] = [oracle(old), oracle(now)]
  const real = new Map<string, number>()
  const pairAt = (method: string, path: string, host: string | null = null) => {
    const [one, other] = [entryBefore(method, path, host), entryAfter(method, path, host)]
    const same = one?.requirement === other?.requirement && targetOf(one) === targetOf(other)
    return same ? null : `${one?.id ?? 'none'} -> ${other?.id ?? 'none'}`
  }
  for (const path of paths)
    for (const method of EVERY_METHOD)
      for (const host of hosts) {
        const pair = pairAt(method, path, host)
        if (pair !== null) real.set(pair, Math.min(real.get(pair) ?? Infinity, depthOf(path)))
      }
  const faults: string[] = []
  const found = new Set<string>()
  for (const { before: one, after: other, witness } of diff(old, now)) {
    const pair = `${one?.id ?? 'none'} -> ${other?.id ?? 'none'}`
    const shown = `${witness.method} ${witness.path}`
    if (found.has(pair)) faults.push(`twice: ${pair}`)
    found.add(pair)
    if (pairAt(witness.method, witness.path, witness.host) !== pair)
      faults.push(`${shown} does not show ${pair}`)
    else if (!real.has(pair)) faults.push(`brute force does not find ${pair}, which ${shown} shows`)
    else if (hosts.length === 1 && depthOf(witness.path) !== real.get(pair))
      faults.push(`${shown} is not the shortest for ${pair}`)
  }
  for (const pair of real.keys()) if (!found.has(pair)) faults.push(`missed: ${pair}`)
  return faults
}

function targetOf(route: ReturnType<ReturnType<typeof oracle>>): string | undefined {
  return route?.target.kind === 'upstream' ? route.target.name : route?.id
}

function depthOf(path: string): number {
  return path.split('/').length
}
