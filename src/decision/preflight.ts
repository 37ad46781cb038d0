/**
 * CORS: the header lines that let pages of other origins read a response, and the answers to preflights
 * (WHATWG Fetch, section 4.9, "CORS-preflight fetch") from the route table, without a caller and without the
 * upstream.
 *
 * The entry that the announced request would match has the policy. If no entry has its method, a table with
 * `cors` that has other methods at the path refuses. Any other preflight is a request as usual: an upstream
 * may answer it.
 */

import type { BrowserContext, Preflight } from '../model/authorization-request.ts'
import { type CorsPolicy, PREFLIGHT_VARY } from '../model/cors.ts'
import { Refusal } from '../model/errors.ts'
import type { Route } from '../model/route.ts'
import type { RouteTable } from './router/table.ts'

/** The target of the announced request. */
interface PreflightTarget {
  readonly table: RouteTable
  /** Normalised. */
  readonly path: string
  /** Canonical; null: the request names none, or no table names a host. */
  readonly host: string | null
  /** The request methods that are served; left out: all. */
  readonly served: ReadonlySet<string> | undefined
}

interface PreflightAnswer {
  /** The route that the announced request would match; null: none does. */
  readonly route: Route | null
  /** Null: granted. */
  readonly refusal: Refusal | null
  /** `Access-Control-*` and Vary, each line with its CRLF. */
  readonly lines: string
}

const repeated = new Refusal(
  'request_malformed',
  'Origin or Access-Control-Request-Method is sent more than once.',
)
const otherMethod = refused('No entry of the table takes the requested method at this path.')
const otherOrigin = refused('The table does not list the origin.')

/** @returns null: no table with `cors` has the path, so that the preflight is a request as usual */
export function answerPreflight(
  { table, path, host, served }: PreflightTarget,
  { origins, methods, headers }: Preflight,
): PreflightAnswer | null {
  const [method = ''] = methods
  const routeFor = (name: string) => table.match(name, path, host)?.route ?? null
  const route = routeFor(method)
  const cors = route?.cors ?? null
  if (route === null ? table.routesAt(path, host).every((each) => each.cors === null) : cors === null)
    return null
  const answer = (refusal: Refusal) => ({ route, refusal, lines: PREFLIGHT_VARY })
  if (origins.length !== 1 || methods.length !== 1) return answer(repeated)
  const isServed = method !== 'CONNECT' && served?.has(method) !== false
  if (route === null || cors === null || !isServed) return answer(otherMethod)
  const [origin = ''] = origins
  if (!cors.lists(origin)) return answer(otherOrigin)
  const unlisted = namesIn(headers).find((name) => !cors.allowsHeader(name))
  if (unlisted !== undefined) return answer(refused(`The table does not list the header ${shown(unlisted)}.`))
  const together = table.allowedMethods(path, host).filter((each) => routeFor(each)?.cors === cors)
  const granted = [...new Set([...together, method])].sort()
  return { route, refusal: null, lines: cors.preflightLines(origin, granted) + PREFLIGHT_VARY }
}

/** The names in the lines. Empty elements count for nothing (RFC 9110, section 5.6.1). */
function namesIn(lines: readonly string[]): string[] {
  return lines
    .join(',')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function refused(detail: string): Refusal {
  return new Refusal('preflight_refused', detail)
}

/** The name for a message. Any other text than a short name is not repeated. */
function shown(name: string): string {
  return /^[A-Za-z0-9-]{1,64}$/.test(name) ? name : 'that is requested'
}

/**
 * The CORS header lines of a response, from the policy of its table. An Origin that is repeated is none.
 *
 * @returns lines with their CRLFs; '': no page may read the response
 */
export function corsLines(cors: CorsPolicy, browser: BrowserContext): string {
  const { origins = [] } = browser
  return cors.responseLines(hasTwoOrigins(browser) ? null : (origins[0] ?? null))
}

/**
 * The CORS header lines of a refusal for the method. Null if the entries at the path belong to tables with
 * different policies.
 *
 * @param routes all that match the path
 */
export function sharedCorsLines(routes: readonly Route[], browser: BrowserContext): string | null {
  const cors = routes[0]?.cors ?? null
  return cors !== null && routes.every((each) => each.cors === cors) ? corsLines(cors, browser) : null
}

export function hasTwoOrigins({ origins = [] }: BrowserContext): boolean {
  return origins.length > 1
}
