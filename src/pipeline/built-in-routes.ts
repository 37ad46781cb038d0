/** The gateway's own endpoints as routes, with the table, pipeline and permission check of all others. */

import {
  type AdminEndpoint,
  type AdminRefusal,
  MAX_SCIM_BODY,
  readParameters,
} from '../../seats-admin/index.ts'
import { freeObject, object, oneOf, orNull, text, type ValueOf } from '../../seats-admin/model/json-schema.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import type { SeatsFrom } from '../../seats-admin/model/seats-from.ts'
import { KEY_SET_ENDPOINT } from '../identity/jwks-endpoint.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import { Refusal } from '../model/errors.ts'
import {
  type HeldPermissions,
  type LocalHandler,
  type LocalRequest,
  type LocalResponse,
  ownRoute,
  type PublicHandler,
  type Requirement,
  type Route,
  type RouteTarget,
} from '../model/route.ts'
import { AUTH_METHODS } from '../model/principal.ts'
import { SIGN_IN_ENDPOINTS } from '../oidc/sign-in-endpoints.ts'
import { openApiDocument } from './openapi/document.ts'
import { CONSOLE_PATH } from './console-site.ts'
import { SCIM_PATHS } from './scim-site.ts'
import type { Operation } from './openapi/operation.ts'

/** Bytes of a request body at a Seat or API key endpoint. */
const MAX_BODY = 1024 * 1024

/** Bytes of a request body at a sign-in endpoint. */
const MAX_SIGN_IN_BODY = 128 * 1024

const NOTHING_HELD: HeldPermissions = { all: false, permissions: new Set() }

/** The handlers of the built-in routes of one configuration. */
interface BuiltInHandlers {
  /** The endpoints that require a permission. */
  readonly endpoints: readonly AdminEndpoint[]
  /** The admin space of a tenant. */
  readonly adminSpace: (tenant: string) => string | undefined
  /** What gives the users of a tenant their Seats. */
  readonly seatsFrom: (tenant: string) => SeatsFrom
  /** The handler of sign-in; null if no tenant has a provider. */
  readonly signIn: PublicHandler | null
  /** The handler of the key set; null if identity is not signed. */
  readonly keySet: PublicHandler | null
  readonly console: PublicHandler
  /** The handler of SCIM; null if no tenant has it. */
  readonly scim: PublicHandler | null
}

/** All built-in routes. Those of sign-in are public: the endpoints check their own input. */
export function builtInRoutes(
  place: BuiltInPlace,
  { endpoints, adminSpace, seatsFrom, signIn, keySet, console, scim }: BuiltInHandlers,
): Route[] {
  return [
    ...endpointRoutes(endpoints, place, adminSpace, seatsFrom),
    ...SIGN_IN_ENDPOINTS.map((endpoint) => publicRoute(endpoint, place, signIn)),
    publicRoute(KEY_SET_ENDPOINT, place, keySet),
    ...consoleRoutes(place, console),
    ...scimRoutes(place, scim),
  ]
}

/** None if the console is off: its paths are then like any other. */
function consoleRoutes(place: BuiltInPlace, handler: PublicHandler): Route[] {
  if (!place.console) return []
  return ['', '/*'].map((rest) => publicRoute({ method: 'GET', path: CONSOLE_PATH + rest }, place, handler))
}

/**
 * None without SCIM: its paths are then like any other. It answers every path and method below its address
 * itself.
 */
function scimRoutes(place: BuiltInPlace, handler: PublicHandler | null): Route[] {
  if (!place.scim) return []
  return SCIM_PATHS.map((path) =>
    publicRoute({ method: 'ANY', path, maxBody: MAX_SCIM_BODY }, place, handler),
  )
}

function publicRoute(
  {
    method,
    path,
    maxBody = MAX_SIGN_IN_BODY,
  }: Pick<Operation, 'method' | 'path'> & { readonly maxBody?: number },
  { authPrefix }: BuiltInPlace,
  handler: PublicHandler | null,
): Route {
  return ownRoute(method, authPrefix + path, 'public', { kind: 'public', handler }, maxBody)
}

/** The endpoints, and their description: `/v1/openapi.json`. */
function endpointRoutes(
  endpoints: readonly AdminEndpoint[],
  place: BuiltInPlace,
  adminSpace: BuiltInHandlers['adminSpace'],
  seatsFrom: BuiltInHandlers['seatsFrom'],
): Route[] {
  const routes = endpoints.map((endpoint) => {
    const handler = (request: LocalRequest) => serve(endpoint, request, adminSpace)
    const { json } = endpoint
    return localRoute(
      endpoint,
      place,
      endpoint.permission,
      json === undefined ? handler : Object.assign(handler, { json }),
    )
  })
  const describe = serveDocument(operationsOf(endpoints, place))
  const besideSignIn = { ...place, prefix: place.authPrefix }
  return [
    ...routes,
    localRoute(
      CALLER_OPERATION,
      besideSignIn,
      CALLER_OPERATION.requirement,
      withoutQuery(serveCaller(adminSpace, seatsFrom)),
    ),
    localRoute(OPENAPI_OPERATION, place, OPENAPI_OPERATION.requirement, withoutQuery(describe)),
  ]
}

/** As for the other built-in endpoints: no parameter of a GET is ignored. */
function withoutQuery(handler: LocalHandler): LocalHandler {
  return async (request) => {
    const values = readParameters(request.query, {})
    return isRefusal(values) ? refusalOf(values) : handler(request)
  }
}

function localRoute(
  {
    method,
    path,
    maxBody = MAX_BODY,
    reads = false,
  }: Pick<Operation, 'method' | 'path'> & { readonly maxBody?: number; readonly reads?: boolean },
  { prefix }: BuiltInPlace,
  requirement: Requirement,
  handler: LocalHandler,
): Route {
  // Decision records show the target.
  const target: RouteTarget = reads ? { kind: 'local', handler, reads } : { kind: 'local', handler }
  return ownRoute(method, prefix + path, requirement, target, maxBody)
}

/**
 * The operations of the OpenAPI document: these endpoints, sign-in, the keys of signed identity, and the
 * document itself.
 */
export function operationsOf(
  endpoints: readonly AdminEndpoint[],
  { prefix, authPrefix }: BuiltInPlace,
): Operation[] {
  return [
    ...endpoints.map((endpoint) => ({ ...endpoint, prefix, requirement: endpoint.permission })),
    ...[...SIGN_IN_ENDPOINTS, KEY_SET_ENDPOINT].map((endpoint) => ({
      ...endpoint,
      prefix: authPrefix,
      requirement: 'public',
      // Where no tenant has a provider, or identity is not signed.
      codes: [...endpoint.codes, 'route_not_found' as const],
    })),
    { ...CALLER_OPERATION, prefix: authPrefix },
    { ...OPENAPI_OPERATION, prefix },
  ]
}

async function serve(
  endpoint: AdminEndpoint,
  request: LocalRequest,
  adminSpace: (tenant: string) => string | undefined,
): Promise<LocalResponse | Refusal> {
  const { principal, space } = request
  if (space === null) throw new Error('an endpoint with a permission was reached without a space')
  const faulty = (await endpoint.checkBody?.(request.body)) ?? null
  if (faulty !== null) return refusalOf(faulty)
  // A read grants nothing, so it needs no more than the space.
  const isRead = endpoint.method === 'GET' || endpoint.reads === true
  const held = isRead ? NOTHING_HELD : await request.held(endpoint.lastsUntil?.(request.body) ?? 0)
  if (held instanceof Refusal) return held
  const reply = await endpoint.handle({
    params: decoded(request.params),
    query: request.query,
    body: request.body,
    ifMatch: request.ifMatch,
    accept: request.accept,
    caller: {
      tenant: principal.tenant,
      by: principal.user,
      actor: { kind: principal.method === 'api-key' ? 'api-key' : 'user', name: principal.email },
      requestId: request.requestId,
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

/** The path was read: its escapes are valid UTF-8. */
function decoded(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
}

function refusalOf(refused: AdminRefusal): Refusal {
  const { faults, members } = refused
  return new Refusal(refused.refused, refused.detail, { faults, members })
}

const callerAnswer = object({
  tenant: text('The tenant of the credential.', { examples: ['acme'] }),
  user: text('The `sub` of the user, or the id of the API key.', { examples: ['alice'] }),
  email: orNull(text('For information. Null if it is not known.')),
  auth: oneOf(AUTH_METHODS, 'The kind of the credential.'),
  admin_space: text("The tenant's admin space.", { examples: ['admin'] }),
  seats_from: oneOf(
    ['claim', 'scim'],
    'What gives the users of the tenant their Seats: the provider at sign-in, or SCIM groups.',
  ),
})

/** Not below `/v1`: services have paths such as `/v1/me` there. */
const CALLER_OPERATION: Operation = {
  method: 'GET',
  path: '/auth/oidc/me',
  requirement: 'authenticated',
  operation: 'readCaller',
  query: {},
  summary: 'Shows whom the credential authenticates.',
  details:
    'Needs no Space header. A page learns here who is signed in, because it cannot read the session cookie.',
  answers: { 200: callerAnswer },
  codes: [],
}

function serveCaller(
  adminSpace: BuiltInHandlers['adminSpace'],
  seatsFrom: BuiltInHandlers['seatsFrom'],
): LocalHandler {
  return async ({ principal: { tenant, user, email, method } }) => {
    const space = adminSpace(tenant)
    if (space === undefined) throw new Error('the tenant of the credential is not configured')
    const body: ValueOf<typeof callerAnswer> = {
      ...{ tenant, user, email, auth: method, admin_space: space },
      seats_from: seatsFrom(tenant) === null ? 'claim' : 'scim',
    }
    return { status: 200, body }
  }
}

const OPENAPI_OPERATION: Operation = {
  method: 'GET',
  path: '/v1/openapi.json',
  requirement: 'authenticated',
  operation: 'readOpenApi',
  query: {},
  summary: 'Reads the description of the built-in endpoints, including this one.',
  details: 'An OpenAPI 3.1 document. Needs no Space header.',
  answers: { 200: freeObject('An OpenAPI 3.1 document.') },
  codes: [],
}

/** Built at the first request. It is the same for each caller. */
function serveDocument(operations: readonly Operation[]): LocalHandler {
  let json: Buffer | null = null
  return async () => {
    json ??= Buffer.from(JSON.stringify(openApiDocument(operations)))
    return { status: 200, body: json }
  }
}
