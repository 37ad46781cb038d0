/**
 * Divides all hosts into classes that several route tables at once can't tell apart: each name that one of them has, each
 * wildcard without the names, and all others. Nothing is sampled.
 */

import { hostMatches } from '../model/host.ts'
import type { Tables } from './tables.ts'

/**
 * One host of each class, canonical. Null stands for all hosts that no table names, and for requests without a host.
 *
 * @param more names beside those of the tables, `*.` for one label
 */
export function hostClasses(sides: readonly Tables[], more: readonly string[] = []): (string | null)[] {
  const names = new Set([...sides.flatMap(({ table }) => table.hosts?.names ?? []), ...more])
  return [null, ...[...names].map((name) => (isWildcard(name) ? hostUnder(name, names) : name))]
}

/** Those of the classes that a name, or a wildcard, is about. */
export function hostClassesOf(sides: readonly Tables[], name: string): string[] {
  return hostClasses(sides, [name]).flatMap((host) => (host !== null && hostMatches(name, host) ? host : []))
}

/** A host that the wildcard matches and no name equals. */
function hostUnder(wildcard: string, names: ReadonlySet<string>): string {
  const rest = wildcard.slice(1)
  let host = `x${rest}`
  for (let number = 1; names.has(host); number++) host = `x${number}${rest}`
  return host
}

function isWildcard(name: string): boolean {
  return name.startsWith('*.')
}
