/** The compiled table as a list, for people and programs. */

import { EVERY_PERMISSION, isPermission } from '../../seats-admin/model/permission.ts'
import { needsPermission, type Route, upstreamOf } from '../model/route.ts'
import { BUILT_IN } from './access-change.ts'

/** A row of the list. @param withHosts whether some table names hosts */
export function routeRow(route: Route, withHosts: boolean) {
  const { method, hosts, path, requirement, place } = route
  // The hosts; null for those that no table names.
  const host = hosts.length === 0 ? null : hosts.join(',')
  return {
    method,
    ...(withHosts ? { host } : {}),
    path,
    permission: requirement,
    upstream: upstreamOf(route),
    file: place?.file ?? BUILT_IN,
    line: place?.line ?? 0,
  }
}

export type RouteRow = ReturnType<typeof routeRow>

interface RoutePage {
  /** A part of `METHOD path`, the permission or the host, in any case; null: each route. */
  readonly q: string | null
  /** The requirement of the route; null: any. */
  readonly permission: string | null
  readonly limit: number
  /** The last route of the previous page, as {@link isListed} takes it; null: from the beginning. */
  readonly after: string | null
}

/** Whether an entry may have this requirement. */
export function isRequirement(text: string): boolean {
  return !needsPermission(text) || (isPermission(text) && text !== EVERY_PERMISSION)
}

/**
 * The routes in the order of the tables. Routes that differ only in their hosts are kept together, so that
 * `METHOD path` names a place in the list.
 */
export function inListOrder(routes: readonly Route[]): Route[] {
  return [...Map.groupBy(routes, nameOf).values()].flat()
}

/** Whether a route is in the list. @param after `METHOD path`, or the id of a route, which has its hosts */
export function isListed(routes: readonly Route[], after: string): boolean {
  return placeOf(routes, after) >= 0
}

/**
 * A page of routes. Routes of one `METHOD path` are never separated, since `after` may name them together: a
 * page may be shorter, or longer if there are more of them than its limit.
 *
 * @param routes in list order
 */
export function routesPage(
  routes: readonly Route[],
  { q, permission, limit, after }: RoutePage,
): { rows: readonly Route[]; hasMore: boolean } {
  const from = after === null ? 0 : placeOf(routes, after) + 1
  const matching = routes.slice(from).filter((route) => isWanted(route, q, permission))
  const end = endOfPage(matching, limit)
  return { rows: matching.slice(0, end), hasMore: end < matching.length }
}

function endOfPage(routes: readonly Route[], limit: number): number {
  const next = routes[limit]
  if (next === undefined) return routes.length
  const first = routes.findIndex((route) => nameOf(route) === nameOf(next))
  if (first > 0) return first
  const other = routes.findIndex((route) => nameOf(route) !== nameOf(next))
  return other < 0 ? routes.length : other
}

/** The index of the last route with this name. */
function placeOf(routes: readonly Route[], after: string): number {
  const named = routes.findLastIndex((route) => nameOf(route) === after)
  return named >= 0 ? named : routes.findIndex(({ id }) => id === after)
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}

function isWanted(route: Route, q: string | null, permission: string | null): boolean {
  if (permission !== null && route.requirement !== permission) return false
  if (q === null) return true
  const part = q.toLowerCase()
  const texts = [nameOf(route), route.requirement, ...route.hosts]
  return texts.some((text) => text.toLowerCase().includes(part))
}
