/** The gateway's own endpoints as routes: the same table, the same pipeline, the same permission check as any other. */

import {
  type AdminDeps,
  type AdminEndpoint,
  type AdminRefusal,
  createAdminApi,
} from '../seats-admin/index.ts'
import { isRefusal } from '../seats-admin/model/refusal.ts'
import { Refusal } from './errors.ts'
import type { LocalReply, LocalRequest, Route } from './exchange.ts'

/** Bytes of a body that a Seat or key endpoint reads. */
const MAX_BODY = 1024 * 1024

/** Kept for sign-in, so that no table comes to depend on them. */
export const RESERVED_PATHS = [
  '/auth/oidc/login',
  '/auth/oidc/callback',
  '/auth/oidc/validate',
  '/auth/oidc/refresh',
  '/auth/oidc/logout',
]

/** @param adminSpace a tenant's admin space in the configuration that these routes belong to */
export function builtInRoutes(
  endpoints: readonly AdminEndpoint[],
  adminSpace: (tenant: string) => string | undefined,
): Route[] {
  return endpoints.map((endpoint) =>
    Object.freeze({
      id: `${endpoint.method} ${endpoint.path}`,
      method: endpoint.method,
      path: endpoint.path,
      requirement: endpoint.permission,
      target: Object.freeze({
        kind: 'local',
        handler: (request: LocalRequest) => serve(endpoint, request, adminSpace),
      }),
      maxBody: MAX_BODY,
      responseTimeout: null,
      place: null,
    }),
  )
}

async function serve(
  endpoint: AdminEndpoint,
  request: LocalRequest,
  adminSpace: (tenant: string) => string | undefined,
): Promise<LocalReply | Refusal> {
  const { principal, space, held } = request
  const reply = await endpoint.handle({
    params: request.params,
    query: request.query,
    body: request.body,
    caller: {
      tenant: principal.tenant,
      by: principal.user,
      scope: {
        space,
        admin: space === adminSpace(principal.tenant),
        all: held.all,
        permissions: [...held.permissions],
      },
    },
  })
  return isRefusal(reply) ? refusalOf(reply) : reply
}

function refusalOf(refused: AdminRefusal): Refusal {
  return new Refusal(refused.refused, refused.detail, { faults: refused.faults })
}

/** The same entries for those who only look at the table: `check` and `routes`. Nothing answers behind them. */
export function builtInPaths(): Route[] {
  const deps: AdminDeps = {
    get store(): never {
      throw new Error('no store is open')
    },
    announce: async () => {},
    now: Date.now,
  }
  return builtInRoutes(createAdminApi(deps), () => undefined)
}
