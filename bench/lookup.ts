/** What a route lookup costs, by the size of the table. */

import type { RouteEntry } from '../src/config/config.ts'
import { compileTable } from '../src/router/table.ts'

const LOOKUPS = 300_000
const ROUNDS = 9

export interface LookupCost {
  readonly routes: number
  readonly nanoseconds: number
}

/** Medians over rounds in which every size has its turn. */
export function lookupCosts(sizes: readonly number[]): LookupCost[] {
  const tables = sizes.map((routes) => ({ routes, lookup: prepare(routes), samples: [] as number[] }))
  for (let round = 0; round < ROUNDS; round++) for (const each of tables) each.samples.push(each.lookup())
  return tables.map(({ routes, samples }) => ({
    routes,
    nanoseconds: samples.sort((a, b) => a - b)[samples.length >> 1] ?? 0,
  }))
}

/** Looks the same ten paths up in a table of any size: what differs is the table, not the questions. */
function prepare(routes: number): () => number {
  const { table } = compileTable(
    Array.from({ length: routes }, (_, i) => entry(i)),
    new Map(),
    [],
  )
  const paths = Array.from({ length: 10 }, (_, i) => `/v1/service${i % 100}/thing${i}/4711`)
  return () => {
    const begun = performance.now()
    let found = 0
    for (let i = 0; i < LOOKUPS; i++) if (table.match('GET', paths[i % 10] ?? '') !== null) found++
    if (found !== LOOKUPS) throw new Error('a lookup failed')
    return ((performance.now() - begun) * 1e6) / LOOKUPS
  }
}

function entry(i: number): RouteEntry {
  return {
    method: 'GET',
    path: `/v1/service${i % 100}/thing${i}/{id}`,
    requirement: 'things:read',
    upstream: 'a',
    responseTimeout: null,
    signIn: null,
    maxBody: 0,
    place: { file: 'bench', line: i + 1, column: 1 },
  }
}
