/**
 * The decision engine with its memory, over a store of one tenant whose state and change feed the test writes. While the store is
 * slow, its answers wait; each shows the state at the moment at which it is let go.
 */

import { performance } from 'node:perf_hooks'
import type { StoredApiKey } from '../../seats-admin/model/api-key.ts'
import type { ChangeKind, NumberedChange } from '../../seats-admin/model/change.ts'
import type { GrantTerm } from '../../seats-admin/model/grant.ts'
import type { UserRestriction } from '../../seats-admin/model/revocation.ts'
import type { SessionRecord } from '../../seats-admin/model/session-record.ts'
import { DecisionEngine, type DecisionEngineOptions } from '../../src/decision/engine.ts'
import { NO_EXCEPTIONS } from '../../src/decision/router/pattern.ts'
import { compileTable } from '../../src/decision/router/table.ts'
import { SeatMemory } from '../../src/decision/seats/memory.ts'
import { ReceivedChanges } from '../../src/decision/seats/received-changes.ts'
import type { AuthorizationRequest } from '../../src/model/authorization-request.ts'
import type { Principal } from '../../src/model/principal.ts'
import { ownRoute } from '../../src/model/route.ts'

/** A change, without its place in the feed. The key of a membership is JSON; of a block and a grant, the user. */
export type Changed = readonly [kind: ChangeKind, key: string, tenant?: string]

const CLOCKS = { now: () => performance.now(), wall: Date.now, store: Date.now }

export class SlowStore {
  seq = 1
  /** Name, which is the id as well → permissions, in the space s1. */
  readonly seats = new Map<string, string[]>()
  /** Name → when it was given up, in whole seconds since the epoch. */
  readonly givenUp = new Map<string, number>()
  readonly blocked = new Set<string>()
  /** User → cutoff, in whole seconds since the epoch. */
  readonly cutoffs = new Map<string, number>()
  /** Issuer → cutoff. */
  readonly issuers: Record<string, number> = {}
  /** The cutoff of the tenant. */
  tenantCutoff: number | null = null
  /** Whether there are too many restricted users to be read as a whole. */
  hasMany = false
  /** Id of a membership → its groups; null: the user is not active. */
  readonly groups = new Map<string, readonly string[] | null>()
  /** User → grants. */
  readonly grants = new Map<string, readonly GrantTerm[]>()
  /** Whether there are too many users with grants to be read as a whole. */
  hasManyGrants = false
  readonly sessions = new Map<string, SessionRecord>()
  readonly keys = new Map<string, StoredApiKey>()
  readonly memory: SeatMemory
  /** Reads that were sent, in order. */
  readonly asked: string[] = []
  /** Readings of the feed. */
  readings = 0
  isSlow = false
  readonly #delays = new Map<string, Promise<void>>()
  readonly #waiting: { readonly what: string; readonly go: () => void }[] = []
  readonly #feed: NumberedChange[] = []

  /** @param clocks monotonic ms, and the times of this process and of the store in ms since the epoch */
  constructor(clocks = CLOCKS) {
    const seat = (name: string) => {
      const permissions = this.seats.get(name)
      return permissions === undefined
        ? null
        : { id: name, name, spaces: ['s1'], permissions, complete: true }
    }
    const source = {
      grantByName: (_tenant: string, name: string) =>
        this.#answer(`name ${name}`, () => ({ seat: seat(name), givenUpAt: this.givenUp.get(name) ?? null })),
      grantById: (_tenant: string, id: string) => this.#answer(`seat ${id}`, () => seat(id)),
      spacesByName: (_tenant: string, name: string) => this.#answer(`spaces ${name}`, () => seat(name)),
      seatById: (_tenant: string, id: string) => this.#answer(`whole ${id}`, () => seat(id)),
      apiKeyById: (_tenant: string, id: string) => this.#answer(`key ${id}`, () => this.keys.get(id) ?? null),
    }
    const direct = {
      readSession: (_tenant: string, id: string) =>
        this.#answer(`session ${id}`, () => this.sessions.get(id) ?? null),
      groups: (_tenant: string, member: string) =>
        this.#answer(`groups of ${member}`, () => {
          const groups = this.groups.get(member)
          return { user: groups === undefined ? null : { active: groups !== null, groups: groups ?? [] } }
        }),
      grants: () =>
        this.#answer('grants', () => ({
          now: clocks.store(),
          users: this.hasManyGrants ? null : [...this.grants].map(([user, grants]) => ({ user, grants })),
        })),
      userGrants: (_tenant: string, user: string) =>
        this.#answer(`grants of ${user}`, () => ({
          now: clocks.store(),
          grants: this.grants.get(user) ?? [],
        })),
      restrictions: () =>
        this.#answer('restrictions', () => ({
          ...{ now: clocks.store(), issuers: { ...this.issuers }, tenant: this.tenantCutoff },
          users: this.hasMany ? null : [...this.#restricted()],
        })),
      userRestriction: (_tenant: string, user: string) =>
        this.#answer(`restriction of ${user}`, () => ({
          now: clocks.store(),
          restriction: this.#restricted().find((each) => each.user === user) ?? null,
        })),
    }
    const received = new ReceivedChanges(async () => {
      this.readings++
      this.readFeed()
    })
    received.readTo(1, true)
    const { now, wall } = clocks
    this.memory = new SeatMemory(source, direct, 2 ** 20, { received, now, wall })
  }

  *#restricted(): Generator<UserRestriction> {
    for (const user of this.blocked.union(new Set(this.cutoffs.keys())))
      yield {
        user,
        block: this.blocked.has(user) ? { until: null } : null,
        cutoff: this.cutoffs.get(user) ?? null,
      }
  }

  async #answer<V>(what: string, value: () => V) {
    this.asked.push(what)
    if (this.isSlow) await new Promise<void>((go) => this.#waiting.push({ what, go }))
    const answer = { seq: this.seq, value: value() }
    await this.#delays.get(what)
    return answer
  }

  /** Answers of this kind arrive once the result is called, and show the state at their reading. */
  delay(what: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#delays.set(what, promise)
    return resolve
  }

  /** As {@link write}, with keys as the feed has them. */
  writeKeys(change: () => void, ...changed: readonly Changed[]): void {
    this.memory.applyAnnouncement(this.#commit(change, changed))
  }

  /** Commits one write. Memory is not told. */
  commit(change: () => void, ...changed: readonly Changed[]): readonly NumberedChange[] {
    const users = new Set<ChangeKind>(['block', 'grant'])
    const keyed = changed.map(([kind, key, ...rest]): Changed => [
      kind,
      users.has(kind) ? JSON.stringify(key) : key,
      ...rest,
    ])
    return this.#commit(change, keyed)
  }

  #commit(change: () => void, changed: readonly Changed[]): readonly NumberedChange[] {
    change()
    const mark = this.#feed.length + 1
    return changed.map(([kind, key, tenant = 'acme']) => {
      const numbered = { tenant, kind, key, seq: ++this.seq, mark }
      this.#feed.push(numbered)
      return numbered
    })
  }

  /** Commits one write, which memory is told of: it may be answered. */
  write(change: () => void, ...changed: readonly Changed[]): void {
    this.memory.applyAnnouncement(this.commit(change, ...changed))
  }

  grant(name: string, permissions: string[]): void {
    this.write(() => this.seats.set(name, permissions), ['seat', name], ['seat-name', name])
  }

  /** @param groups null: the user is not active; undefined: SCIM has no such user */
  provision(groups: readonly string[] | null | undefined, key = '["alice","alice@acme.example"]'): void {
    const change = () => {
      if (groups === undefined) this.groups.delete('externalId:alice')
      else this.groups.set('externalId:alice', groups)
    }
    this.write(change, ['membership', key])
  }

  /** The grants of a user from now on. */
  giveGrants(user: string, ...grants: readonly GrantTerm[]): void {
    this.write(() => this.grants.set(user, grants), ['grant', user])
  }

  readFeed(): void {
    const { position } = this.memory.received
    this.memory.applyReading(
      this.#feed.filter(({ seq }) => seq > position),
      { seq: this.seq },
    )
  }

  /** Lets the reads that wait be answered as of now; left out: all of them. */
  async release(what: string | null = null): Promise<void> {
    const going = this.#waiting.filter((each) => what === null || each.what === what)
    if (going.length === 0) throw new Error(`no read of ${what ?? 'anything'} waits`)
    for (const each of going) this.#waiting.splice(this.#waiting.indexOf(each), 1)[0]?.go()
    await settled()
  }

  /** The reads that wait. */
  get waiting(): string[] {
    return this.#waiting.map(({ what }) => what)
  }

  /** Decides `GET /x`, which requires x:y in s1, and `PUT /own`, a built-in endpoint that does so too. */
  engine(authenticate: Authenticate): DecisionEngine {
    return new DecisionEngine({ ...this.parts, authenticator: { authenticate } })
  }

  /** The same, which caches the authorization of every caller. */
  cachingEngine(authenticate: Authenticate): DecisionEngine {
    return new DecisionEngine({ ...this.parts, authenticator: { authenticate }, fewSeats: 0 })
  }

  get parts(): Omit<DecisionEngineOptions, 'authenticator'> {
    return {
      table,
      seats: this.memory,
      restrictions: this.memory,
      lease: LEASED,
      targetBytes: 8192,
      exceptions: () => NO_EXCEPTIONS,
    }
  }
}

/** The same user, whose groups by SCIM name the Seats. */
export function member(): Principal {
  return { ...alice([]), claims: { by: 'membership', member: 'externalId:alice', issuedAt: 0 } }
}

export const LEASED = { live: () => true, renewed: async () => {} }

type Authenticate = DecisionEngineOptions['authenticator']['authenticate']

const { table } = compileTable(
  [
    {
      ...{ method: 'GET', path: '/x', requirement: 'x:y', upstream: 'main' },
      ...{ responseTimeout: null, maxBody: 0, signIn: null },
      place: { file: 'routes.yaml', line: 1, column: 1 },
    },
  ],
  new Map([['main', { allowSemicolons: false, allowEncodedSlashes: false }]]),
  [ownRoute('PUT', '/own', 'x:y', { kind: 'local', handler: () => Promise.reject(new Error()) }, 0)],
)

export const REQUEST: AuthorizationRequest = {
  method: 'GET',
  target: '/x',
  host: null,
  credentials: { apiKey: [], authorization: [], cookie: [], space: ['s1'] },
  browser: { method: 'GET', rawHeaders: [], upgrade: false },
}

/** A user whose token names these Seats. */
export function alice(names: readonly string[]): Principal {
  const claims = { by: 'name', entries: new Map([['s1', names]]), issuedAt: 1 } as const
  return {
    method: 'bearer',
    tenant: 'acme',
    user: 'alice',
    email: null,
    owner: 'alice',
    issuedAt: 1,
    session: null,
    validUntil: null,
    claims,
  }
}

/** Until all that follows from settled promises has run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
