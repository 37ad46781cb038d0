/**
 * Authentication in the simulated world: the product's sessions of browsers and their renewal, and the look-ups of tokens and
 * API keys as in `src/decision/authn`, without signatures, with the product's rules for claims. The identity provider is slow, down, or ends the session.
 */

import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { Committed } from '../../../seats-admin/model/change.ts'
import { readClaims } from '../../../src/decision/authn/token-claims.ts'
import type { RequestAuthenticator } from '../../../src/decision/engine.ts'
import type { SeatMemory } from '../../../src/decision/seats/memory.ts'
import type { Trace } from '../../../src/model/decision.ts'
import { Refusal } from '../../../src/model/errors.ts'
import type { Principal, SeatClaims } from '../../../src/model/principal.ts'
import type { Context as SignIn } from '../../../src/oidc/context.ts'
import { ProviderError } from '../../../src/oidc/provider/provider-errors.ts'
import type { Provider } from '../../../src/oidc/provider/provider.ts'
import { verifiedToken } from '../../../src/oidc/tokens/provider-token.ts'
import { Renewals, type RenewalPorts } from '../../../src/oidc/session/renew.ts'
import {
  sessionEnded,
  Sessions,
  type SessionOptions,
} from '../../../src/oidc/session/session-authentication.ts'
import { issuerUser } from '../../../src/model/issuer-user.ts'
import { delay, NO_FAULTS } from './context.ts'
import type { Parts } from './parts.ts'
import type { Process } from './process.ts'
import type { TokenText } from './questions.ts'
import { BLOCK, ISSUER, MEMBER, SPACE, TENANT } from './records.ts'
import type { StoreClient } from './store-client.ts'

type Caller = Principal | Refusal

const tenant = { id: TENANT, oidc: { redirectUri: 'https://gw.example/callback' }, token: { leeway: 0 } }
/** The members that sessions and renewals use. */
const TENANTS = new Map([[TENANT, tenant]]) as unknown as SessionOptions['tenants']
const PROVIDERS = new Map([[TENANT, { tenant } as unknown as Provider]])
const LOG = { info: () => {}, warn: () => {}, error: () => {} }

const unknownKey = new Refusal('api_key_invalid', 'The API key is unknown.')

export interface AuthenticationOptions {
  readonly process: Process
  readonly parts: Parts
  readonly memory: SeatMemory
  readonly store: StoreClient
  /** A number that no other renewal gets. */
  readonly nextTag: () => number
  /** Resolves when no instance decides by the session as it was. */
  readonly announce: (committed: Committed) => Promise<void>
}

/** One for each configuration, as in the product. */
export class Authentication implements RequestAuthenticator {
  readonly #memory: SeatMemory
  readonly #parts: Parts
  readonly #sessions: Sessions
  /** Principals by token and by key. Tokens never expire here. */
  readonly #tokens = new Map<string, Principal>()
  readonly #keys = new WeakMap<StoredApiKey, Map<string, Principal>>()

  constructor(options: AuthenticationOptions) {
    const { memory, process, parts } = options
    this.#memory = memory
    this.#parts = parts
    const { clock } = process
    const context = contextOf(options)
    // Made at the first renewal: it reserves the memory of a large cache.
    let renewals: Renewals | null = null
    this.#sessions = new Sessions({
      tenants: TENANTS,
      sessionById: (...asked) => memory.sessionById(...asked),
      readSession: (...asked) => memory.readSession(...asked),
      renew: (of, id) => (renewals ??= renewalsOf(options)).renew(context, of, id),
      now: clock.wall,
    })
  }

  authenticate(
    ...[{ apiKey, authorization, cookie }, trace, browser, cors]: Asked
  ): Caller | Promise<Caller> {
    const [key] = apiKey
    const [token] = authorization
    if (key !== undefined) return this.#holder(key, trace)
    if (token !== undefined) return this.#bearer(token, trace)
    return this.#sessions.authenticate(cookie, browser, cors, trace) ?? sessionEnded(null)
  }

  /** The request has the ids of the key and of its Seats. */
  #holder(text: string, trace: Trace): Caller | Promise<Caller> {
    const [id = '', ...seats] = text.split(' ')
    return whenKnown(this.#memory.apiKeyById(TENANT, id, trace), (record) => {
      if (record === null) return unknownKey
      const holders = this.#keys.get(record) ?? new Map<string, Principal>()
      const holder = holders.get(text) ?? keyPrincipal(record, `${record.expiresAt}`, { by: 'id', seats })
      this.#keys.set(record, holders.set(text, holder))
      return holder
    })
  }

  #bearer(text: string, trace: Trace): Caller | Promise<Caller> {
    const principal = this.#tokens.get(text) ?? this.#parts.readToken(JSON.parse(text))
    if (principal instanceof Refusal) return principal
    this.#tokens.set(text, principal)
    const { session } = principal
    if (session === null) return principal
    return whenKnown(this.#memory.sessionById(TENANT, session, trace), (record) =>
      record === null || record.endedAt !== null ? sessionEnded(record) : principal,
    )
  }
}

type Asked = Parameters<RequestAuthenticator['authenticate']>

function whenKnown<V>(found: V | Promise<V>, then: (found: V) => Caller): Caller | Promise<Caller> {
  return found instanceof Promise ? found.then(then) : then(found)
}

function keyPrincipal({ id, owner }: StoredApiKey, email: string, claims: SeatClaims): Principal {
  const subject = { tenant: TENANT, user: id, email, owner, issuedAt: Infinity }
  return { method: 'api-key', ...subject, claims, session: null, validUntil: null }
}

/** Seconds: after each schedule. */
const EXP = 1e6

/** The caller of a token, whose signature and times are not checked. */
export function readToken({ by, iat, sid, names, isMember }: TokenText): Principal | Refusal {
  if (isMember) return memberPrincipal()
  const claims = { exp: EXP, iat, sub: BLOCK.id, sid }
  if (by === 'gateway') {
    const read = readClaims({ ...claims, hash_perm: names.map((name) => `${SPACE}:${name}`) }, TENANT, 0)
    return read instanceof Refusal ? read : read.principal
  }
  const method = by === 'issuer' ? 'issuer' : 'bearer'
  const user = by === 'issuer' ? issuerUser(ISSUER, BLOCK.id) : BLOCK.id
  const caller = { tenant: TENANT, user, email: null, names }
  return verifiedToken(claims, caller, { method, now: 0, cacheFor: Infinity }).principal
}

/** The caller of a token of the member. */
function memberPrincipal(): Principal | Refusal {
  const source = { seatsFrom: 'scim', scim: { user: { mode: 'externalId', claim: null } } } as const
  const read = readClaims({ exp: EXP, iat: EXP - 1, sub: MEMBER }, TENANT, 0, source)
  return read instanceof Refusal ? read : read.principal
}

function contextOf({ store, parts, process, announce }: AuthenticationOptions): SignIn {
  const sessions = parts.sessions(store)
  const ports = { providers: PROVIDERS, log: LOG, now: process.clock.wall, announce, sessions }
  return ports as unknown as SignIn
}

function renewalsOf(options: AuthenticationOptions): Renewals {
  const { now, after } = options.process.clock
  return new Renewals({
    query: (...asked) => queryProvider(options, ...asked),
    now,
    wait: (ms) => new Promise((resolve) => void after(ms, () => resolve(null))),
  })
}

async function queryProvider(
  { process, store, nextTag, announce }: AuthenticationOptions,
  ...[context, , session]: Parameters<RenewalPorts['query']>
): ReturnType<RenewalPorts['query']> {
  const { timeline, random, conditions } = process.context
  const hasFaults = conditions !== NO_FAULTS
  const takes = hasFaults && random.chance(0.2) ? random.between(100, 3000) : delay(process.context)
  await new Promise<void>((resolve) => void timeline.after(takes, process, resolve))
  if (hasFaults && random.chance(0.1)) return { cause: new ProviderError('down'), sealed: null }
  if (hasFaults && random.chance(0.05)) {
    await store.endSession(announce)
    return sessionEnded(null)
  }
  const renewAt = context.now() + random.between(200, 2500)
  const { hashPerm } = session
  const same = { name: null, hashPerm, issuedAt: 0, sealed: '', voidUntil: 0 }
  return { renewal: { ...same, email: `${nextTag()}`, renewAt } }
}
