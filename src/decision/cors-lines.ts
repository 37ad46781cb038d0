/** The CORS header lines of a response, from the policy of its table and the Origin of its request. */

import type { BrowserContext } from '../model/authorization-request.ts'
import type { CorsPolicy } from '../model/cors.ts'
import type { Route } from '../model/route.ts'

/** An Origin that is repeated is none. @returns lines with their CRLFs; '': no page may read the response */
export function corsLines(cors: CorsPolicy, browser: BrowserContext): string {
  const { origins = [] } = browser
  return cors.responseLines(hasTwoOrigins(browser) ? null : (origins[0] ?? null))
}

/**
 * Of a refusal for the method: the entries at the path may belong to several tables, and then none is meant.
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
