/** Sessions for tests, and what a caller proves of them. */

import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { Committed, Store, StoredSession, Writer } from '../../../seats-admin/index.ts'
import type { Renewal } from '../../../seats-admin/store/session-store.ts'

export const NOW = 1_800_000_000_000
export const HOUR = 3_600_000

export const hash = () => new Uint8Array(randomBytes(32))
export const bytes = (value: Uint8Array | null | undefined) =>
  value == null ? null : Buffer.from(value).toString('hex')

export function browserSession(more: Partial<StoredSession> = {}): StoredSession {
  return {
    id: randomBytes(16).toString('base64url'),
    tenant: 'acme',
    cookieHash: hash(),
    user: 'auth0|alice ünïcode 漢字',
    email: 'alice@acme.example',
    name: 'Alice',
    hashPerm: ['s1:Viewer', 's2:ns:Editor'],
    issuedAt: NOW / 1000,
    renewAt: NOW + HOUR,
    expiresAt: NOW + 8 * HOUR,
    endedAt: null,
    revoked: false,
    voidUntil: 0,
    familyHash: null,
    handleHash: null,
    sealed: 'sealed-text',
    providerSession: null,
    createdAt: NOW - HOUR,
    ...more,
  }
}

export function family(more: Partial<StoredSession> = {}): StoredSession {
  return browserSession({ cookieHash: null, familyHash: hash(), handleHash: hash(), ...more })
}

/** The identity provider of `acme`, as an author. */
export function provider(now = NOW, more: Partial<Writer> = {}): Writer {
  const scope = { space: 'admin', admin: true, all: false, permissions: [] }
  const actor = { kind: 'provider', name: 'login.acme.example' } as const
  return { tenant: 'acme', by: 'https://login.acme.example/realms/a', actor, scope, now, ...more }
}

/** Session ids in the feed, in order. */
export async function fedSessions(store: Store): Promise<string[]> {
  const { changes } = await store.changesSince(null)
  return (changes ?? []).filter(({ kind }) => kind === 'session').map(({ key }) => key)
}

export const RENEWAL = {
  email: null,
  name: 'Alice B.',
  hashPerm: ['s3:Viewer'],
  issuedAt: NOW / 1000 + 60,
  renewAt: NOW + 2 * HOUR,
  sealed: 'sealed anew',
  voidUntil: 0,
}

export function proofOf({ familyHash, handleHash }: StoredSession) {
  return { family: familyHash ?? hash(), handle: handleHash ?? hash() }
}

export function same(t: Test, found: StoredSession | null, wanted: StoredSession): void {
  const plain = (session: StoredSession | null) =>
    session && {
      ...session,
      cookieHash: bytes(session.cookieHash),
      familyHash: bytes(session.familyHash),
      handleHash: bytes(session.handleHash),
      providerSession: bytes(session.providerSession),
    }
  t.strictSame(plain(found), plain(wanted))
}

/** `count` concurrent calls, each with its number, distributed over two stores. */
export function atOnce<S, V>(
  [one, other]: readonly [S, S],
  count: number,
  call: (store: S, at: number) => Promise<V>,
): Promise<V[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => call(at % 2 === 0 ? one : other, at)))
}

/** The calls on sessions of the tenant `acme`, at one store. */
export function sessionCalls(t: Test, store: Store) {
  const { sessions } = store
  const stored = ({ id }: Identified) => sessions.sessionById('acme', id)
  /** Uses the handle of the family, or what `proof` has instead. */
  const rotate = (session: StoredSession, proof: Partial<Proof> = {}, next = hash(), now = NOW) =>
    sessions.rotate(provider(now), session.id, { ...proofOf(session), ...proof }, next)
  return {
    store,
    sessions,
    stored,
    rotate,
    /** Session ids in the feed, in order. */
    feed: () => fedSessions(store),
    created: async (session: StoredSession) => {
      await sessions.create(session)
      return session
    },
    read: async ({ id }: Identified) => (await sessions.readSession('acme', id)).value,
    /** The outcome of {@link rotate}. */
    use: async (...of: Parameters<typeof rotate>) => (await rotate(...of)).outcome,
    giveBack: ({ id }: Identified, from: Uint8Array | null, to: Uint8Array | null, sealed: string | null) =>
      sessions.giveBack('acme', id, from, to, sealed),
    claim: ({ id }: Identified, now = NOW, until = now + 1000) =>
      sessions.claimRenewal('acme', id, now, until),
    renew: ({ id }: Identified, handle: Uint8Array | null, renewal: Renewal = RENEWAL) =>
      sessions.renew('acme', id, handle, renewal),
    end: ({ id }: Identified, now = NOW) => sessions.end('acme', id, now),
    /** Checks that the store has the session, with these differences. */
    has: async (session: StoredSession, more: Partial<StoredSession> = {}) =>
      same(t, await stored(session), { ...session, ...more }),
    /** Checks that a write announced the change of the session. */
    announced: async ({ id }: Identified, committed: Committed | null) => {
      t.match(committed, { changes: [{ tenant: 'acme', kind: 'session', key: id }] })
      t.equal((await fedSessions(store)).at(-1), id, 'the feed contains it')
    },
  }
}

type Identified = Pick<StoredSession, 'id'>
type Proof = ReturnType<typeof proofOf>

export type SessionCalls = ReturnType<typeof sessionCalls>

/** The test function of a suite. @param open gives each test two stores on one empty database */
export function sessionTest(t: Test, open: (t: Test) => Promise<readonly Store[]>) {
  return (name: string, run: (t: Test, one: SessionCalls, other: SessionCalls) => Promise<void>) =>
    t.test(name, async (t) => {
      const [one, other] = (await open(t)).map((store) => sessionCalls(t, store))
      if (one === undefined || other === undefined) throw new Error('not two stores')
      await run(t, one, other)
    })
}
