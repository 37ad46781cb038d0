/**
 * `GET /.well-known/authzen-configuration` (Authorization API 1.0, section 9), and the paths of all
 * endpoints.
 */

import { ownRoute, type Route } from '../../model/route.ts'

export const EVALUATION_PATH = '/access/v1/evaluation'
export const EVALUATIONS_PATH = '/access/v1/evaluations'
export const SEARCH_PATHS = [
  { sought: 'subject', path: '/access/v1/search/subject' },
  { sought: 'resource', path: '/access/v1/search/resource' },
  { sought: 'action', path: '/access/v1/search/action' },
] as const
const DISCOVERY_PATH = '/.well-known/authzen-configuration'

export const AUTHZEN_PATHS: readonly string[] = [
  EVALUATION_PATH,
  EVALUATIONS_PATH,
  ...SEARCH_PATHS.map(({ path }) => path),
  DISCOVERY_PATH,
]

/** The names of the endpoints in logs and metrics. */
export const AUTHZEN_ROUTES: readonly string[] = AUTHZEN_PATHS.map(
  (path) => `${path === DISCOVERY_PATH ? 'GET' : 'POST'} ${path}`,
)

/**
 * The document contains addresses only, so no credential is needed. Nothing of a request goes into the
 * document.
 *
 * @param url the origin of the listener; null: there is no document, as no other source of its addresses is
 *   safe
 */
export function discoveryRoutes(url: string | null): Route[] {
  if (url === null) return []
  const body = metadataOf(url)
  const handler = async () => ({ status: 200, body, headers: [] })
  return [ownRoute('GET', DISCOVERY_PATH, 'public', { kind: 'public', handler }, 0)]
}

function metadataOf(url: string): Readonly<Record<string, string>> {
  const search = SEARCH_PATHS.map(({ sought, path }) => [`search_${sought}_endpoint`, url + path])
  return Object.freeze({
    policy_decision_point: url,
    access_evaluation_endpoint: url + EVALUATION_PATH,
    access_evaluations_endpoint: url + EVALUATIONS_PATH,
    ...Object.fromEntries(search),
  })
}
