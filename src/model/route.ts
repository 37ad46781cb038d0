/** A route of the compiled table, and the handlers that serve built-in routes. */

import type { EventSource } from '../../seats-admin/model/event-source.ts'
import type { JsonLimits } from '../../seats-admin/model/json-limits.ts'
import type { CorsPolicy } from './cors.ts'
import type { Refusal, RefusalPage } from './errors.ts'
import type { McpKind, McpName } from './mcp.ts'
import type { Principal } from './principal.ts'
import type { RateLimit } from './rate-limit.ts'
import { SPACE_HEADER, type SpaceSource } from './space-source.ts'

/**
 * What a route requires of a caller: nothing, any valid credential, or a permission in the request's space.
 */
export type Requirement = 'public' | 'authenticated' | (string & {})

/** Whether a Seat is needed for it. */
export function needsPermission(requirement: Requirement): boolean {
  return requirement !== 'public' && requirement !== 'authenticated'
}

/** Whether callers of the tenant are not refused for their tenant. */
export function takesTenant({ tenant }: Pick<Route, 'tenant'>, id: string): boolean {
  return tenant === null || tenant === id
}

/** Position in a configuration file. Lines and columns count from 1. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** One entry of the compiled table. */
export interface Route {
  /**
   * `GET /v1/trainings/{id}`, `GET api.example.com/v1/trainings/{id}`: the route's name in logs and metrics.
   * One id an entry bounds the labels.
   */
  readonly id: string
  /** An HTTP method, or `ANY`. */
  readonly method: string
  /**
   * The hosts, canonical, `*.` for one label; empty: those that no table names, and every host for a built-in
   * route.
   */
  readonly hosts: readonly string[]
  /** The pattern as written, after the prefix of its table. */
  readonly path: string
  readonly requirement: Requirement
  readonly space: SpaceSource
  readonly target: RouteTarget
  /** Null: the path is forwarded as it is matched. */
  readonly rewrite: PathRewrite | null
  /** Bytes of a request body; Infinity: no limit. */
  readonly maxBody: number
  /** Milliseconds until the response of the upstream begins; null: the upstream's own setting. */
  readonly responseTimeout: number | null
  /** The tenant whose identity provider a browser without credentials is redirected to; null: no redirect. */
  readonly signIn: string | null
  /** The tenant whose callers alone are accepted; null: those of every tenant are, as on built-in routes. */
  readonly tenant: string | null
  /** The policy of its table; null: none, as for built-in routes. */
  readonly cors: CorsPolicy | null
  /** The limits: a request takes a token of each; null: none, as on built-in routes. */
  readonly rateLimits: readonly RateLimit[] | null
  /** The line of an MCP table that it is; left out: it matches requests by method and path. */
  readonly mcp?: McpLine
  /** Null for a built-in route. */
  readonly place: Place | null
}

/** A tool, prompt, resource or method of an MCP server. */
export interface McpLine extends McpName {
  /** The resource of the server, which the audience of tokens of other issuers must have (RFC 8707). */
  readonly resource: string
}

/** An MCP server: its path, and the lines that decide what is called there. */
export interface McpEndpoint {
  /** With the prefix of its table. */
  readonly path: string
  /** The identifier of the server as a protected resource (RFC 9728). */
  readonly resource: string
  /** Whether lists show only what the caller may use. */
  readonly filtersLists: boolean
  /** Milliseconds until a whole message has arrived; null: as for built-in endpoints. */
  readonly bodyTimeout: number | null
  /** The lines in the order of the table. */
  readonly lines: readonly Route[]
  /** The line for a name; null: there is none. */
  find(kind: McpKind, name: string): Route | null
}

/** The difference between the matched path and the forwarded one. */
export interface PathRewrite {
  /** The text that is removed from the beginning: whole segments, without a final slash; '': none. */
  readonly strip: string
  /** The text before the rest, without a final slash; '': none. */
  readonly base: string
}

/**
 * `base` + the path without `strip`; if nothing is left, `base` + `/`. Both are fixed texts, and the path is
 * the one string that was matched: nothing is decoded, encoded or resolved.
 *
 * @param rewrite null: the path stays as it is
 * @param path normalised; it begins with `strip` as a whole segment, since the route's pattern does
 * @throws if it does not, so that nothing is forwarded
 */
export function forwardedPath(rewrite: PathRewrite | null, path: string): string {
  if (rewrite === null) return path
  const { strip, base } = rewrite
  const rest = path.length === strip.length ? '/' : path.slice(strip.length)
  if (!path.startsWith(strip) || !rest.startsWith('/'))
    throw new Error('the path has not the prefix of its route')
  return base + rest
}

/** The fields of a route without a host, a tenant, a source of its space, a prefix and a base path. */
export const UNSCOPED: Pick<Route, 'hosts' | 'tenant' | 'space' | 'rewrite' | 'rateLimits'> = Object.freeze({
  hosts: Object.freeze([]),
  tenant: null,
  space: SPACE_HEADER,
  rewrite: null,
  rateLimits: null,
})

/** A route of the gateway's own. What only entries of tables have is null. */
export function ownRoute(
  method: string,
  path: string,
  requirement: Requirement,
  target: RouteTarget,
  maxBody: number,
): Route {
  return Object.freeze({
    id: `${method} ${path}`,
    method,
    path,
    ...UNSCOPED,
    requirement,
    target: Object.freeze(target),
    maxBody,
    responseTimeout: null,
    signIn: null,
    cors: null,
    place: null,
  })
}

/** The target of a route: an upstream, or a handler in the process. */
export type RouteTarget =
  | { readonly kind: 'upstream'; readonly name: string }
  /** The path of an MCP server. The line of what is called decides in its place. */
  | { readonly kind: 'mcp'; readonly name: string; readonly endpoint: McpEndpoint }
  | {
      readonly kind: 'local'
      readonly handler: LocalHandler
      /** Whether it changes nothing, whatever its method. */
      readonly reads?: boolean
    }
  /**
   * A public handler. Null: the endpoint is not configured, and the gateway responds as if no route matched.
   */
  | { readonly kind: 'public'; readonly handler: PublicHandler | null }

/** The name of the upstream in logs and lists; `seatgate` for a built-in route. */
export function upstreamOf({ target }: Route): string {
  return target.kind === 'upstream' || target.kind === 'mcp' ? target.name : 'seatgate'
}

/**
 * A built-in endpoint. It runs after the decision, as an upstream does, and returns its response as a value.
 */
export interface LocalHandler {
  (request: LocalRequest): Promise<LocalResponse | Refusal>
  /** The limits of its body; left out: those of most endpoints. */
  readonly json?: JsonLimits
}

/**
 * A built-in endpoint outside the decision, which reads the request itself: sign-in, the keys of signed
 * identity, SCIM.
 */
export interface PublicHandler {
  (request: PublicRequest): Promise<PublicResponse | Refusal>
  /**
   * Checks the header section before the body is read: a caller without a credential sends none.
   *
   * @returns the fields of the access log about the caller, without a credential
   */
  readonly admit?: (request: PublicRequest) => Refusal | Readonly<Record<string, string>>
  /** The form of refusals that the protocol of the endpoint requires; left out: the problem document. */
  readonly pageOf?: (refusal: Refusal) => RefusalPage
}

export interface PublicRequest {
  readonly method: string
  /** The matched path. */
  readonly path: string
  /** The query without its `?`. */
  readonly query: string
  /** Name, value, name, value, … as received. */
  readonly rawHeaders: readonly string[]
  /** Null if the request has no body, or if it is not read yet. */
  readonly body: Uint8Array | null
  /** The id in the response and the access log. */
  readonly requestId: string
}

export interface PublicResponse extends LocalResponse {
  readonly headers: readonly string[]
}

export interface LocalRequest {
  readonly params: Readonly<Record<string, string>>
  /** The query without its `?`; '': there is none. */
  readonly query: string
  /** The JSON body; undefined if the request has none. */
  readonly body: unknown
  /** The values of the field lines `If-Match`. */
  readonly ifMatch: readonly string[]
  /** The values of the field lines `Accept`. */
  readonly accept: readonly string[]
  /** The id in the response and the access log. */
  readonly requestId: string
  readonly principal: Principal
  /** Null on an `authenticated` route, which needs none. */
  readonly space: string | null
  /**
   * Permissions that the caller holds in `space`, if the request is still allowed. Rejects if the store
   * can't be asked.
   *
   * @param until ms since the epoch: those that a grant ends before are left out
   */
  held(until: number): Promise<HeldPermissions | Refusal>
}

export interface LocalResponse {
  readonly status: number
  /** Sent as JSON; bytes are sent as they are; undefined: no body. */
  readonly body?: unknown
  /** Events in place of a body, with status 200 and without further header fields. */
  readonly events?: EventSource
  /** Name, value, …; beside Content-Type, Content-Length and Cache-Control, which every response has. */
  readonly headers?: readonly string[]
  /** Fields of the access log about the question or its answer, without a credential. */
  readonly logged?: Readonly<Record<string, unknown>>
  /** Cache-Control; left out: `no-store`, as the response concerns one caller. */
  readonly cacheControl?: string
  /** Content-Type of bytes that are no JSON. */
  readonly contentType?: string
}

export interface HeldPermissions {
  /** Holds `*`. */
  readonly all: boolean
  readonly permissions: ReadonlySet<string>
}
