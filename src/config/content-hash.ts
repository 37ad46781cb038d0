/**
 * The content hash of route tables. Two gateways have the same one if their tables say the same, in whatever order, files and
 * folders. Equal hashes mean that no request is decided differently; `access/difference.ts` proves more tables equal, as it
 * knows that entries can be written in several ways.
 */

import { createHash } from 'node:crypto'
import type { Config, RouteEntry } from './config.ts'

/** Hexadecimal digits of SHA-256: enough to tell the tables of one deployment apart. */
const DIGITS = 12
/** Changes whenever the same tables get another hash. */
const FORMAT = 'seatgate-tables-1'

type Settings = Pick<Config, 'upstreams' | 'methods'>

/**
 * Covers what `seatgate diff` compares: of each entry, its method, pattern, requirement, upstream, limits and `sign_in`, and
 * whether the upstream accepts `;` and `%2F`; and the accepted methods. Built-in routes belong to the program.
 */
export function contentHash(entries: readonly RouteEntry[], { upstreams, methods }: Settings): string {
  const lines = entries.map((entry) => lineOf(entry, upstreams)).sort()
  const text = [FORMAT, JSON.stringify([...methods].sort()), ...lines].join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, DIGITS)
}

function lineOf(entry: RouteEntry, upstreams: Settings['upstreams']): string {
  const { method, path, requirement, upstream, maxBody, responseTimeout, signIn } = entry
  const { allowSemicolons = false, allowEncodedSlashes = false } = upstreams.get(upstream) ?? {}
  return JSON.stringify([
    method,
    withoutNames(path),
    requirement,
    upstream,
    // JSON has no Infinity.
    String(maxBody),
    responseTimeout,
    signIn,
    allowSemicolons,
    allowEncodedSlashes,
  ])
}

/** `/a/{id}` → `/a/{}`: the name of a parameter decides nothing. */
function withoutNames(path: string): string {
  return path.replaceAll(/\/\{[^/{}]*\}(?=\/|$)/g, '/{}')
}
