/** Blocks and revocations in memory: who is refused, by which reading, and by which clock. */

import fc from 'fast-check'
import t from 'tap'
import type { ChangeKind } from '../../../seats-admin/model/change.ts'
import { NO_RESTRICTIONS } from './no-restrictions.ts'
import type {
  RestrictionsReading,
  RevocationNotice,
  UserRestriction,
  UserRestrictionReading,
} from '../../../seats-admin/model/revocation.ts'
import { SeatMemory } from '../../../src/decision/seats/memory.ts'
import type { Restrictable } from '../../../src/decision/seats/restrictions.ts'
import { issuerUser } from '../../../src/model/issuer-user.ts'

/** ms since the epoch, in each reading. */
const STORE_TIME = Date.UTC(2030, 0, 1)
/** Whole seconds since the epoch. */
const T = STORE_TIME / 1000
const ISSUER = 'https://ci.example'
const HOUR = 3_600_000

/** A store that returns the test's values at once, and the clocks by which memory ends blocks. */
function setUp(bytes = 2 ** 24) {
  const reads: string[] = []
  const clock = { now: 5000, wall: STORE_TIME, store: STORE_TIME }
  const store = {
    seq: 1,
    /** By tenant and user. */
    users: new Map<string, UserRestriction>(),
    /** Whether there are too many to be read as a whole. */
    hasMany: false,
    issuers: {} as Record<string, number>,
    cutoff: null as number | null,
    restrict(user: string, limits: Partial<UserRestriction>, tenant = 'acme') {
      const earlier = store.users.get(`${tenant} ${user}`)
      store.users.set(`${tenant} ${user}`, { user, block: null, cutoff: null, ...earlier, ...limits })
    },
  }
  const answer = <V>(query: string, value: V) => {
    reads.push(query)
    return Promise.resolve({ seq: store.seq, value })
  }
  const unused = () => Promise.reject(new Error('not read here'))
  const direct = {
    ...NO_RESTRICTIONS,
    readSession: unused,
    restrictions(tenant: string) {
      const own = [...store.users].filter(([key]) => key.startsWith(`${tenant} `)).map(([, each]) => each)
      return answer<RestrictionsReading>(tenant, {
        ...{ now: clock.store, issuers: store.issuers, tenant: store.cutoff },
        users: store.hasMany ? null : own,
      })
    },
    userRestriction: (tenant: string, user: string) =>
      answer<UserRestrictionReading>(`${tenant} ${user}`, {
        now: clock.store,
        restriction: store.users.get(`${tenant} ${user}`) ?? null,
      }),
  }
  const source = {
    ...{ grantByName: unused, grantById: unused, spacesByName: unused },
    ...{ seatById: unused, apiKeyById: unused },
  }
  const memory = new SeatMemory(source, direct, bytes, { now: () => clock.now, wall: () => clock.wall })
  /** The code of the refusal; `none`: there is none. */
  const codeOf = (owner: string | null, more: Partial<Restrictable> = {}): string | Promise<string> => {
    const caller = { method: 'bearer', tenant: 'acme', owner, issuedAt: T, ...more } as const
    const refusal = memory.restriction(caller)
    if (refusal instanceof Promise) return refusal.then((late) => late?.code ?? 'none')
    return refusal?.code ?? 'none'
  }
  const announce = (kind: ChangeKind, key: unknown, tenant = 'acme') =>
    memory.applyAnnouncement([{ kind, key: JSON.stringify(key), tenant, seq: ++store.seq }])
  const revoke = (notice: Omit<RevocationNotice, 'at'>, tenant?: string) =>
    announce('revocation', { at: STORE_TIME, ...notice }, tenant)
  return { reads, clock, store, memory, codeOf, announce, revoke }
}

t.test('the restrictions of a tenant are read once, whoever is the caller', async (t) => {
  const { reads, store, codeOf } = setUp()
  store.restrict('mallory', { block: { until: null } })
  store.restrict('eve', { block: { until: STORE_TIME + HOUR } })
  store.restrict('old', { block: { until: STORE_TIME } })
  store.restrict('trudy', { cutoff: T })
  t.equal(await codeOf('mallory'), 'caller_blocked')
  t.equal(codeOf('eve'), 'caller_blocked')
  t.equal(codeOf('alice'), 'none')
  t.equal(codeOf('old'), 'none', 'the end is past')
  t.equal(codeOf('trudy'), 'token_revoked')
  t.equal(codeOf('__proto__'), 'none')
  t.equal(codeOf(null), 'none', 'a key without an owner')
  t.same(reads, ['acme'])
})

t.test('of too many, each user is read alone', async (t) => {
  const { reads, store, codeOf, announce } = setUp()
  store.hasMany = true
  store.restrict('mallory', { block: { until: null } })
  store.restrict('trudy', { cutoff: T })
  for (const user of ['mallory', 'trudy', 'alice']) await codeOf(user)
  t.same(
    ['mallory', 'trudy', 'alice'].map((user) => codeOf(user)),
    ['caller_blocked', 'token_revoked', 'none'],
  )
  t.same(reads, ['acme', 'acme mallory', 'acme trudy', 'acme alice'])
  store.users.delete('acme mallory')
  announce('block', 'mallory')
  t.equal(await codeOf('mallory'), 'none')
  t.equal(await codeOf('trudy'), 'token_revoked')
})

t.test('a cutoff voids what was issued up to its second, and nothing later', async (t) => {
  for (const hasMany of [false, true]) {
    const { store, codeOf } = setUp()
    store.hasMany = hasMany
    store.restrict('eve', { cutoff: T })
    const at = async (issuedAt: number) => codeOf('eve', { issuedAt })
    t.equal(await at(T - 1), 'token_revoked')
    t.equal(await at(T), 'token_revoked')
    t.equal(await at(T + 1), 'none')
    t.equal(await at(-Infinity), 'token_revoked', 'a token without iat')
    t.equal(await at(Infinity), 'none', 'a credential with a record of its own')
  }
})

t.test('without a cutoff, a token without iat is not void', async (t) => {
  for (const hasMany of [false, true]) {
    const { store, codeOf } = setUp()
    store.hasMany = hasMany
    store.restrict('eve', { block: { until: STORE_TIME } })
    for (const user of ['eve', 'alice'])
      t.equal(await codeOf(user, { issuedAt: -Infinity }), 'none', `${user}, ${hasMany}`)
  }
})

t.test('a revocation is told before a block', async (t) => {
  for (const hasMany of [false, true]) {
    const { store, codeOf } = setUp()
    store.hasMany = hasMany
    store.restrict('eve', { cutoff: T, block: { until: null } })
    t.equal(await codeOf('eve'), 'token_revoked')
    t.equal(await codeOf('eve', { issuedAt: T + 1 }), 'caller_blocked')
    t.equal(await codeOf('eve', { issuedAt: Infinity, method: 'api-key' }), 'caller_blocked', 'its key')
  }
})

t.test('the refusal says up to when tokens are void, and not whose revocation it was', async (t) => {
  const { store, memory } = setUp()
  store.restrict('eve', { cutoff: T })
  const refusal = await memory.restriction({ method: 'bearer', tenant: 'acme', owner: 'eve', issuedAt: 5 })
  t.match(refusal?.detail, /issued up to 2030-01-01T00:00:00Z\./)
  t.notMatch(refusal?.detail, /eve|tenant|issuer/)
})

t.test('the cutoff of an issuer: its users alone', async (t) => {
  const { store, codeOf } = setUp()
  store.issuers = { [ISSUER]: T }
  const of = async (user: string, more: Partial<Restrictable> = {}) =>
    codeOf(user, { method: 'issuer', ...more })
  t.equal(await of(issuerUser(ISSUER, 'build')), 'token_revoked')
  t.equal(await of(issuerUser(ISSUER, 'repo|main')), 'token_revoked', 'up to the first |')
  t.equal(await of(issuerUser(ISSUER, 'build'), { issuedAt: T + 1 }), 'none')
  t.equal(await of(issuerUser(`${ISSUER}/`, 'build')), 'none')
  t.equal(await of(issuerUser('https://other.example', `x|${ISSUER}|y`)), 'none')
  // Another authority names no such user. If one did, it would not be the issuer's.
  t.equal(await of(issuerUser(ISSUER, 'build'), { method: 'bearer' }), 'none')
  t.equal(await of('alice', { method: 'bearer' }), 'none')
})

t.test('the cutoff of a tenant: every token of it, and no key', async (t) => {
  for (const hasMany of [false, true]) {
    const { reads, store, codeOf } = setUp()
    store.hasMany = hasMany
    store.cutoff = T
    t.equal(await codeOf('alice'), 'token_revoked')
    t.equal(await codeOf(issuerUser(ISSUER, 'build'), { method: 'issuer' }), 'token_revoked')
    t.same(reads, ['acme'], 'the user is not read')
    t.equal(await codeOf('alice', { issuedAt: T + 1 }), 'none')
    for (const owner of [null, 'alice'])
      t.equal(await codeOf(owner, { method: 'api-key', issuedAt: Infinity }), 'none')
  }
})

t.test('the latest of several cutoffs counts, in whatever order they come', async (t) => {
  const cutoff = fc.option(fc.integer({ min: T - 3, max: T + 3 }))
  const issuedAt = fc.oneof(fc.integer({ min: T - 4, max: T + 4 }), fc.constantFrom(-Infinity, Infinity))
  await fc.assert(
    fc.asyncProperty(cutoff, cutoff, cutoff, issuedAt, fc.boolean(), async (a, b, c, at, hasMany) => {
      const { store, codeOf } = setUp()
      store.hasMany = hasMany
      store.cutoff = a
      store.issuers = b === null ? {} : { [ISSUER]: b }
      const user = issuerUser(ISSUER, 'build')
      if (c !== null) store.restrict(user, { cutoff: c })
      const cutoffs = [a, b, c].filter((each) => each !== null)
      const expected = cutoffs.some((each) => at <= each) ? 'token_revoked' : 'none'
      t.equal(await codeOf(user, { method: 'issuer', issuedAt: at }), expected)
    }),
    { numRuns: 200 },
  )
})

t.test('a user of the same name in another tenant', async (t) => {
  for (const hasMany of [false, true]) {
    const { store, codeOf, revoke } = setUp()
    store.hasMany = hasMany
    t.equal(await codeOf('eve'), 'none')
    t.equal(await codeOf('eve', { tenant: 'globex' }), 'none')
    store.restrict('eve', { cutoff: T }, 'globex')
    revoke({ subject: { user: 'eve' } }, 'globex')
    t.equal(await codeOf('eve'), 'none')
    t.equal(await codeOf('eve', { tenant: 'globex' }), 'token_revoked')
  }
})

t.test('any text is a user', async (t) => {
  const users = ['', '|', 'a|b', '|a', '\0', '__proto__', '\ud800', '\ufffd', '"', 'x'.repeat(16_384)]
  for (const hasMany of [false, true]) {
    const { store, codeOf, revoke } = setUp()
    store.hasMany = hasMany
    for (const user of users) {
      t.equal(await codeOf(user), 'none')
      store.restrict(user, { cutoff: T })
      revoke({ subject: { user } })
      t.equal(await codeOf(user), 'token_revoked', JSON.stringify(user.slice(0, 20)))
      t.equal(await codeOf(`${user} `), 'none')
    }
  }
})

t.test('a notice has the restrictions that it concerns read again, and no others', async (t) => {
  const { reads, store, codeOf, revoke, announce } = setUp()
  store.hasMany = true
  const ask = async () => {
    reads.length = 0
    for (const tenant of ['acme', 'globex'])
      for (const user of ['eve', 'alice']) await codeOf(user, { tenant })
    return [...reads]
  }
  t.equal((await ask()).length, 6)
  t.same(await ask(), [])
  revoke({ subject: { user: 'eve' } })
  t.same(await ask(), ['acme', 'acme eve'])
  revoke({ subject: { issuer: ISSUER } })
  t.same(await ask(), ['acme'])
  revoke({ subject: { tenant: true } })
  t.same(await ask(), ['acme'])
  for (const subject of [{ session: 'A' }, { api_key: 'K' }] as const) revoke({ subject })
  for (const subject of [{ user: 'eve' }, { issuer: ISSUER }, { tenant: true }] as const)
    revoke({ subject, count: true })
  t.same(await ask(), [], 'a session or key has its own change, and a count changes nothing')
  announce('revocation', { at: 1, subject: { group: 'x' } })
  t.equal((await ask()).length, 6, 'a notice of a newer version may concern anything')
  for (const notice of [
    null,
    7,
    {},
    { subject: null },
    { subject: {} },
    { subject: { user: 'a', issuer: 'b' } },
  ]) {
    announce('revocation', notice)
    t.equal((await ask()).length, 6, JSON.stringify(notice))
  }
})

t.test('tables in the store void nothing in memory, and count as received', async (t) => {
  const { store, memory, reads, codeOf, announce } = setUp()
  memory.applyReading([], { seq: 1 })
  await codeOf('alice')
  const before = [...reads]
  announce('tables-candidate', '01K')
  announce('tables', { version: 1, candidate: '01K' })
  t.equal(codeOf('alice'), 'none')
  t.same(reads, before, 'nothing is read again')
  t.equal(memory.received.position, store.seq)
})

t.test('each notice counts as received', async (t) => {
  const { store, memory, revoke } = setUp()
  memory.applyReading([], { seq: 1 })
  for (const subject of [{ user: 'a' }, { issuer: ISSUER }, { tenant: true }, { session: 'A' }] as const)
    for (const count of [{}, { count: true }] as const) {
      revoke({ subject, ...count })
      t.equal(memory.received.position, store.seq)
    }
})

t.test('a reading from before a block or a revocation does not count', async (t) => {
  for (const hasMany of [false, true])
    for (const by of ['block', 'user', 'issuer', 'tenant']) {
      const { store, codeOf, revoke, announce } = setUp()
      const user = issuerUser(ISSUER, 'build')
      store.hasMany = hasMany
      const decided = codeOf(user, { method: 'issuer' })
      if (by === 'block') store.restrict(user, { block: { until: null } })
      else if (by === 'user') store.restrict(user, { cutoff: T })
      else if (by === 'issuer') store.issuers = { [ISSUER]: T }
      else store.cutoff = T
      if (by === 'block') announce('block', user)
      else if (by === 'user') revoke({ subject: { user } })
      else revoke({ subject: by === 'issuer' ? { issuer: ISSUER } : { tenant: true } })
      t.equal(await decided, by === 'block' ? 'caller_blocked' : 'token_revoked', `${by}, ${hasMany}`)
    }
})

t.test('a block ends by itself, by the time of the store and by the clock of the process', async (t) => {
  for (const hasMany of [false, true]) {
    const { reads, store, clock, codeOf } = setUp()
    store.hasMany = hasMany
    store.restrict('eve', { block: { until: STORE_TIME + 60 } })
    t.equal(await codeOf('eve'), 'caller_blocked')
    const { length } = reads
    clock.now += 59
    clock.wall += 60
    t.equal(codeOf('eve'), 'caller_blocked')
    clock.now += 1
    clock.wall -= 1
    t.equal(codeOf('eve'), 'caller_blocked')
    clock.wall += 1
    t.equal(codeOf('eve'), 'none')
    t.equal(reads.length, length, 'without another read')
  }
})

t.test('a revocation does not end, whatever the clocks say', async (t) => {
  for (const hasMany of [false, true]) {
    const { store, clock, codeOf } = setUp()
    store.hasMany = hasMany
    store.restrict('eve', { cutoff: T })
    for (const offset of [0, -1e9, 1e9, 1e15]) {
      clock.now = 5000 + offset
      clock.wall = STORE_TIME + offset
      t.equal(await codeOf('eve'), 'token_revoked')
      t.equal(await codeOf('eve', { issuedAt: T + 1 }), 'none')
    }
  }
})

t.test('the time that a reading takes does not end a block early', async (t) => {
  const { store, clock, codeOf } = setUp()
  store.restrict('eve', { block: { until: STORE_TIME + 60 } })
  const decided = codeOf('eve')
  clock.now += 100
  t.equal(await decided, 'caller_blocked')
})

t.test('a clock that was ahead at the reading ends no block for good', async (t) => {
  for (const hasMany of [false, true])
    for (const both of [true, false]) {
      const { store, clock, codeOf } = setUp()
      store.hasMany = hasMany
      const until = STORE_TIME + 60
      store.restrict('eve', { block: { until } })
      // Of an SQLite store, it is also the clock of the process.
      clock.store += HOUR
      if (both) clock.wall += HOUR
      t.equal(await codeOf('eve'), both ? 'none' : 'caller_blocked')
      clock.wall = STORE_TIME + 59
      t.equal(codeOf('eve'), 'caller_blocked')
      clock.wall = until
      t.equal(codeOf('eve'), 'none')
    }
})

t.test('any number of restricted users takes no more memory than its bound', async (t) => {
  const { store, memory, codeOf } = setUp(2 ** 20)
  store.hasMany = true
  for (let at = 0; at < 5000; at++) {
    store.restrict(`user ${at}`, { cutoff: T })
    if ((await codeOf(`user ${at}`)) !== 'token_revoked') t.fail(`user ${at} is accepted`)
  }
  t.ok(memory.bytes <= 2 ** 20)
  t.ok(memory.sizes.blocks < 5000, `${memory.sizes.blocks} records`)
  t.equal(await codeOf('user 0'), 'token_revoked', 'evicted, and read again')
})
