/** A route of the compiled table, and the handlers that serve built-in routes. */

import type { Refusal } from './errors.ts'
import type { Principal } from './principal.ts'

/** What a route asks of a caller: nothing, any valid credential, or a permission in the space of the request. */
export type Requirement = 'public' | 'authenticated' | (string & {})

/** Where a configured thing was written. Lines and columns count from 1. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** One entry of the compiled table. */
export interface Route {
  /** `GET /v1/trainings/{id}`: names the route in logs and metrics; as many of them as there are entries. */
  readonly id: string
  /** An HTTP method, or `ANY`. */
  readonly method: string
  /** The pattern as written. */
  readonly path: string
  readonly requirement: Requirement
  readonly target: RouteTarget
  /** Bytes a request body may have; Infinity for no limit. */
  readonly maxBody: number
  /** Milliseconds the upstream may be silent before its answer begins; null: what the upstream says. */
  readonly responseTimeout: number | null
  /** The tenant whose identity provider a browser without credentials is sent to; null: nobody is. */
  readonly signIn: string | null
  /** null for a built-in route. */
  readonly place: Place | null
}

/** Who serves a route: a backend behind the gateway, or a handler in the process. */
export type RouteTarget =
  | { readonly kind: 'upstream'; readonly name: string }
  | { readonly kind: 'local'; readonly handler: LocalHandler }
  /** Null: the configuration has no use for the endpoint, and it is answered as if it were not there. */
  | { readonly kind: 'open'; readonly handler: PublicHandler | null }

/** A built-in endpoint. It runs after the decision, like an upstream, and answers with a value. */
export type LocalHandler = (request: LocalRequest) => Promise<LocalResponse | Refusal>

/** A built-in endpoint that nobody needs a credential for: it reads the request itself. Sign-in. */
export type PublicHandler = (request: PublicRequest) => Promise<PublicResponse | Refusal>

export interface PublicRequest {
  readonly method: string
  /** As matched. */
  readonly path: string
  /** Without the `?`. */
  readonly query: string
  /** Name, value, name, value, … as received. */
  readonly rawHeaders: readonly string[]
  /** Null: none. */
  readonly body: Uint8Array | null
}

export interface PublicResponse extends LocalResponse {
  /** Name, value, …; beside Content-Type, Content-Length and Cache-Control, which are written for all. */
  readonly headers: readonly string[]
}

export interface LocalRequest {
  readonly params: Readonly<Record<string, string>>
  /** Without the `?`; '' when there is none. */
  readonly query: string
  /** The JSON body; undefined when the request has none. */
  readonly body: unknown
  readonly principal: Principal
  readonly space: string
  /** Permissions that the caller holds in `space`. Rejects when the store can't be asked. */
  held(): Promise<HeldPermissions>
}

export interface LocalResponse {
  readonly status: number
  /** Sent as JSON; undefined: no body. */
  readonly body?: unknown
}

export interface HeldPermissions {
  /** Holds `*`. */
  readonly all: boolean
  readonly permissions: ReadonlySet<string>
}
