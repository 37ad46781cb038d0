/** `GET /v1/routes`: the routes that callers of a tenant may reach, and how often its callers used each. */

import { type AdminEndpoint, endpoint, limitOf, limitParameter, someText } from '../../seats-admin/index.ts'
import { count, flag, list, named, object, orNull, text, time } from '../../seats-admin/model/json-schema.ts'
import { inputInvalid } from '../../seats-admin/model/refusal.ts'
import { type Activity, UNUSED } from '../model/activity.ts'
import { takesTenant } from '../model/route.ts'
import { inListOrder, isListed, isRequirement, routeRow, routesPage } from './listed-routes.ts'
import type { Tables } from './tables.ts'

interface RoutesDeps {
  /** The tables that decide requests. */
  readonly tables: () => Tables
  readonly activity: Pick<Activity, 'routeUses'>
}

const LIST = {
  q: someText(
    'Only routes with this text in `METHOD path`, in the permission or in a host, without regard to the case of letters.',
    'must be a part of a method and path, of a permission or of a host',
  ),
  permission: {
    ...someText(
      'Only routes that require this permission, `authenticated` or `public`.',
      'must be a permission, authenticated or public',
    ),
    accepts: isRequirement,
  },
  limit: limitParameter,
  after: someText(
    'The last route of the previous page: `METHOD path`. If several routes differ only in their hosts, a page has all of them, so it may be longer than `limit`.',
    'must be the last route of the page before: METHOD path',
  ),
}

export const listedRoute = named(
  'ListedRoute',
  'A route, and how often it was used.',
  object(
    {
      method: text('The method of the entry; `ANY` stands for every method.', { examples: ['GET'] }),
      path: text('The pattern of the entry, with the prefix of its table.', {
        examples: ['/v1/trainings'],
      }),
      permission: text('What the entry requires.', { examples: ['trainings:list'] }),
      upstream: text('The upstream that the entry leads to; `seatgate` for a built-in endpoint.'),
      file: text('The route table; `(built in)` for a built-in endpoint.'),
      line: count('The line in the route table; 0 for a built-in endpoint.'),
      requests: count(
        "Allowed requests of the tenant's callers on this instance since it started. A public route reads no credential, so it counts for no tenant.",
      ),
      last_at: orNull(time('The latest of these requests. Null if there is none.')),
    },
    {
      host: orNull(
        text(
          'The hosts of its table, joined by commas. Null for the hosts that no table lists. Absent if no table lists hosts.',
        ),
      ),
    },
  ),
)

const answer = object({
  data: list(listedRoute, 'In the order of the tables; built-in endpoints last.'),
  has_more: flag('Whether more items follow.'),
})

export function routesEndpoint({ tables, activity }: RoutesDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/routes',
    permission: 'routes:list',
    operation: 'listRoutes',
    summary: 'Lists the routes of the tables, and how often they were used.',
    details:
      'Without the routes for callers of other tenants. The counts are those of the instance that answers, since its start.',
    query: LIST,
    answers: { 200: answer },
    codes: [],
    async handle({ query, caller: { tenant } }) {
      // Entries for another tenant are its own concern: their paths and hosts are not shown.
      const routes = inListOrder(tables().table.routes.filter((route) => takesTenant(route, tenant)))
      if (query.after !== null && !isListed(routes, query.after))
        return inputInvalid([{ path: '/after', message: 'is not a route of the current route tables' }])
      const { rows, hasMore } = routesPage(routes, { ...query, limit: limitOf(query) })
      const uses = await activity.routeUses(tenant)
      const withHosts = routes.some(({ hosts }) => hosts.length > 0)
      const data = rows.map((route) => {
        const { requests, lastAt } = uses.get(route.id) ?? UNUSED
        const last = lastAt === null ? null : new Date(lastAt).toISOString()
        return { ...routeRow(route, withHosts), requests, last_at: last }
      })
      return { status: 200, body: { data, has_more: hasMore } }
    },
  })
}
