/**
 * The nouns of the data plane, in the order a request meets them:
 * Ask → Route → Principal → Grants → Decision, and the Exchange that carries them. Read this file first.
 */

import type { ErrorCode, Refusal } from './errors.ts'
import type { ClientRequest } from './http1/client-request.ts'
import type { ClientResponse } from './http1/client-response.ts'
import { FieldLines } from './http1/field-lines.ts'
import type { MayComeAgain } from './http1/made-of.ts'

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
  readonly target: Target
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
export type Target =
  | { readonly kind: 'upstream'; readonly name: string }
  | { readonly kind: 'local'; readonly handler: LocalHandler }
  /** Null: the configuration has no use for the endpoint, and it is answered as if it were not there. */
  | { readonly kind: 'open'; readonly handler: OpenHandler | null }

/** A built-in endpoint. It runs after the decision, like an upstream, and answers with a value. */
export type LocalHandler = (request: LocalRequest) => Promise<LocalReply | Refusal>

/** A built-in endpoint that nobody needs a credential for: it reads the request itself. Sign-in. */
export type OpenHandler = (request: OpenRequest) => Promise<OpenReply | Refusal>

export interface OpenRequest {
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

export interface OpenReply extends LocalReply {
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

export interface LocalReply {
  readonly status: number
  /** Sent as JSON; undefined: no body. */
  readonly body?: unknown
}

export interface HeldPermissions {
  /** Holds `*`. */
  readonly all: boolean
  readonly permissions: ReadonlySet<string>
}

/** Header lines that name a caller or a space, as they came: one array element a line. */
export interface Credentials extends MayComeAgain {
  readonly apiKey: readonly string[]
  readonly authorization: readonly string[]
  readonly cookie: readonly string[]
  readonly space: readonly string[]
}

/** A question to the decision: all it may depend on, so that `explain` and replay can ask it without a socket. */
export interface Ask {
  readonly method: string
  /** The raw request target (RFC 9112, section 3.2). */
  readonly target: string
  /** The value of Host; null when unknown (`explain`). */
  readonly host: string | null
  readonly credentials: Credentials
  /** What the worth of a cookie depends on. */
  readonly browser: BrowserSigns
}

/** What a request tells of the page that made it. A cookie counts only where that allows it. */
export interface BrowserSigns {
  readonly method: string
  /** Name, value, name, value, … as received. */
  readonly rawHeaders: readonly string[]
  /** It asks for another protocol: a WebSocket. */
  readonly upgrade: boolean
}

export type AuthMethod = 'api-key' | 'bearer' | 'session'

/** Who calls. */
export interface Principal {
  readonly method: AuthMethod
  readonly tenant: string
  /** The token's `sub`, or the API key's id. */
  readonly user: string
  readonly email: string | null
  readonly claims: SeatClaims
  /** The sign-in session that it rests on; null for keys and tokens. */
  readonly session: string | null
  /** ms since the epoch: from then on the credential has to be looked at again, if only to say no; null: never. */
  readonly validUntil: number | null
}

/** What others are told of a principal. */
export type Person = Pick<Principal, 'method' | 'tenant' | 'user' | 'email'>

/** For who keeps it: the principal would keep all that its credential names. */
export function personOf(principal: Person | null): Person | null {
  if (principal === null) return null
  const { method, tenant, user, email } = principal
  return { method, tenant, user, email }
}

/** Whether they are one and the same to those who are told of them; what their credentials name is another matter. */
export function samePerson(one: Person | null, other: Person | null): boolean {
  if (one === null || other === null || one === other) return one === other
  return (
    one.method === other.method &&
    one.tenant === other.tenant &&
    one.user === other.user &&
    one.email === other.email
  )
}

/** Which Seats a credential names: a token by name and space, an API key by id. */
export type SeatClaims =
  | {
      readonly by: 'name'
      /** space → Seat names, from `hash_perm`. */
      readonly entries: ReadonlyMap<string, readonly string[]>
      /**
       * The token's `iat` less the leeway of its issuer's clock, in whole seconds: it was not issued before this by the
       * clock that marks a name as given up. -Infinity when it has none.
       */
      readonly issuedAt: number
    }
  | { readonly by: 'id'; readonly seats: readonly string[] }
  /** Seat names that hold in whatever spaces the Seats have: a provider's own token. `issuedAt` as above. */
  | { readonly by: 'any-space'; readonly names: readonly string[]; readonly issuedAt: number }

/** What a decision asks of a Seat: does it list the space, and hold the permission? */
export class SeatQuestion {
  readonly space: string
  readonly permission: string

  constructor(space: string, permission: string) {
    this.space = space
    this.permission = permission
  }

  /** Tells questions apart: neither part has a NUL. Made when asked for, as a hit in memory needs none. */
  get id(): string {
    return `${this.space}\0${this.permission}`
  }
}

/**
 * A Seat, compiled for decisions. Immutable; a change makes a new one. One that is not `complete` has at most the space
 * and the permission, or `*`, of the question that it was read for: a large Seat is never held whole.
 */
export interface Seat {
  readonly id: string
  readonly name: string
  readonly complete: boolean
  readonly spaces: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
}

/** What a name means now. `givenUpAt`: whole seconds since the epoch of the latest giving up; null if never. */
export interface NamedSeat {
  readonly seat: Seat | null
  readonly givenUpAt: number | null
}

/** An API key as the store holds it. `hash`: SHA-256 of the key's text. Times in ms since the epoch. */
export interface ApiKeyRecord {
  readonly id: string
  readonly tenant: string
  readonly hash: Uint8Array
  readonly seats: readonly string[]
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** A sign-in session as the store holds it. Times in ms since the epoch. */
export interface SessionRecord {
  readonly id: string
  readonly tenant: string
  /** SHA-256 of the cookie's secret; null for one that no cookie opens. */
  readonly cookieHash: Uint8Array | null
  /** The provider's `sub`. */
  readonly user: string
  readonly email: string | null
  /** `{space}:{seat}` entries, as last mapped. */
  readonly hashPerm: readonly string[]
  /** Whole seconds, taken before the Seats were looked up: what `iat` is to a token. */
  readonly issuedAt: number
  /** From then on the Seats are to be mapped afresh before the session counts. */
  readonly renewAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
}

/** A Seat that the credential names for this space, with its state as it is now. */
export interface Holding {
  /** The name the credential or the store gives it; an id where the Seat is gone. */
  readonly name: string
  readonly seat: Seat | null
  /** The name was given up at or after the token's issue: this token gains nothing through it. */
  readonly givenUp: boolean
}

/** Input of the decision: everything the caller's credential names for the space, as it is now. */
export interface Grants {
  readonly by: SeatClaims['by']
  readonly holdings: readonly Holding[]
}

export type SeatVerdict = 'grants' | 'lacks_permission' | 'not_in_space' | 'unknown' | 'name_given_up'

export interface ConsideredSeat {
  readonly name: string
  readonly id: string | null
  readonly verdict: SeatVerdict
}

/** Whether a list of them begins with these. */
export function beginsWith(seats: readonly ConsideredSeat[], first: readonly ConsideredSeat[]): boolean {
  if (seats === first) return true
  return first.every(({ name, verdict }, i) => name === seats[i]?.name && verdict === seats[i]?.verdict)
}

/** Where what a decision rests on came from: the slowest of them. */
export type Source = 'memory' | 'redis' | 'store'

/** Noted on the way, by whoever had to ask further than memory. */
export interface Trace {
  source: Source
}

/** Microseconds, of each stage and in all; 0 for a stage not reached, or where only the whole was timed. */
export interface Timings {
  match: number
  authenticate: number
  resolve: number
  decide: number
  total: number
}

/** The decision record: one shape for the request path, the log, `explain`, and later replay and shadowing. */
export interface Decision {
  readonly answer: 'allow' | 'deny'
  /** `allow`, or the one reason against. */
  readonly code: 'allow' | ErrorCode
  /** The reason in words, for people. */
  readonly reason: string
  readonly method: string
  /** Normalised; as it came where it could not be read. Never with a query. */
  readonly path: string
  readonly route: Route | null
  readonly permission: Requirement | null
  readonly principal: Principal | null
  readonly space: string | null
  readonly seats: readonly ConsideredSeat[]
  /** Null where no Seat and no key was looked at. */
  readonly source: Source | null
  readonly timings: Readonly<Timings>
}

/** What the variable segments of a route stand for in one path. */
export class PathParams {
  static readonly none: PathParams = new PathParams([], [])
  readonly #names: readonly string[]
  readonly #values: readonly string[]

  constructor(names: readonly string[], values: readonly string[]) {
    this.#names = names
    this.#values = values
  }

  /** By name. Made when asked for: most requests are forwarded, and nobody asks. */
  toObject(): Record<string, string> {
    return Object.fromEntries(this.#names.map((name, i) => [name, this.#values[i] ?? '']))
  }
}

/** The decision, and what the later stages need of the earlier ones. */
export interface Judgement {
  readonly decision: Decision
  /** Null when allowed. */
  readonly refusal: Refusal | null
  readonly params: PathParams
  /** With the `?`; '' when there is none. Passed on as it came. */
  readonly query: string
  /** Null for what goes to an upstream. */
  readonly grants: Grants | null
}

/**
 * Who ended a WebSocket: one of its ends; the gateway because of a limit, of a frame that is none, of its own end, or
 * because the answer has become no.
 */
export type WebSocketEnd =
  'client' | 'upstream' | 'idle' | 'lifetime' | 'protocol_error' | 'drain' | 'decided_again'

/** A WebSocket that was opened: bytes pass both ways, and no HTTP answer is due any more. */
export interface OpenWebSocket {
  /** null while it is open. */
  readonly endedBy: WebSocketEnd | null
  /** The status of the first Close frame (RFC 6455, section 7.4); null when none was said, or one without status. */
  readonly closeCode: number | null
  /** Says Close to both ends between two frames, and cuts them soon after. Once: what is said first counts. */
  close(by: WebSocketEnd, code: number, reason: string): void
}

/** One request on its way through the pipeline. Every field exists from birth, in this order: one hidden class. */
export class Exchange {
  readonly request: ClientRequest
  readonly response: ClientResponse
  readonly id: string
  /** Monotonic, ms. */
  readonly startedAt: number
  /** The client waits for `100 Continue` before it sends its body (RFC 9110, section 10.1.1), and was not given it yet. */
  awaited: boolean
  /** A proper WebSocket handshake: the connection leaves HTTP, and carries nothing after this request. */
  readonly handshake: boolean
  judgement: Judgement | null = null
  /** Why the gateway answered by itself; null while an upstream or a handler answers. */
  refusal: Refusal | null = null
  /** The inner cause, for the log only. */
  cause: unknown = null
  /** Body bytes read from the client and sent to it. */
  bytesIn = 0
  bytesOut = 0
  /** Monotonic, ms: when the upstream was asked, and when its answer began. */
  forwardedAt = 0
  answeredAt = 0
  /** The client went away before the answer was whole. */
  aborted = false
  /** Monotonic, ms: when its answer, or its client, was gone. */
  endedAt = 0
  /** Its place among those under way; -1 when it has none. */
  slot = -1
  /** null until a handshake was answered 101. */
  webSocket: OpenWebSocket | null = null
  #idLine: FieldLines | null = null

  /** The id, as the upstream is told it, and the client with the upstream's answer. */
  get idLine(): FieldLines {
    this.#idLine ??= new FieldLines(['x-request-id', this.id])
    return this.#idLine
  }

  /** Refused, or its client is gone: the stages that are left have nothing to do. */
  get settled(): boolean {
    return this.refusal !== null || this.response.destroyed
  }

  constructor(
    request: ClientRequest,
    response: ClientResponse,
    id: string,
    startedAt: number,
    awaited = false,
    handshake = false,
  ) {
    this.request = request
    this.response = response
    this.id = id
    this.startedAt = startedAt
    this.awaited = awaited
    this.handshake = handshake
  }
}
