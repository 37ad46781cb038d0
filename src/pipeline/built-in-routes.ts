/** The gateway's own endpoints as routes: the same table, the same pipeline, the same permission check as any other. */

import {
  type AdminDeps,
  type AdminEndpoint,
  type AdminRefusal,
  createAdminApi,
} from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { Refusal } from '../model/errors.ts'
import type { HeldPermissions, LocalResponse, LocalRequest, PublicHandler, Route } from '../model/route.ts'

/** Bytes of a body that a Seat or key endpoint reads. */
const MAX_BODY = 1024 * 1024

/** Bytes of a body that an endpoint of sign-in reads. */
const MAX_SIGN_IN_BODY = 128 * 1024

const SIGN_IN = [
  ['POST', '/auth/oidc/login'],
  ['GET', '/auth/oidc/callback'],
  // For a tenant whose provider must not be mixed up with another's.
  ['GET', '/auth/oidc/callback/{tenant}'],
  ['POST', '/auth/oidc/validate'],
  ['POST', '/auth/oidc/refresh'],
  ['POST', '/auth/oidc/logout'],
] as const

const NOTHING_HELD: HeldPermissions = { all: false, permissions: new Set() }

/** No credential is asked for: the endpoints see for themselves. @param handler null where no tenant has a provider */
export function signInRoutes(handler: PublicHandler | null): Route[] {
  return SIGN_IN.map(([method, path]) =>
    Object.freeze({
      id: `${method} ${path}`,
      method,
      path,
      requirement: 'public',
      target: Object.freeze({ kind: 'public', handler }),
      maxBody: MAX_SIGN_IN_BODY,
      responseTimeout: null,
      signIn: null,
      place: null,
    }),
  )
}

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
      signIn: null,
      place: null,
    }),
  )
}

async function serve(
  endpoint: AdminEndpoint,
  request: LocalRequest,
  adminSpace: (tenant: string) => string | undefined,
): Promise<LocalResponse | Refusal> {
  const { principal, space } = request
  // What reads needs no more than the space: nothing is granted.
  const held = endpoint.method === 'GET' ? NOTHING_HELD : await request.held()
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
    seatBytes: 0,
  }
  return [...builtInRoutes(createAdminApi(deps), () => undefined), ...signInRoutes(null)]
}
