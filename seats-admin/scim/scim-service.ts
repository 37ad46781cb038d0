/**
 * The service provider of SCIM (RFC 7644): reads a request of a tenant's provider, and answers it. A write is
 * answered when no instance decides by the old state, and each has cut what a deactivation ends.
 */

import { readIfMatch } from '../api/admin-endpoint.ts'
import type { IfMatch } from '../model/entity-tag.ts'
import { isRefusal } from '../model/refusal.ts'
import type { Writer } from '../store/writer.ts'
import { resourceTypes, schemas, serviceProviderConfig } from './scim-discovery.ts'
import {
  type Answer,
  listForm,
  notFound,
  type ResourceEndpoints,
  type ResourceRequest,
  type ScimDeps,
  type ScimResponse,
  type ScimTenant,
} from './scim-exchange.ts'
import { errorForm, ScimFault } from './scim-fault.ts'
import { groupEndpoints } from './scim-group-endpoints.ts'
import { refuseQuery, unsupported } from './scim-query.ts'
import { userEndpoints } from './scim-user-endpoints.ts'

export interface ScimRequest {
  readonly method: string
  /** The segments of the path after the address of the server, decoded. */
  readonly path: readonly string[]
  /** Without the `?`. */
  readonly query: string
  /** The values of the field lines `If-Match`, and of `If-None-Match`. */
  readonly ifMatch: readonly string[]
  readonly ifNoneMatch: readonly string[]
  /** The parsed JSON; undefined without a body. */
  readonly body: unknown
  readonly requestId: string
}

const ENDPOINTS: ReadonlyMap<string, ResourceEndpoints> = new Map([
  ['Users', userEndpoints],
  ['Groups', groupEndpoints],
])

/** Rejects as the store does, or as `announce` does: the write may have been committed then. */
export async function serveScim(
  deps: ScimDeps,
  tenant: ScimTenant,
  request: ScimRequest,
): Promise<ScimResponse> {
  try {
    const answer = await respond(deps, tenant, request)
    return answer instanceof ScimFault ? faultResponse(answer) : answer
  } finally {
    if (request.method !== 'GET') deps.written(tenant)
  }
}

function respond(
  deps: ScimDeps,
  tenant: ScimTenant,
  request: ScimRequest,
): ScimResponse | ScimFault | Answer {
  const [type = '', id, ...more] = request.path
  const endpoints = ENDPOINTS.get(type)
  if (more.length > 0) return unsupported
  if (endpoints === undefined) return discover(tenant, request, type, id ?? null)
  const ifMatch = tagsIn(request.ifMatch)
  const ifNoneMatch = tagsIn(request.ifNoneMatch)
  if (ifMatch instanceof ScimFault) return ifMatch
  if (ifNoneMatch instanceof ScimFault) return ifNoneMatch
  const { query, body, requestId } = request
  const writer: Writer = {
    tenant: tenant.id,
    by: 'scim',
    actor: { kind: 'provider', name: null },
    requestId,
    scope: { space: tenant.adminSpace, admin: true, all: true, permissions: [] },
    now: deps.now(),
    ifMatch,
  }
  const own: ResourceRequest = { deps, tenant, query, body, writer, ifNoneMatch }
  return dispatch(endpoints, request.method, own, id)
}

/** Bulk, `/Me`, `.search` and whatever else has no endpoint are answered with 501. */
function dispatch(
  endpoints: ResourceEndpoints,
  method: string,
  request: ResourceRequest,
  id: string | undefined,
): ScimFault | Answer {
  if (id === undefined) {
    if (method === 'GET') return endpoints.list(request)
    return method === 'POST' ? endpoints.create(request) : unsupported
  }
  switch (method) {
    case 'GET':
      return endpoints.read(request, id)
    case 'PUT':
      return endpoints.replace(request, id)
    case 'PATCH':
      return endpoints.patch(request, id)
    case 'DELETE':
      return endpoints.delete(request, id)
    default:
      return unsupported
  }
}

function discover(
  { base }: ScimTenant,
  { method, query }: ScimRequest,
  type: string,
  id: string | null,
): ScimResponse | ScimFault {
  const isConfig = type === 'ServiceProviderConfig' && id === null
  const all = type === 'ResourceTypes' ? resourceTypes(base) : type === 'Schemas' ? schemas(base) : null
  if (method !== 'GET' || (!isConfig && all === null)) return unsupported
  const fault = refuseQuery(query)
  if (fault !== null) return fault
  if (all === null) return { status: 200, body: serviceProviderConfig(base) }
  if (id === null) return { status: 200, body: listForm([...all.values()], all.size, 1) }
  const one = all.get(id)
  return one === undefined ? notFound : { status: 200, body: one }
}

/** SCIM shows weak tags, and sends them in both fields (RFC 7644, section 3.14). */
function tagsIn(lines: readonly string[]): IfMatch | null | ScimFault {
  const tags = readIfMatch(lines.map((line) => line.replaceAll(/W\/(?=")/g, '')))
  return isRefusal(tags) ? new ScimFault(400, 'invalidValue', 'An entity tag is malformed.') : tags
}

function faultResponse({ status, scimType, detail, retryAfter }: ScimFault): ScimResponse {
  return {
    status,
    body: errorForm(status, scimType, detail),
    ...(status === 503 ? { headers: ['retry-after', String(retryAfter)] } : {}),
    ...(scimType === null ? {} : { scimType }),
  }
}
