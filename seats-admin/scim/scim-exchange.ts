/** What the endpoints of users and of groups have in common: what they need, and how they answer. */

import type { AdminDeps } from '../api/admin-endpoint.ts'
import { answerRevocation } from '../api/revocation-answer.ts'
import type { Json, JsonObject } from '../model/canonical-json.ts'
import { committedOf } from '../model/change.ts'
import { type IfMatch, matches, scimTag } from '../model/entity-tag.ts'
import {
  isScimRefusal,
  type ScimGroup,
  type ScimMode,
  type ScimRefusal,
  type ScimUser,
} from '../model/scim.ts'
import type { RevocationStore } from '../store/revocation-store.ts'
import type { ScimStore, ScimWritten } from '../store/scim-store.ts'
import type { Writer } from '../store/writer.ts'
import { ScimFault } from './scim-fault.ts'

export interface ScimDeps extends Pick<AdminDeps, 'announce' | 'revoking' | 'now'> {
  readonly store: ScimStore & Pick<RevocationStore, 'answerRevocation'>
  /** Called after a write that may have been made. */
  readonly written: (tenant: ScimTenant) => void
}

export interface ScimTenant {
  readonly id: string
  readonly mode: ScimMode
  readonly adminSpace: string
  /** The address of the tenant's server, without a final slash. */
  readonly base: string
}

export interface ScimResponse {
  readonly status: number
  readonly body?: JsonObject
  /** Further header fields: name, value, … */
  readonly headers?: readonly string[]
  /** The kind of a fault, for the log. */
  readonly scimType?: string
}

/** A request to users or groups, with what they need. */
export interface ResourceRequest {
  readonly deps: ScimDeps
  readonly tenant: ScimTenant
  readonly query: string
  readonly body: unknown
  readonly writer: Writer
  /** What the client has already; null: nothing. */
  readonly ifNoneMatch: IfMatch | null
}

export type Answer = Promise<ScimResponse | ScimFault>

/** The requests that a resource type answers. */
export interface ResourceEndpoints {
  list(request: ResourceRequest): Answer
  create(request: ResourceRequest): Answer
  read(request: ResourceRequest, id: string): Answer
  replace(request: ResourceRequest, id: string): Answer
  patch(request: ResourceRequest, id: string): Answer
  delete(request: ResourceRequest, id: string): Answer
}

export const notFound = new ScimFault(404, null, 'There is no such resource.')

const REFUSALS: Readonly<Record<ScimRefusal['refused'], (detail: string) => ScimFault>> = {
  not_found: () => notFound,
  uniqueness: (detail) => new ScimFault(409, 'uniqueness', detail),
  invalid_value: (detail) => new ScimFault(400, 'invalidValue', detail),
  precondition_failed: (detail) => new ScimFault(412, null, detail),
  unavailable: (detail) => new ScimFault(503, null, detail),
  changed: (detail) => new ScimFault(503, null, detail),
}

/** Seconds: the lease of an instance and its margin, rounded up. Until then, a silent one may still have it. */
const NOT_CLOSED_FOR = 2

const notClosed = new ScimFault(
  503,
  null,
  'The change is made, but an instance of the gateway did not say that it ended what was open. Repeat the request.',
  NOT_CLOSED_FOR,
)

/** The result of a write, when it is in force everywhere. */
export async function closeWrite<V>(
  deps: ScimDeps,
  write: Promise<ScimWritten<V> | ScimRefusal | ScimFault>,
): Promise<{ readonly value: V } | ScimFault> {
  const written = await write
  if (written instanceof ScimFault) return written
  if (isScimRefusal(written)) {
    if (written.upTo !== undefined) await deps.announce(written.upTo)
    return REFUSALS[written.refused](written.detail)
  }
  const committed = committedOf(written)
  if (written.revocations.length === 0) await deps.announce(committed)
  // Each gets its answer: one without would be made again by the repetition.
  const answers = await Promise.all(
    written.revocations.map((value) => answerRevocation(deps, { ...committed, value })),
  )
  return answers.every(({ state }) => state === 'closed') ? { value: written.value } : notClosed
}

type Resource = ScimUser | ScimGroup

/** The resource, or the answer that it is missing, or is what the client has. */
export function existing<V extends Resource>(
  resource: V | null,
  ifNoneMatch: IfMatch | null,
): V | ScimResponse | ScimFault {
  if (resource === null) return notFound
  const tag = scimTag(resource)
  return ifNoneMatch !== null && matches(ifNoneMatch, tag)
    ? { status: 304, headers: ['etag', `W/${tag}`] }
    : resource
}

export function metaOf(resource: Resource, type: 'User' | 'Group', base: string) {
  return {
    resourceType: type,
    created: new Date(resource.createdAt).toISOString(),
    lastModified: new Date(resource.modifiedAt).toISOString(),
    location: `${base}/${type}s/${resource.id}`,
    version: `W/${scimTag(resource)}`,
  }
}

/** @param body null: the answer has none */
export function resourceResponse(
  status: number,
  { location, version }: ReturnType<typeof metaOf>,
  body: JsonObject | null,
): ScimResponse {
  const headers = ['etag', version, 'location', location]
  return body === null ? { status, headers } : { status, headers, body }
}

const LIST_URN = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

export function listForm(data: readonly Json[], total: number, startIndex: number) {
  return {
    schemas: [LIST_URN],
    totalResults: total,
    startIndex,
    itemsPerPage: data.length,
    Resources: data,
  }
}
