/**
 * The content hash of route tables. It does not depend on the order of entries, files and folders. If two
 * gateways have equal hashes, they decide every request in the same way. The reverse does not hold:
 * `access/difference.ts` also finds tables equal whose entries are written differently.
 */

import { createHash } from 'node:crypto'
import { corsKey } from '../model/cors.ts'
import { rateLimitText } from '../model/rate-limit.ts'
import { isSpaceHeader, sourceText, type SpaceSource } from '../model/space-source.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import type { Config, RouteEntry } from './config.ts'

/**
 * The number of hexadecimal digits of SHA-256, which is enough to distinguish the tables of one deployment.
 */
const DIGITS = 12
/** The version of the hash, which changes when the same tables get another hash. */
const FORMAT = 'seatgate-tables-1'

type Settings = Pick<Config, 'upstreams' | 'methods'> & Partial<Pick<Config, 'api'>>

/**
 * Covers what `seatgate diff` compares:
 * - of each entry: method, hosts, pattern, requirement, space, upstream, forwarded path, limits, rate limits,
 *   `tenant` and `sign_in`, and whether the upstream accepts `;` and `%2F`;
 * - the accepted methods;
 * - the hosts and prefixes of the built-in routes, which the program itself has, and whether the console and
 *   SCIM are among them.
 *
 * It also covers the settings of MCP servers, and `cors`, which decides preflights and whether a session cookie is accepted.
 */
export function contentHash(entries: readonly RouteEntry[], { upstreams, methods, api }: Settings): string {
  const lines = entries.flatMap((entry) => linesOf(entry, upstreams)).sort()
  const places = api === undefined ? [] : linesOfPlace(api)
  const text = [FORMAT, JSON.stringify([...methods].sort()), ...places, ...lines].join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, DIGITS)
}

/** Settings that the configuration leaves out add nothing, so that older tables keep their hash. */
function linesOfPlace({ hosts, prefix, authPrefix, console, scim }: BuiltInPlace): string[] {
  return [
    ...(hosts === null ? [] : [JSON.stringify(['api_hosts', ...hosts.toSorted()])]),
    ...(prefix === '' && authPrefix === '' ? [] : [JSON.stringify(['api', prefix, authPrefix])]),
    ...(console ? [JSON.stringify(['console'])] : []),
    ...(scim ? [JSON.stringify(['scim'])] : []),
  ]
}

/** One part for each host, so that two tables with one host each equal one table with both. */
function linesOf(entry: RouteEntry, upstreams: Settings['upstreams']): string[] {
  const parts = partsOf(entry, upstreams)
  const more = newerPartsOf(entry, upstreams.get(entry.upstream)?.basePath ?? '')
  if (entry.hosts === undefined)
    return [JSON.stringify(Object.keys(more).length === 0 ? parts : [...parts, more])]
  return entry.hosts.map((host) => JSON.stringify([...parts, { ...more, host }]))
}

function partsOf(entry: RouteEntry, upstreams: Settings['upstreams']): unknown[] {
  const { method, path, prefix = '', requirement, upstream, maxBody, responseTimeout, signIn, mcp } = entry
  const { allowSemicolons = false, allowEncodedSlashes = false } = upstreams.get(upstream) ?? {}
  return [
    method,
    // The URI of a resource may have braces.
    mcp?.part === 'line' ? prefix + path : withoutNames(prefix + path),
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

/** Settings that an entry leaves out add nothing, so that older tables keep their hash. */
function newerPartsOf(
  { path, prefix, stripPrefix, tenant, space, cors, rateLimits, mcp }: RouteEntry,
  base: string,
): object {
  return {
    // In addition to the whole pattern, because the prefix itself is a path of these entries.
    ...(prefix !== undefined && (path === '/' || path === '/*') ? { prefix } : {}),
    ...(stripPrefix === true ? { strip: prefix } : {}),
    ...(base === '' ? {} : { base }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(space === undefined || isSpaceHeader(space) ? {} : { space: spaceKey(space, path) }),
    ...(cors === undefined ? {} : { cors: corsKey(cors) }),
    ...(rateLimits === undefined ? {} : { rate_limit: rateLimits.map(rateLimitText).sort() }),
    ...(mcp === undefined ? {} : { mcp }),
  }
}

/** Parameters by their position, because their names do not affect decisions. */
function spaceKey(space: SpaceSource, path: string): unknown {
  if (space.kind !== 'param') return sourceText(space)
  return ['param', path.split('/').indexOf(`{${space.name}}`)]
}

/** `/a/{id}` → `/a/{}`: the name of a parameter does not affect decisions. */
function withoutNames(path: string): string {
  return path.replaceAll(/\/\{[^/{}]*\}(?=\/|$)/g, '/{}')
}
