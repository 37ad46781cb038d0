/** The interface between the gateway and the administration endpoints, and how an endpoint is declared. */

import { type ChangeReader, type Committed, committedOf } from '../model/change.ts'
import type { Answers, EndpointDescription } from '../model/endpoint-description.ts'
import type { EventSource } from '../model/event-source.ts'
import type { IfMatch } from '../model/entity-tag.ts'
import type { JsonLimits } from '../model/json-limits.ts'
import type { JsonSchema, ValueOf } from '../model/json-schema.ts'
import type { RestrictionReader } from '../model/readings.ts'
import { type AdminCode, type AdminRefusal, inputInvalid, isRefusal } from '../model/refusal.ts'
import type { ScimMode } from '../model/scim.ts'
import type { Scope } from '../model/scope.ts'
import type { SeatsFrom } from '../model/seats-from.ts'
import type { AuditStore } from '../store/audit-store.ts'
import type { RevocationStore } from '../store/revocation-store.ts'
import type { Actor, AdminStore, Writer, Written } from '../store/store.ts'
import { published } from './formats.ts'
import { type Parameters, readParameters, type Values } from './parameters.ts'
import type { Revoking } from './revoking.ts'
import type { Checker } from './validate-body.ts'

export interface AdminEndpoint extends EndpointDescription<AdminCode> {
  /** The permission that the caller must hold in the request's space. */
  readonly permission: string
  /** The limit of the body in bytes; absent: as for most endpoints. */
  readonly maxBody?: number
  /** The limits of the JSON of the body; absent: as for most endpoints. */
  readonly json?: JsonLimits
  /** Whether it changes nothing, although its method is not GET. */
  readonly reads?: boolean
  /**
   * Until when a checked body gives what the caller holds, in ms since the epoch: the caller must hold it for
   * as long. Absent: the time does not matter.
   */
  lastsUntil?(body: unknown): number
  /**
   * Checks a body, which may take long: before the rights of the caller are read, so that these are not old
   * at the write. `handle` does not check the same body again.
   */
  checkBody?(body: unknown): Promise<AdminRefusal | null>
  /** Rejects with StoreUnavailable, or as `announce` does; the write may have been committed then. */
  handle(request: AdminRequest): Promise<AdminReply | AdminRefusal>
}

interface AdminRequest {
  /** Decoded path parameters by name. */
  readonly params: Readonly<Record<string, string>>
  /** The query without the `?`; '' without one. */
  readonly query: string
  /** The parsed JSON; undefined without a body. */
  readonly body: unknown
  /** The values of the field lines `If-Match`; none when absent. */
  readonly ifMatch?: readonly string[]
  /** The values of the field lines `Accept`; none when absent. */
  readonly accept?: readonly string[]
  readonly caller: Caller
}

export interface Caller {
  readonly tenant: string
  /** The token's `sub`, or the API key's id. */
  readonly by: string
  readonly actor: Actor
  readonly requestId: string
  readonly scope: Scope
}

export interface AdminReply {
  readonly status: number
  /** The body, sent as JSON; undefined without one. */
  readonly body?: unknown
  /** The events in place of a body. */
  readonly events?: EventSource
  /** Further header fields: name, value, … */
  readonly headers?: readonly string[]
}

type ParamOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamOf<Rest>
  : never

/** One of the declared answers. */
type ReplyOf<A extends Answers> = {
  [Status in keyof A & number]: Omit<AdminReply, 'status' | 'body'> & {
    readonly status: Status
  } & (A[Status] extends JsonSchema ? BodyOf<A[Status]> : { readonly body?: never })
}[keyof A & number]

type BodyOf<S extends JsonSchema> =
  | { readonly body: ValueOf<S> }
  | { readonly body?: never; readonly events: EventSource }

/** Each variable segment of the path is described. */
type ParamsOf<Path extends string> = [ParamOf<Path>] extends [never]
  ? { readonly params?: never }
  : { readonly params: Readonly<Record<ParamOf<Path>, JsonSchema>> }

interface Declared<Path extends string, P extends Parameters, B, A extends Answers> extends Omit<
  AdminEndpoint,
  'path' | 'params' | 'query' | 'body' | 'answers' | 'lastsUntil' | 'checkBody' | 'handle'
> {
  readonly path: Path
  readonly query?: P
  readonly body?: Checker<B>
  readonly answers: A
  readonly lastsUntil?: (body: B) => number
  handle(request: {
    readonly params: Readonly<Record<ParamOf<Path>, string>>
    readonly query: Values<P>
    readonly body: B
    /** Null without the field, and where the endpoint is not `conditional`. */
    readonly ifMatch: IfMatch | null
    /** The values of the field lines `Accept`. */
    readonly accept: readonly string[]
    readonly caller: Caller
  }): Promise<ReplyOf<NoInfer<A>> | AdminRefusal>
}

/** The endpoint checks query, body and `If-Match` by what it declares, before `handle` gets their values. */
export function endpoint<
  const Path extends string,
  const A extends Answers,
  const P extends Parameters = Record<never, never>,
  B = undefined,
>(declared: Declared<Path, P, B, A> & ParamsOf<Path>): AdminEndpoint {
  // What a GET does not know might be a filter: an answer without it would be of more than was asked for.
  const { query: parameters = declared.method === 'GET' ? ({} as P) : undefined } = declared
  const { body: check, conditional = false, lastsUntil } = declared
  const checkedBodies = new WeakSet<object>()
  return {
    ...declared,
    ...(parameters === undefined ? {} : { query: parameters }),
    async checkBody(body) {
      const checked = check === undefined ? null : await check(body)
      if (isRefusal(checked)) return checked
      if (typeof checked === 'object' && checked !== null) checkedBodies.add(checked)
      return null
    },
    ...(check === undefined ? {} : { body: { schema: published(check.schema) } }),
    ...(lastsUntil === undefined ? {} : { lastsUntil: (body: unknown) => lastsUntil(body as B) }),
    async handle({ params, query, body, ifMatch: lines = [], accept = [], caller }) {
      const values = parameters === undefined ? ({} as Values<P>) : readParameters(query, parameters)
      if (isRefusal(values)) return values
      const isChecked = typeof body === 'object' && body !== null && checkedBodies.has(body)
      const checked = check === undefined ? (undefined as B) : isChecked ? (body as B) : await check(body)
      if (isRefusal(checked)) return checked
      const ifMatch = conditional ? readIfMatch(lines) : null
      if (isRefusal(ifMatch)) return ifMatch
      return declared.handle({ params, query: values, body: checked, ifMatch, accept, caller })
    },
  }
}

/** The permissions that the route tables require, from the gateway, which has the tables. */
export interface RoutePermissions {
  /** Whether some route requires the permission, or an endpoint asks for it. */
  has(permission: string): boolean
  /** Ids of the routes that require the permission; of `*` all that require one. */
  routesOf(permission: string): readonly string[]
  /** The permission that was perhaps meant; null: none is near. */
  nearest(permission: string): string | null
}

export interface AdminDeps {
  readonly store: AdminStore &
    RevocationStore &
    RestrictionReader &
    ChangeReader & { readonly audit: Pick<AuditStore, 'list'> }
  /** Resolves when no instance decides by the old state. Awaited before the response to a write. */
  readonly announce: (committed: Committed) => Promise<void>
  readonly revoking: Revoking
  /** ms since the epoch */
  readonly now: () => number
  /** Limit of a Seat's size in bytes; see `seatSize`. */
  readonly seatBytes: number
  /** How users of a tenant and its SCIM users meet; null, or absent: the tenant has no SCIM. */
  readonly scimMode?: (tenant: string) => ScimMode | null
  /** What gives the users of a tenant their Seats; null, or absent: the latest sign-in. */
  readonly seatsFrom?: (tenant: string) => SeatsFrom
  /** The permissions that the tables require that decide at the moment. */
  readonly routePermissions: () => RoutePermissions
}

export function writerOf(
  caller: Caller,
  { now, seatBytes }: AdminDeps,
  ifMatch: IfMatch | null = null,
): Writer {
  return { ...caller, now: now(), seatBytes, ifMatch }
}

/** @param tag the entity tag of what the body shows */
export function tagged<B>(tag: string, body: B) {
  return { status: 200, body, headers: ['etag', tag] } as const
}

/**
 * Announces a committed write before the response. Only the changes are announced: the value may contain a
 * key.
 */
export async function respondToWrite<W extends Written<unknown>, const R extends AdminReply>(
  write: Promise<W | AdminRefusal>,
  { announce }: AdminDeps,
  reply: (value: W['value'], written: W) => R | Promise<R>,
): Promise<R | AdminRefusal> {
  const written = await write
  if (isRefusal(written)) return written
  await announce(committedOf(written))
  return reply(written.value, written)
}

export const noContent = () => ({ status: 204 }) as const

/** An entity tag (RFC 9110, section 8.8.3), and the commas of a list with empty elements (section 5.6.1). */
const TAG = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y

const malformed = inputInvalid([
  { path: '', message: 'If-Match must be * or a list of entity tags, each in double quotes' },
])

/**
 * Parses `If-Match` (RFC 9110, section 13.1.1). A malformed field is refused: it would be unclear which state
 * the client expects.
 *
 * @param lines the values of the field lines
 * @returns null without the field
 */
export function readIfMatch(lines: readonly string[]): IfMatch | null | AdminRefusal {
  if (lines.length === 0) return null
  const text = lines.join(',')
  if (/^[ \t]*\*[ \t]*$/.test(text)) return '*'
  let count = 0
  const strong: string[] = []
  TAG.lastIndex = 0
  while (TAG.lastIndex < text.length) {
    const match = TAG.exec(text)
    if (match === null) return malformed
    const [, weak, tag] = match
    if (tag === undefined) continue
    count++
    if (weak === undefined) strong.push(tag)
  }
  return count === 0 ? malformed : strong
}
