/** A revocation arrives while a decision waits for the store: the decision is by one state, and no other waits longer. */

import t from 'tap'
import type { StoredApiKey } from '../../seats-admin/model/api-key.ts'
import type { RevocationNotice } from '../../seats-admin/model/revocation.ts'
import type { SessionRecord } from '../../seats-admin/model/session-record.ts'
import type { Refusal } from '../../src/model/errors.ts'
import { issuerUser } from '../../src/model/issuer-user.ts'
import type { Principal } from '../../src/model/principal.ts'
import { sessionRevoked } from '../../src/model/revoked.ts'
import { alice, type Changed, REQUEST, settled, SlowStore } from './slow-store.ts'

/** Whole seconds since the epoch, after the tokens of {@link alice} were issued. */
const T = 100
const ISSUER = 'https://ci.example'

const notice = (more: Omit<RevocationNotice, 'at'>, tenant = 'acme'): Changed => [
  'revocation',
  JSON.stringify({ at: T * 1000, ...more }),
  tenant,
]

function setUp(seats: Record<string, string[]> = { A: [], B: [] }): SlowStore {
  const store = new SlowStore()
  for (const [name, permissions] of Object.entries(seats)) store.seats.set(name, permissions)
  return store
}

/** Begins a decision. @returns its code, once it is made */
function begin(store: SlowStore, caller: Principal): Promise<string> {
  const evaluation = store.engine(() => caller).evaluate(REQUEST)
  return Promise.resolve(evaluation).then(({ decision }) => decision.code)
}

/** A decision that waits for the Seat A. Memory has the restrictions, and the Seat B. */
async function waiting(store: SlowStore, caller: Principal = alice(['B', 'A'])): Promise<Promise<string>[]> {
  await begin(store, { ...caller, claims: alice(['B']).claims })
  store.isSlow = true
  // In an array, as an async function would await it.
  return [begin(store, caller)]
}

async function finish(store: SlowStore): Promise<void> {
  store.isSlow = false
  await store.release()
}

t.test('of the user, of its issuer, or of the tenant: the request is refused', async (t) => {
  const ofIssuer = { ...alice(['B', 'A']), method: 'issuer', owner: issuerUser(ISSUER, 'build') } as const
  for (const hasMany of [false, true])
    for (const [caller, by, revoke] of [
      [alice(['B', 'A']), { user: 'alice' }, (store: SlowStore) => store.cutoffs.set('alice', T)],
      [alice(['B', 'A']), { tenant: true }, (store: SlowStore) => (store.tenantCutoff = T)],
      [ofIssuer, { issuer: ISSUER }, (store: SlowStore) => (store.issuers[ISSUER] = T)],
    ] as const) {
      const store = setUp()
      store.hasMany = hasMany
      const [code] = await waiting(store, caller)
      store.write(() => revoke(store), notice({ subject: by }))
      // Both after the revocation: no state allows the request.
      store.grant('A', ['x:y'])
      await finish(store)
      t.equal(await code, 'token_revoked', `${JSON.stringify(by)}, ${hasMany}`)
      t.equal(store.memory.received.repeated, 1)
      t.equal(store.memory.received.waiting, 0)
    }
})

t.test('the same where memory is not told, but the store shows it', async (t) => {
  const store = setUp()
  const [code] = await waiting(store)
  store.commit(() => (store.tenantCutoff = T), notice({ subject: { tenant: true } }))
  store.commit(() => store.seats.set('A', ['x:y']), ['seat', 'A'], ['seat-name', 'A'])
  await finish(store)
  t.equal(await code, 'token_revoked')
})

t.test('of another user, of another tenant, or a count: nothing is repeated', async (t) => {
  const store = setUp({ A: ['x:y'], B: [] })
  const [code] = await waiting(store)
  for (let at = 0; at < 5000; at++) {
    const subjects = [{ user: 'alice' }, { issuer: ISSUER }, { tenant: true }] as const
    for (const subject of subjects) store.write(() => {}, notice({ subject }, 'globex'))
    for (const subject of subjects) store.write(() => {}, notice({ subject, count: true }))
    store.write(() => {}, notice({ subject: { user: `user ${at}` }, listed: true }), ['session', `S${at}`])
    store.write(() => {}, notice({ subject: { session: 'S' } }), ['session', 'S'])
    store.write(() => {}, notice({ subject: { user: 'alice' } }, 'globex'))
  }
  await finish(store)
  t.equal(await code, 'allow')
  t.equal(store.memory.received.repeated, 0)
})

t.test('an API key that nobody owns does not wait longer for a revocation of its tenant', async (t) => {
  const store = setUp({ A: ['x:y'], B: [] })
  const key: Principal = { ...alice(['B', 'A']), method: 'api-key', owner: null, issuedAt: Infinity }
  const [code] = await waiting(store, key)
  store.write(() => (store.tenantCutoff = T), notice({ subject: { tenant: true } }))
  await finish(store)
  t.equal(await code, 'allow')
  t.equal(store.memory.received.repeated, 0)
})

t.test('a revocation of so many sessions that they have no changes: the session is read again', async (t) => {
  const session: SessionRecord = {
    ...{ id: 'S', tenant: 'acme', cookieHash: null, user: 'alice', email: null, hashPerm: [] },
    ...{ issuedAt: 1, renewAt: Infinity, expiresAt: Infinity, endedAt: null, revoked: false, voidUntil: 0 },
  }
  for (const [subject, isWarm] of [
    [{ user: 'alice' }, true],
    [{ user: 'alice' }, false],
    [{ tenant: true }, false],
  ] as const) {
    const store = setUp()
    store.sessions.set('S', session)
    const caller: Principal = { ...alice(['B', 'A']), session: 'S', issuedAt: Infinity }
    const engine = (names: readonly string[]) =>
      store.engine((_credentials, trace) => {
        const admit = (record: SessionRecord | null): Principal | Refusal =>
          record?.endedAt === null ? { ...caller, claims: alice(names).claims } : sessionRevoked
        const record = store.memory.sessionById('acme', 'S', trace)
        return record instanceof Promise ? record.then(admit) : admit(record)
      })
    await store.memory.sessionById('acme', 'S')
    if (isWarm) await engine(['B']).evaluate(REQUEST)
    store.isSlow = true
    const decided = Promise.resolve(engine(['B', 'A']).evaluate(REQUEST))
    // Without the restrictions in memory, they are read after the revocation, and have not changed since.
    t.same(store.waiting, [isWarm ? 'name A' : 'restrictions'], 'memory has the session')
    const end = () => store.sessions.set('S', { ...session, endedAt: 5, revoked: true })
    store.write(end, notice({ subject }))
    store.grant('A', ['x:y'])
    await finish(store)
    t.equal((await decided).decision.code, 'token_revoked', JSON.stringify(subject))
    t.equal((await engine(['B']).evaluate(REQUEST)).decision.code, 'token_revoked', 'memory has the end')
  }
})

t.test('two revocations at once: each is the state that the request is refused by', async (t) => {
  const store = setUp()
  const [code] = await waiting(store)
  store.write(() => (store.tenantCutoff = 0), notice({ subject: { tenant: true } }))
  store.write(() => store.cutoffs.set('alice', T), notice({ subject: { user: 'alice' } }))
  store.grant('A', ['x:y'])
  await finish(store)
  t.equal(await code, 'token_revoked')
})

t.test(
  'a session of another user does not wait longer, where the sessions that have ended are listed',
  async (t) => {
    for (const listed of [true, false]) {
      const store = setUp({ A: ['x:y'], B: [] })
      const caller: Principal = { ...alice(['B', 'A']), session: 'S', issuedAt: Infinity }
      const engine = store.engine(async (_credentials, trace) => {
        await store.memory.sessionById('acme', 'S', trace)
        return caller
      })
      await begin(store, alice(['B']))
      await store.memory.sessionById('acme', 'S')
      store.isSlow = true
      const decided = Promise.resolve(engine.evaluate(REQUEST))
      await settled()
      const more = listed ? { listed: true as const } : {}
      store.write(() => {}, notice({ subject: { user: 'bob' }, ...more }), ['session', 'S2'])
      await finish(store)
      t.equal((await decided).decision.code, 'allow')
      t.equal(store.memory.received.repeated, listed ? 0 : 1)
      store.asked.length = 0
      await store.memory.sessionById('acme', 'S')
      t.same(store.asked, [], 'memory has it, or has it again')
    }
  },
)

t.test('a revocation of so many API keys that they have no changes: a key is read again', async (t) => {
  const stored: StoredApiKey = {
    ...{ id: 'K', tenant: 'acme', hash: new Uint8Array(32), seatIds: ['B'] },
    ...{ expiresAt: null, revokedAt: null, owner: 'alice' },
  }
  for (const [subject, tenant, isRead] of [
    [{ user: 'alice' }, 'acme', true],
    [{ tenant: true }, 'acme', true],
    [{ user: 'alice' }, 'globex', false],
  ] as const) {
    const store = setUp()
    store.keys.set('K', stored)
    await store.memory.apiKeyById('acme', 'K')
    store.asked.length = 0
    store.write(() => store.keys.set('K', { ...stored, revokedAt: 5 }), notice({ subject }, tenant))
    const key = await store.memory.apiKeyById('acme', 'K')
    t.same([key?.revokedAt, store.asked], isRead ? [5, ['key K']] : [null, []], JSON.stringify(subject))
  }
})
