/** The gateway's own endpoints as routes: they use the same table, pipeline and permission check as any other route. */

import {
  type AdminDeps,
  type AdminEndpoint,
  type AdminRefusal,
  createAdminApi,
} from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { Refusal } from '../model/errors.ts'
import type { HeldPermissions, LocalResponse, LocalRequest, PublicHandler, Route } from '../model/route.ts'

/** Bytes of a request body at a Seat or API key endpoint. */
const MAX_BODY = 1024 * 1024

/** Bytes of a request body at a sign-in endpoint. */
const MAX_SIGN_IN_BODY = 128 * 1024

const SIGN_IN = [
  ['POST', '/auth/oidc/login'],
  ['GET', '/auth/oidc/callback'],
  // One redirect URI a tenant prevents mix-up attacks between providers (RFC 9700, section 2.1).
  ['GET', '/auth/oidc/callback/{tenant}'],
  ['POST', '/auth/oidc/validate'],
  ['POST', '/auth/oidc/refresh'],
  ['POST', '/auth/oidc/logout'],
] as const

const NOTHING_HELD: HeldPermissions = { all: false, permissions: new Set() }

/** Public routes: the endpoints check their own input. @param handler null: no tenant has a provider */
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

/** @param adminSpace gives a tenant's admin space in the configuration of these routes */
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
  // A read grants nothing, so it needs no more than the space.
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

/** The built-in routes without handlers that work, for `check` and `routes`, which only list them. */
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
