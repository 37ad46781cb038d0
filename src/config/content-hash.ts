/**
 * The content hash of route tables. Two gateways have the same one if their tables say the same, in whatever order, files and
 * folders. Equal hashes mean that no request is decided differently; `access/difference.ts` proves more tables equal, as it
 * knows that entries can be written in several ways.
 */

import { createHash } from 'node:crypto'
import { corsKey } from '../model/cors.ts'
import { rateLimitText } from '../model/rate-limit.ts'
import { isSpaceHeader, sourceText, type SpaceSource } from '../model/space-source.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import type { Config, RouteEntry } from './config.ts'

/** Hexadecimal digits of SHA-256: enough to tell the tables of one deployment apart. */
const DIGITS = 12
/** Changes whenever the same tables get another hash. */
const FORMAT = 'seatgate-tables-1'

type Settings = Pick<Config, 'upstreams' | 'methods'> & Partial<Pick<Config, 'api'>>

/**
 * Covers what `seatgate diff` compares: of each entry, its method, hosts, pattern, requirement, space, upstream, forwarded path,
 * limits, rate limits, `tenant` and `sign_in`, and whether the upstream accepts `;` and `%2F`; the accepted methods; and the hosts and
 * prefixes of built-in routes, which themselves belong to the program, and whether the console is among them. Beyond that, `cors`, which decides preflights and whether a session cookie counts.
 */
export function contentHash(entries: readonly RouteEntry[], { upstreams, methods, api }: Settings): string {
  const lines = entries.flatMap((entry) => linesOf(entry, upstreams)).sort()
  const places = api === undefined ? [] : linesOfPlace(api)
  const text = [FORMAT, JSON.stringify([...methods].sort()), ...places, ...lines].join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, DIGITS)
}

/** None for what the configuration does not say, so that older tables keep their hash. */
function linesOfPlace({ hosts, prefix, authPrefix, console }: BuiltInPlace): string[] {
  return [
    ...(hosts === null ? [] : [JSON.stringify(['api_hosts', ...hosts.toSorted()])]),
    ...(prefix === '' && authPrefix === '' ? [] : [JSON.stringify(['api', prefix, authPrefix])]),
    ...(console ? [JSON.stringify(['console'])] : []),
  ]
}

/** One for each host, so that two tables with a host each say the same as one with both. */
function linesOf(entry: RouteEntry, upstreams: Settings['upstreams']): string[] {
  const parts = partsOf(entry, upstreams)
  const more = newerPartsOf(entry, upstreams.get(entry.upstream)?.basePath ?? '')
  if (entry.hosts === undefined)
    return [JSON.stringify(Object.keys(more).length === 0 ? parts : [...parts, more])]
  return entry.hosts.map((host) => JSON.stringify([...parts, { ...more, host }]))
}

function partsOf(entry: RouteEntry, upstreams: Settings['upstreams']): unknown[] {
  const { method, path, prefix = '', requirement, upstream, maxBody, responseTimeout, signIn } = entry
  const { allowSemicolons = false, allowEncodedSlashes = false } = upstreams.get(upstream) ?? {}
  return [
    method,
    withoutNames(prefix + path),
    requirement,
    upstream,
    // JSON has no Infinity.
    String(maxBody),
    responseTimeout,
    signIn,
    allowSemicolons,
    allowEncodedSlashes,
  ]
}

/** Nothing where an entry says none of it, so that older tables keep their hash. */
function newerPartsOf(
  { path, prefix, stripPrefix, tenant, space, cors, rateLimits }: RouteEntry,
  base: string,
): object {
  return {
    // Beside the whole pattern: the prefix itself is a path of these entries.
    ...(prefix !== undefined && (path === '/' || path === '/*') ? { prefix } : {}),
    ...(stripPrefix === true ? { strip: prefix } : {}),
    ...(base === '' ? {} : { base }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(space === undefined || isSpaceHeader(space) ? {} : { space: spaceKey(space, path) }),
    ...(cors === undefined ? {} : { cors: corsKey(cors) }),
    ...(rateLimits === undefined ? {} : { rate_limit: rateLimits.map(rateLimitText).sort() }),
  }
}

/** Parameters by their position, as their names decide nothing. */
function spaceKey(space: SpaceSource, path: string): unknown {
  if (space.kind !== 'param') return sourceText(space)
  return ['param', path.split('/').indexOf(`{${space.name}}`)]
}

/** `/a/{id}` → `/a/{}`: the name of a parameter decides nothing. */
function withoutNames(path: string): string {
  return path.replaceAll(/\/\{[^/{}]*\}(?=\/|$)/g, '/{}')
}
