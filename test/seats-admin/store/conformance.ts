/** Requirements of every store driver. Each test gets a new, empty store from `openStore`. */

import type { Test } from 'tap'
import {
  type AdminRefusal,
  type Committed,
  isRefusal,
  type NumberedChange,
  type Position,
  type Scope,
  type Store,
  type Writer,
} from '../../../seats-admin/index.ts'
import { hashApiKey, parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { seatSize } from '../../../seats-admin/model/seat.ts'
import type { SignedInIdentity } from '../../../seats-admin/model/user.ts'
import { isUlid } from '../../../seats-admin/model/ulid.ts'

export const ADMIN: Scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }

export function inSpace(space: string, ...permissions: string[]): Scope {
  return { space, admin: space === 'admin', all: permissions.includes('*'), permissions }
}

export function writer(scope: Scope = ADMIN, now = Date.now(), tenant = 'acme'): Writer {
  return { tenant, by: 'alice', scope, now }
}

export function signedIn(sub: string, at = 1): SignedInIdentity {
  return { sub, email: null, name: null, at }
}

/** The result; throws on a refusal. */
export function done<V>(result: V | AdminRefusal): V {
  if (isRefusal(result)) throw new Error(`${result.refused}: ${JSON.stringify(result.faults)}`)
  return result as V
}

export function refused(result: unknown): string {
  return isRefusal(result) ? result.refused : 'not refused'
}

/** The position before the first change. */
export const BEGINNING: Position = { seq: 0, mark: 0 }

function positionOf({ seq, mark }: Position): Position {
  return { seq, mark }
}

/** The changes of a write as in the feed. */
export function numbered({ seq, mark, changes }: Committed): NumberedChange[] {
  return changes.map((change, at) => ({ ...change, seq: seq - changes.length + 1 + at, mark }))
}

const NOTHING = { spaces: [], permissions: [] }
const MISSING = '00000000000000000000000000'

export function conformance(t: Test, openStore: (t: Test) => Promise<Store>): void {
  const test = (name: string, run: (t: Test, store: Store) => Promise<void>) =>
    t.test(name, async (t) => run(t, await openStore(t)))

  const seat = async (store: Store, name: string, spaces = ['one'], permissions = ['a:b'], as = writer()) =>
    done(await store.createSeat(as, { name, spaces, permissions })).value
  const key = async (store: Store, seats: string[], as = writer()) =>
    done(await store.createApiKey(as, { name: 'ci', seats, expiresAt: null })).value
  const allOf = async (store: Store) =>
    (await store.listSeats('acme', { limit: 100, after: null, scope: ADMIN })).data.map((each) => each.id)
  const namesOf = async (store: Store, scope: Scope, limit = 100, after: string | null = null) =>
    (await store.listSeats('acme', { limit, after, scope })).data.map((each) => each.name)

  test('a new store is empty', async (t, store) => {
    for (const position of [BEGINNING, null])
      t.same(await store.changesSince(position), { head: BEGINNING, changes: [] })
    t.same(await store.seatByName('acme', 'x'), { ...BEGINNING, value: { seat: null, givenUpAt: null } })
    t.same(await store.spacesByName('acme', 'x'), { ...BEGINNING, value: null })
    t.same(await store.seatById('acme', MISSING), { ...BEGINNING, value: null })
    t.same(await store.apiKeyById('acme', MISSING), { ...BEGINNING, value: null })
    t.same(await store.listSeats('acme', { limit: 1, after: null, scope: ADMIN }), {
      data: [],
      hasMore: false,
      next: null,
    })
    t.same(await store.listApiKeys('acme', { limit: 1, after: null, scope: ADMIN }), {
      data: [],
      hasMore: false,
      next: null,
    })
  })

  test('a Seat is read as it was created', async (t, store) => {
    const made = done(
      await store.createSeat(writer(ADMIN, 1234), {
        name: 'Viewer',
        spaces: ['b', 'a'],
        permissions: ['z:z', '*'],
      }),
    )
    const expected = {
      id: made.value.id,
      tenant: 'acme',
      name: 'Viewer',
      version: 1,
      spaces: ['b', 'a'],
      permissions: ['z:z', '*'],
      createdBy: 'alice',
      createdAt: 1234,
      updatedBy: null,
      updatedAt: null,
    }
    t.ok(isUlid(made.value.id))
    t.same(made.value, expected)
    t.same(await store.seatByName('acme', 'Viewer'), {
      ...positionOf(made),
      value: { seat: expected, givenUpAt: null },
    })
    t.same(await store.seatById('acme', made.value.id), { ...positionOf(made), value: expected })
    t.same(await store.readSeat('acme', made.value.id, ADMIN), expected)
    t.same((await store.listSeats('acme', { limit: 1, after: null, scope: ADMIN })).data, [
      { ...expected, memberCount: 0 },
    ])
  })

  test('the read of a small Seat answers every question, that of a large Seat only the one asked', async (t, store) => {
    const question = { space: 'one', permission: 'a:b' }
    const small = await seat(store, 'Small', ['one', 'two'], ['a:b', 'c:d'])
    const whole = { id: small.id, name: 'Small', spaces: ['one', 'two'], permissions: ['a:b', 'c:d'] }
    const read = await store.grantById('acme', small.id, question)
    t.same(read.value, { ...whole, complete: true })
    t.same(await store.grantByName('acme', 'Small', { space: 'x', permission: 'y:z' }), {
      ...positionOf(read),
      value: { seat: { ...whole, complete: true }, givenUpAt: null },
    })
    t.equal((await store.grantById('acme', MISSING, question)).value, null)
    t.same((await store.grantByName('acme', 'None', question)).value, { seat: null, givenUpAt: null })

    const spaces = Array.from({ length: 300 }, (_, at) => `space-${at}`)
    const permissions = Array.from({ length: 300 }, (_, at) => `thing-${at}:read`)
    const large = await seat(store, 'Large', spaces, permissions)
    const answer = async (space: string, permission: string) => {
      const byId = (await store.grantById('acme', large.id, { space, permission })).value
      const byName = (await store.grantByName('acme', 'Large', { space, permission })).value.seat
      t.same(byName, byId)
      t.match(byId, { id: large.id, name: 'Large', complete: false })
      return [byId?.spaces, byId?.permissions]
    }
    for (const at of [0, 1, 29, 299]) {
      t.same(await answer(`space-${at}`, `thing-${at}:read`), [[`space-${at}`], [`thing-${at}:read`]])
      t.same(await answer(`space-${at}`, 'thing-1:write'), [[`space-${at}`], []])
    }
    // Substrings of its spaces, and the separators between them.
    for (const space of ['space-', 'pace-1', 'space-300', ',', '"', '\\', '%', 'SPACE-1', ''])
      for (const permission of ['thing-1:rea', 'hing-1:read', '1:read', ',', '"', '","', '*', '_', ''])
        t.same(await answer(space, permission), [[], []], `${space} ${permission}`)

    done(await store.updateSeat(writer(), large.id, { permissions: [...permissions, '*'] }))
    t.same(await answer('space-1', 'thing-1:write'), [['space-1'], ['*']])
    done(await store.updateSeat(writer(), large.id, { name: 'Larger' }))
    const gone = (await store.grantByName('acme', 'Large', question)).value
    t.equal(gone.seat, null)
    t.type(gone.givenUpAt, 'number')
  })

  test('the spaces of a Seat are read by its name, without its permissions', async (t, store) => {
    const spaces = Array.from({ length: 300 }, (_, at) => `space-${at}`)
    const permissions = Array.from({ length: 3000 }, (_, at) => `thing-${at}:read`)
    const { id } = await seat(store, 'Large', spaces, permissions)
    const last = await seat(store, 'Nowhere', [], ['*'])
    const { seq, mark } = (await store.changesSince(BEGINNING)).head
    const read = (name: string, tenant = 'acme') => store.spacesByName(tenant, name)
    t.strictSame(await read('Large'), { seq, mark, value: { id, name: 'Large', spaces } })
    t.strictSame((await read('Nowhere')).value, { id: last.id, name: 'Nowhere', spaces: [] })
    for (const name of ['large', 'Large ', '', 'Large\ud800'])
      t.strictSame(await read(name), { seq, mark, value: null }, JSON.stringify(name))
    t.equal((await read('Large', 'globex')).value, null)

    const renamed = await store.updateSeat(writer(), id, { name: 'Larger', spaces: ['one'] })
    t.strictSame(await read('Larger'), {
      ...positionOf(done(renamed)),
      value: { id, name: 'Larger', spaces: ['one'] },
    })
    t.equal((await read('Large')).value, null)
    done(await store.deleteSeat(writer(), id))
    t.equal((await read('Larger')).value, null)
  })

  test('a Seat has a maximum size, and a larger one may shrink', async (t, store) => {
    const as = { ...writer(), seatBytes: 100 }
    const of = (size: number) => [
      'x:'.padEnd(size - seatSize({ name: 'S', spaces: [], permissions: [''] }), 'y'),
    ]
    const create = (permissions: string[], by = as) =>
      store.createSeat(by, { name: 'S', spaces: [], permissions })
    const tooLarge = await create(of(101))
    t.match(tooLarge, {
      refused: 'input_invalid',
      faults: [{ path: '/permissions', message: /101 bytes.*100/ }],
    })
    const { id } = done(await create(of(100))).value
    t.match(await store.updateSeat(as, id, { name: 'SS' }), { faults: [{ path: '/name' }] })
    t.match(await store.updateSeat(as, id, { spaces: ['a'.repeat(90)], permissions: ['a:b'] }), {
      faults: [{ path: '/spaces' }],
    })
    t.equal(refused(await store.updateSeat(as, id, {})), 'not refused', 'as large as before, and allowed')

    const late = { ...as, seatBytes: 50 }
    for (const patch of [{}, { name: 'Longer' }, { permissions: of(100) }, { permissions: of(99) }])
      t.equal(refused(await store.updateSeat(late, id, patch)), 'not refused')
    t.equal(refused(await store.updateSeat(late, id, { permissions: of(100) })), 'input_invalid')
    t.equal(refused(await store.updateSeat(late, id, { spaces: ['s1'] })), 'input_invalid')
    done(await store.deleteSeat(late, id))
  })

  test('an update changes the given fields, and records user and time', async (t, store) => {
    const before = await seat(store, 'Viewer', ['one'], ['a:b'], writer(ADMIN, 1000))
    const as = { ...writer(ADMIN, 5000), by: 'bob' }
    for (const patch of [{}, { spaces: ['two'] }, { permissions: [] }, { name: 'Watcher' }]) {
      const was = done(await store.readSeat('acme', before.id, ADMIN))
      const now = done(await store.updateSeat(as, before.id, patch)).value
      t.same(now, { ...was, ...patch, version: was.version + 1, updatedBy: 'bob', updatedAt: 5000 })
      t.same(await store.readSeat('acme', before.id, ADMIN), now)
    }
  })

  test('each write returns its changes, in order and without gaps', async (t, store) => {
    const change = (kind: string, changed: string) => ({ tenant: 'acme', kind, key: changed })
    const made = done(await store.createSeat(writer(), { name: 'A', spaces: [], permissions: [] }))
    const { id } = made.value
    t.same(made.changes, [change('seat', id), change('seat-name', 'A')])
    const apiKey = done(await store.createApiKey(writer(), { name: 'k', seats: ['A'], expiresAt: null }))
    t.same(apiKey.changes, [change('api-key', apiKey.value.id)])
    const updated = done(await store.updateSeat(writer(), id, { spaces: ['x'] }))
    t.same(updated.changes, [change('seat', id), change('seat-name', 'A')])
    const renamed = done(await store.updateSeat(writer(), id, { name: 'B' }))
    t.same(
      new Set(renamed.changes),
      new Set([change('seat', id), change('seat-name', 'A'), change('seat-name', 'B')]),
    )
    const deleted = done(await store.deleteSeat(writer(), id))
    t.same(
      new Set(deleted.changes),
      new Set([change('seat', id), change('seat-name', 'B'), change('api-key', apiKey.value.id)]),
    )
    const revoked = done(await store.revokeApiKey(writer(), apiKey.value.id))
    t.same(revoked.changes, [change('api-key', apiKey.value.id)])
    const again = done(await store.revokeApiKey(writer(), apiKey.value.id))
    t.same(again.changes, [change('api-key', apiKey.value.id)], 'returned again by a repeated revocation')

    const writes = [made, apiKey, updated, renamed, deleted, revoked, again]
    const all = writes.flatMap(numbered)
    t.same(
      all.map((each) => each.seq),
      all.map((_, at) => at + 1),
    )
    for (const position of [BEGINNING, null])
      t.same(await store.changesSince(position), { head: positionOf(again), changes: all })
    for (const [at, write] of writes.entries()) {
      const { head, changes } = await store.changesSince(positionOf(write))
      t.same(head, positionOf(again))
      t.same(changes, writes.slice(at + 1).flatMap(numbered))
    }
    t.same(
      (await store.changesSince({ seq: deleted.seq - 1, mark: deleted.mark })).changes,
      all.filter((each) => each.seq >= deleted.seq),
      'also from within a write',
    )
  })

  test('each commit has its own mark, and another history is detected', async (t, store) => {
    const { id } = await seat(store, 'A')
    const writes = []
    for (let round = 0; round < 20; round++) writes.push(done(await store.updateSeat(writer(), id, {})))
    const last = writes.at(-1) ?? BEGINNING
    t.ok(new Set(writes.map((each) => each.mark)).size > 18)
    for (const { mark } of writes) t.ok(Number.isInteger(mark) && mark > 0 && mark < 2 ** 31)
    t.same(positionOf(await store.seatById('acme', id)), positionOf(last))
    const { head } = await store.changesSince(BEGINNING)
    const strangers: Position[] = writes.map(({ seq, mark }) => ({ seq, mark: mark ^ 1 }))
    strangers.push({ ...head, seq: head.seq + 1 }, { ...head, seq: head.seq - 2 }, { ...head, seq: -1 })
    strangers.push({ seq: head.seq, mark: 0 }, { seq: 0, mark: head.mark }, { seq: -1, mark: 0 })
    for (const position of strangers)
      t.same(await store.changesSince(position), { head, changes: null }, JSON.stringify(position))
    t.same(await store.changesSince(head), { head, changes: [] })
  })

  test('a refused write changes nothing', async (t, store) => {
    const { id } = await seat(store, 'A')
    const other = await seat(store, 'B')
    const before = await store.changesSince(BEGINNING)
    t.equal(
      refused(await store.createSeat(writer(), { name: 'A', spaces: [], permissions: [] })),
      'seat_name_taken',
    )
    t.equal(refused(await store.updateSeat(writer(), other.id, { name: 'A' })), 'seat_name_taken')
    t.equal(refused(await store.updateSeat(writer(), MISSING, {})), 'seat_not_found')
    t.equal(refused(await store.deleteSeat(writer(), MISSING)), 'seat_not_found')
    t.equal(refused(await store.deleteSeat(writer(inSpace('one')), id)), 'grant_exceeds_own')
    t.equal(refused(await store.deleteSeat(writer(inSpace('two')), id)), 'seat_not_found')
    t.equal(
      refused(await store.createApiKey(writer(), { name: 'k', seats: ['A', 'X'], expiresAt: null })),
      'input_invalid',
    )
    t.equal(refused(await store.revokeApiKey(writer(), MISSING)), 'api_key_not_found')
    t.same(await store.changesSince(BEGINNING), before)
    t.same(await namesOf(store, ADMIN), ['A', 'B'])
    t.equal((await store.seatByName('acme', 'B')).value.givenUpAt, null)
  })

  test('changes that are no longer all kept, or too many, are not returned in part', async (t, store) => {
    const { id } = await seat(store, 'A')
    for (let round = 0; round < 600; round++) done(await store.updateSeat(writer(), id, {}))
    const { head, changes } = await store.changesSince(BEGINNING)
    t.same([head.seq, changes], [1202, null])
    const kept = (await store.changesSince(null)).changes ?? []
    t.same([kept.length, kept[0]?.seq, kept.at(-1)?.seq], [1202, 1, 1202], 'but from null all kept changes')
    const from = async (seq: number) =>
      (await store.changesSince({ seq, mark: kept[seq - 1]?.mark ?? 0 })).changes
    t.same(await from(head.seq - 1000), kept.slice(-1000))
    t.equal(await from(head.seq - 1001), null)
  })

  test('names are compared exactly', async (t, store) => {
    const names = [
      'viewer',
      'Viewer',
      'VIEWER',
      'vi\u00e9',
      'vie\u0301',
      'a b',
      'a  b',
      '\ufffd',
      '💺',
      '__proto__',
      '%',
      '_',
    ]
    for (const name of names) await seat(store, name)
    for (const name of names) t.equal((await store.seatByName('acme', name)).value.seat?.name, name)
    for (const no of ['', 'vieweR', 'viewer ', '\ud800', '%%', "x' OR '1'='1"]) {
      t.equal((await store.seatByName('acme', no)).value.seat, null, JSON.stringify(no))
    }
    t.same(await namesOf(store, ADMIN), names, 'and listed in order of creation')
  })

  test('of 100 concurrent creations of one name, one succeeds', async (t, store) => {
    const results = await Promise.all(
      Array.from({ length: 100 }, () =>
        store.createSeat(writer(), { name: 'A', spaces: [], permissions: [] }),
      ),
    )
    t.equal(results.filter((each) => !isRefusal(each)).length, 1)
    t.equal(results.filter((each) => refused(each) === 'seat_name_taken').length, 99)
  })

  test('ids sort in order of creation when the clock steps back', async (t, store) => {
    const ids: string[] = []
    for (const now of [5000, 4000, 4000, 0, 9000, 1]) {
      ids.push((await seat(store, `s${ids.length}`, [], [], writer(ADMIN, now))).id)
      ids.push((await key(store, [], writer(ADMIN, now))).id)
    }
    t.same(ids, ids.toSorted())
    t.equal(new Set(ids).size, ids.length)
  })

  test('a name given up stays marked forever', async (t, store) => {
    const givenUp = async (name: string) => (await store.seatByName('acme', name)).value.givenUpAt
    // The writer's clock is ahead of the store's, so its time counts.
    const ahead = Math.floor(Date.now() / 1000) + 3600
    const at = (seconds: number) => writer(ADMIN, (ahead + seconds) * 1000 + 100)
    const { id } = await seat(store, 'A', [], [], at(10))
    done(await store.updateSeat(at(20), id, { name: 'A' }))
    t.equal(await givenUp('A'), null, 'renamed to itself: not given up')
    done(await store.updateSeat(at(30), id, { name: 'B' }))
    t.same([await givenUp('A'), await givenUp('B')], [ahead + 30, null])
    done(await store.updateSeat(at(40), id, { name: 'A' }))
    t.same([await givenUp('A'), await givenUp('B')], [ahead + 30, ahead + 40], 'also when it is used again')
    done(await store.deleteSeat(at(50), id))
    t.equal(await givenUp('A'), ahead + 50)
    const again = await seat(store, 'A')
    t.equal(await givenUp('A'), ahead + 50, 'also when a Seat is created with it again')
    done(await store.deleteSeat(at(20), again.id))
    t.equal(await givenUp('A'), ahead + 50, 'a clock that steps back removes no mark')
    t.equal((await store.seatByName('globex', 'A')).value.givenUpAt, null, 'in its tenant only')
  })

  test('a name is given up at the later of the store’s time and the writer’s', async (t, store) => {
    const seconds = () => Math.floor(Date.now() / 1000)
    const marked = async (skew: number, name: string) => {
      const { id } = await seat(store, name)
      const before = seconds()
      done(await store.deleteSeat(writer(ADMIN, Date.now() + skew), id))
      return { before, mark: (await store.seatByName('acme', name)).value.givenUpAt ?? 0, after: seconds() }
    }
    const slow = await marked(-3000, 'A')
    t.ok(slow.mark >= slow.before && slow.mark <= slow.after, 'a writer whose clock is behind')
    const fast = await marked(30_000, 'B')
    t.ok(fast.mark >= fast.before + 30, 'a writer whose clock is ahead')
    const { id } = await seat(store, 'C')
    const before = seconds()
    done(await store.updateSeat(writer(ADMIN, 0), id, { name: 'D' }))
    t.ok(((await store.seatByName('acme', 'C')).value.givenUpAt ?? 0) >= before, 'by a rename too')
  })

  test('an API key is found by its id, and its text is not stored', async (t, store) => {
    const a = await seat(store, 'A')
    const b = await seat(store, 'B')
    const made = done(
      await store.createApiKey(writer(ADMIN, 77), { name: 'ci', seats: ['B', 'A'], expiresAt: 99 }),
    )
    const { key: text, ...shown } = made.value
    t.same(parseApiKey(text), { tenant: 'acme', id: shown.id })
    const expected = {
      id: shown.id,
      tenant: 'acme',
      name: 'ci',
      version: 1,
      seats: ['B', 'A'],
      createdBy: 'alice',
      createdAt: 77,
      expiresAt: 99,
      revokedAt: null,
      lastUsedAt: null,
    }
    t.same(shown, expected)
    t.same(await store.readApiKey('acme', shown.id, ADMIN), expected)
    t.same((await store.listApiKeys('acme', { limit: 9, after: null, scope: ADMIN })).data, [expected])
    const stored = await store.apiKeyById('acme', shown.id)
    t.same(positionOf(stored), positionOf(made))
    t.same(stored.value?.seatIds, [b.id, a.id])
    t.same([stored.value?.expiresAt, stored.value?.revokedAt], [99, null])
    t.same([...(stored.value?.hash ?? [])], [...hashApiKey(text)])
    t.not((await key(store, [])).key, (await key(store, [])).key)
  })

  test('a revoked key stays, with the time of the first revocation', async (t, store) => {
    const { id } = await key(store, [])
    for (const now of [1000, 2000]) done(await store.revokeApiKey(writer(ADMIN, now), id))
    t.equal((await store.apiKeyById('acme', id)).value?.revokedAt, 1000)
    t.equal(done(await store.readApiKey('acme', id, ADMIN)).revokedAt, 1000)
    t.equal((await store.listApiKeys('acme', { limit: 9, after: null, scope: ADMIN })).data.length, 1)
  })

  test('the last use of a key never moves back, and changes nothing else', async (t, store) => {
    await seat(store, 'A')
    const [one, two, never] = [await key(store, ['A']), await key(store, ['A']), await key(store, [])]
    const head = await store.changesSince(null)
    const used = async (id: string) => done(await store.readApiKey('acme', id, ADMIN)).lastUsedAt
    const use = (id: string, at: number, tenant = 'acme') => ({ tenant, id, at })
    await store.recordKeyUse([])
    await store.recordKeyUse([use(one.id, 500), use(two.id, 300), use(two.id, 400), use(two.id, 350)])
    t.same([await used(one.id), await used(two.id), await used(never.id)], [500, 400, null])
    await store.recordKeyUse([use(one.id, 499), use(two.id, 401)])
    t.same([await used(one.id), await used(two.id)], [500, 401])
    const unknown = [MISSING, '', '\0', '\ud800', "' OR 1=1 --"].map((id) => use(id, 900))
    await store.recordKeyUse([
      ...unknown,
      use(one.id, 900, 'globex'),
      use(one.id, 900, '\0'),
      use(two.id, 402),
    ])
    t.same([await used(one.id), await used(two.id)], [500, 402], 'unknown keys are ignored')
    done(await store.revokeApiKey(writer(ADMIN, 700), two.id))
    await store.recordKeyUse([use(two.id, 800)])
    t.same(await used(two.id), 800, 'also of a revoked key: a late report of earlier use')
    const { data } = await store.listApiKeys('acme', { limit: 9, after: null, scope: ADMIN })
    t.same(
      data.map(({ lastUsedAt }) => lastUsedAt),
      [500, 800, null],
    )
    const granting = {
      limit: 9,
      after: null,
      scope: ADMIN,
      grant: { permission: 'a:b', space: null, now: 1 },
    }
    t.match((await store.listApiKeys('acme', granting)).data, [{ id: one.id, lastUsedAt: 500 }])
    t.equal((await store.changesSince(head.head)).changes?.length, 1, 'only the revocation is in the feed')
  })

  test('concurrent batches of the same keys in different orders are all recorded', async (t, store) => {
    const ids: string[] = []
    for (let at = 0; at < 60; at++) ids.push((await key(store, [])).id)
    await Promise.all(
      Array.from({ length: 12 }, (_, round) =>
        store.recordKeyUse(
          (round % 2 === 0 ? ids : ids.toReversed()).map((id, at) => ({
            tenant: 'acme',
            id,
            at: round * 100 + at,
          })),
        ),
      ),
    )
    const { data } = await store.listApiKeys('acme', { limit: 100, after: null, scope: ADMIN })
    t.same(
      data.map(({ lastUsedAt }) => lastUsedAt),
      ids.map((_, at) => Math.max(1000 + at, 1100 + 59 - at)),
    )
  })

  test('a key has Seats by id: it follows a rename, and a new Seat of the name does not revive it', async (t, store) => {
    const { id } = await seat(store, 'A')
    const made = await key(store, ['A'])
    const seatsOf = async () => done(await store.readApiKey('acme', made.id, ADMIN)).seats
    done(await store.updateSeat(writer(), id, { name: 'B' }))
    t.same(await seatsOf(), ['B'])
    done(await store.deleteSeat(writer(), id))
    t.same(await seatsOf(), [])
    await seat(store, 'B')
    await seat(store, 'A')
    t.same(await seatsOf(), [])
    t.same((await store.apiKeyById('acme', made.id)).value?.seatIds, [])
  })

  test('unknown Seats of a key are reported by path', async (t, store) => {
    await seat(store, 'A')
    await seat(store, 'theirs', ['one'], [], writer(ADMIN, 1, 'globex'))
    const result = await store.createApiKey(writer(), {
      name: 'k',
      seats: ['X', 'A', 'a', 'theirs'],
      expiresAt: null,
    })
    t.same(isRefusal(result) && result.faults?.map((fault) => fault.path), [
      '/seats/0',
      '/seats/2',
      '/seats/3',
    ])
  })

  test('a writer grants only permissions that it has', async (t, store) => {
    const mine = await seat(store, 'mine', ['one'], ['a:b'])
    const more = await seat(store, 'more', ['one'], ['a:b', 'a:c'])
    const wide = await seat(store, 'wide', ['one', 'two'], ['a:b'])
    const far = await seat(store, 'far', ['two'], ['a:b'])
    const keys = await Promise.all(
      [['mine'], ['more'], ['mine', 'far'], []].map(async (names) => (await key(store, names)).id),
    )
    const as = writer(inSpace('one', 'a:b'))
    const make = async (spaces: string[], permissions: string[]) =>
      refused(await store.createSeat(as, { name: `n${spaces}${permissions}`, spaces, permissions }))
    t.equal(await make(['one'], ['a:b']), 'not refused')
    t.equal(await make(['one'], []), 'not refused')
    for (const spaces of [[], ['two'], ['one', 'two'], ['admin']]) {
      t.equal(await make(spaces, ['a:b']), 'grant_exceeds_own', `spaces ${spaces}`)
    }
    for (const permissions of [['a:c'], ['a:b', 'a:c'], ['*'], ['seats:grant']]) {
      t.equal(await make(['one'], permissions), 'grant_exceeds_own', `permissions ${permissions}`)
    }
    const change = async (id: string, patch: object) => refused(await store.updateSeat(as, id, patch))
    t.equal(await change(mine.id, { name: 'mine too' }), 'not refused')
    t.equal(await change(mine.id, { permissions: ['a:c'] }), 'grant_exceeds_own', 'after')
    t.equal(await change(mine.id, { spaces: ['two'] }), 'grant_exceeds_own', 'after')
    t.equal(
      await change(more.id, { permissions: ['a:b'] }),
      'grant_exceeds_own',
      'before: not even to fewer permissions',
    )
    t.equal(await change(more.id, { name: 'x' }), 'grant_exceeds_own', 'nor a new name')
    t.equal(refused(await store.deleteSeat(as, more.id)), 'grant_exceeds_own')
    for (const seats of [['more'], ['mine too', 'more'], []]) {
      const made = await store.createApiKey(as, { name: 'k', seats, expiresAt: null })
      t.equal(refused(made), 'grant_exceeds_own', `a key of ${seats}`)
    }
    t.equal(await change(wide.id, { spaces: ['one'] }), 'seat_not_found')
    t.equal(await change(far.id, {}), 'seat_not_found')
    t.equal(
      refused(await store.createApiKey(as, { name: 'k', seats: ['mine too'], expiresAt: null })),
      'not refused',
    )
    const revoked = await Promise.all(keys.map(async (id) => refused(await store.revokeApiKey(as, id))))
    t.same(revoked, ['not refused', 'grant_exceeds_own', 'api_key_not_found', 'api_key_not_found'])
    t.equal(refused(await store.deleteSeat(as, mine.id)), 'not refused')
  })

  test('an invisible record gives the same answer as a missing one', async (t, store) => {
    const mine = await seat(store, 'mine', ['one'], ['a:b'])
    const hidden = [
      await seat(store, 'far', ['two'], ['a:b']),
      await seat(store, 'wide', ['one', 'two'], ['a:b']),
      await seat(store, 'nowhere', [], ['a:b']),
      await seat(store, 'boss', ['admin'], ['*']),
    ]
    const keys = []
    for (const names of [['far'], ['mine', 'far'], ['wide'], []]) keys.push((await key(store, names)).id)
    for (const scope of [inSpace('one', 'a:b'), inSpace('one', '*'), inSpace('one', 'seats:grant')]) {
      const as = writer(scope)
      const onSeat = async (id: string) => [
        await store.readSeat('acme', id, scope),
        await store.updateSeat(as, id, {}),
        await store.updateSeat(as, id, { name: 'far' }),
        await store.updateSeat(as, id, { spaces: ['two'], permissions: ['*'] }),
        await store.deleteSeat(as, id),
      ]
      const onKey = async (id: string) => [
        await store.readApiKey('acme', id, scope),
        await store.revokeApiKey(as, id),
      ]
      const keyOf = (name: string) =>
        store.createApiKey(as, { name: 'k', seats: ['mine', name], expiresAt: null })
      const [noSeat, noKey, unknown] = [await onSeat(MISSING), await onKey(MISSING), await keyOf('none')]
      t.equal(refused(unknown), 'input_invalid')
      for (const { id, name } of hidden) {
        t.strictSame(await onSeat(id), noSeat, name)
        t.strictSame(await keyOf(name), unknown, `a key of ${name}`)
      }
      for (const id of keys) t.strictSame(await onKey(id), noKey)
    }
    t.equal(refused(await store.updateSeat(writer(inSpace('one', '*')), mine.id, {})), 'not refused')
    t.same(await namesOf(store, ADMIN), ['mine', 'far', 'wide', 'nowhere', 'boss'], 'and nothing has changed')
  })

  test('the name of an invisible Seat is refused like an exceeding grant', async (t, store) => {
    const mine = await seat(store, 'mine', ['one'], ['a:b'])
    for (const [name, spaces] of [
      ['far', ['two']],
      ['wide', ['one', 'two']],
      ['nowhere', []],
    ] as const)
      await seat(store, name, [...spaces], [])
    const as = writer(inSpace('one', 'a:b'))
    const make = (name: string, permission = 'a:b') =>
      store.createSeat(as, { name, spaces: ['one'], permissions: [permission] })
    const exceeding = await make('free', 'x:y')
    t.equal(refused(exceeding), 'grant_exceeds_own')
    for (const name of ['far', 'wide', 'nowhere']) {
      t.strictSame(await make(name), exceeding, name)
      t.strictSame(await store.updateSeat(as, mine.id, { name }), exceeding, `renamed to ${name}`)
      const admin = await store.createSeat(writer(), { name, spaces: [], permissions: [] })
      t.equal(refused(admin), 'seat_name_taken', 'a writer that may see the Seat is told')
    }
    t.equal(refused(await make('mine')), 'seat_name_taken')
    t.equal(refused(await make('free')), 'not refused')
  })

  test('the last Seat that administrates the tenant is protected', async (t, store) => {
    const both = ['seats:update', 'seats:grant']
    const make = (name: string, spaces: string[], permissions: string[]) =>
      seat(store, name, spaces, permissions)
    const update = async (id: string, patch: object) => refused(await store.updateSeat(writer(), id, patch))
    const remove = async (id: string) => refused(await store.deleteSeat(writer(), id))
    for (const [at, [spaces, permissions]] of [
      [['one'], ['*']],
      [
        ['administration', 'admi', 'Admin'],
        ['*', ...both],
      ],
      [['admin'], ['seats:update']],
      [['admin'], ['seats:grant']],
      [['admin'], ['xseats:update', 'seats:grant.x', 'a:*'.replace('*', 'b')]],
      [[], ['*']],
    ].entries())
      await make(`none ${at}`, spaces as string[], permissions as string[])
    await seat(store, 'theirs', ['admin'], ['*'], writer(ADMIN, 1, 'globex'))
    const last = (await make('last', ['admin'], ['*'])).id
    const before = await store.changesSince(BEGINNING)
    const losses = [
      { permissions: [] },
      { permissions: ['seats:update'] },
      { permissions: ['seats:grant', 'seats:create'] },
      { spaces: [] },
      { spaces: ['one'] },
      { name: 'x', spaces: ['administration'] },
    ]
    for (const loss of losses) t.equal(await update(last, loss), 'last_administrator', JSON.stringify(loss))
    t.equal(await remove(last), 'last_administrator')
    t.same(await store.changesSince(BEGINNING), before, 'a refusal changes nothing')
    t.equal(done(await store.readSeat('acme', last, ADMIN)).name, 'last')

    t.equal(await update(last, {}), 'not refused')
    t.equal(await update(last, { name: 'renamed' }), 'not refused', 'it keeps its rights')
    t.equal(await update(last, { permissions: both }), 'not refused', 'by the other permissions')
    t.equal(await update(last, { spaces: ['one', 'admin', 'two'] }), 'not refused', 'with additional spaces')
    t.equal(await remove(last), 'last_administrator')
    const second = (await make('second', ['two', 'admin'], ['a:b', ...both])).id
    t.equal(await remove(last), 'not refused', 'with a second administrator, whatever its other spaces')
    t.equal(await remove(second), 'last_administrator')
    const third = (await make('third', ['admin'], ['*'])).id
    t.equal(await update(second, { permissions: [] }), 'not refused')
    t.equal(await update(second, { spaces: [] }), 'not refused', 'no longer an administrator')
    t.equal(await remove(second), 'not refused')
    t.equal(await remove(third), 'last_administrator')
    t.same(
      (await Promise.all((await allOf(store)).map(remove))).filter((each) => each !== 'not refused'),
      ['last_administrator'],
      'all others are deleted',
    )
  })

  test('in a tenant without an administrator, Seats can lose rights and be deleted', async (t, store) => {
    const ids = []
    for (const [name, spaces] of [
      ['a', ['admin']],
      ['b', ['one']],
    ] as const)
      ids.push((await seat(store, name, [...spaces], ['seats:update'])).id)
    for (const id of ids) {
      t.equal(refused(await store.updateSeat(writer(), id, { permissions: [], spaces: [] })), 'not refused')
      t.equal(refused(await store.deleteSeat(writer(), id)), 'not refused')
    }
  })

  test('the admin space is the configured one', async (t, store) => {
    const { id } = await seat(store, 'ops', ['ops'], ['*'])
    await seat(store, 'admin', ['admin'], ['*'])
    const ops = writer({ ...ADMIN, space: 'ops' })
    t.equal(refused(await store.deleteSeat(ops, id)), 'last_administrator')
    t.equal(
      refused(await store.deleteSeat(writer(inSpace('ops', '*')), id)),
      'not refused',
      'an ordinary space',
    )
  })

  test('of two concurrent removals of the last two administrators, one succeeds', async (t, store) => {
    for (let round = 0; round < 10; round++) {
      const [a, b] = [await seat(store, 'a', ['admin'], ['*']), await seat(store, 'b', ['admin', 'x'], ['*'])]
      const results = await Promise.all([
        store.deleteSeat(writer(), a.id),
        store.updateSeat(writer(), b.id, { permissions: [] }),
      ])
      t.same(results.map(refused).toSorted(), ['last_administrator', 'not refused'])
      await seat(store, 'c', ['admin'], ['*'])
      for (const id of await allOf(store)) await store.deleteSeat(writer(), id)
      const [left = ''] = await allOf(store)
      done(await store.updateSeat(writer({ ...ADMIN, space: 'none' }), left, { permissions: [] }))
      done(await store.deleteSeat(writer(), left))
    }
  })

  test('outside the admin space only records entirely of that space are visible', async (t, store) => {
    const one = await seat(store, 'one only', ['one'], ['*'])
    const both = await seat(store, 'both', ['one', 'two'])
    const none = await seat(store, 'none', [])
    const keys = []
    for (const names of [['one only'], ['one only', 'both'], ['both'], []])
      keys.push((await key(store, names)).id)
    const scope = inSpace('one')
    t.same(await namesOf(store, scope), ['one only'])
    t.same(await namesOf(store, inSpace('two', '*')), [])
    t.equal(done(await store.readSeat('acme', one.id, scope)).name, 'one only')
    for (const { id } of [both, none])
      t.equal(refused(await store.readSeat('acme', id, scope)), 'seat_not_found')
    const seen = (await store.listApiKeys('acme', { limit: 9, after: null, scope })).data
    t.same(
      seen.map((each) => each.id),
      keys.slice(0, 1),
    )
    const read = await Promise.all(keys.map(async (id) => refused(await store.readApiKey('acme', id, scope))))
    t.same(read, ['not refused', ...Array(3).fill('api_key_not_found')])
    t.equal((await store.listApiKeys('acme', { limit: 9, after: null, scope: ADMIN })).data.length, 4)
  })

  test('pages', async (t, store) => {
    for (let made = 0; made < 7; made++) await seat(store, `s${made}`, made % 2 === 0 ? ['one'] : ['two'])
    const pages = async (scope: Scope, limit: number) => {
      const found: string[][] = []
      for (let after: string | null = null; ;) {
        const { data, hasMore } = await store.listSeats('acme', { limit, after, scope })
        found.push(data.map((each) => each.name))
        if (!hasMore) return found
        after = data.at(-1)?.id ?? null
      }
    }
    t.same(await pages(ADMIN, 3), [['s0', 's1', 's2'], ['s3', 's4', 's5'], ['s6']])
    t.same(await pages(ADMIN, 7), [['s0', 's1', 's2', 's3', 's4', 's5', 's6']], 'has_more is exact')
    t.same(await pages(inSpace('one'), 2), [
      ['s0', 's2'],
      ['s4', 's6'],
    ])
    const past = await store.listSeats('acme', {
      limit: 5,
      after: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
      scope: ADMIN,
    })
    t.same(past, { data: [], hasMore: false, next: null })
  })

  test('pages stay correct while Seats are created and deleted', async (t, store) => {
    const made = []
    for (let at = 0; at < 30; at++) made.push(await seat(store, `s${at}`))
    const listed: string[] = []
    for (let after: string | null = null, more = true; more;) {
      const { data, hasMore } = await store.listSeats('acme', { limit: 4, after, scope: ADMIN })
      listed.push(...data.map((each) => each.name))
      more = hasMore
      after = data.at(-1)?.id ?? null
      // Deletes the last Seat read, which is the cursor, and the next one; creates another.
      if (listed.length >= 20) continue
      if (after !== null) done(await store.deleteSeat(writer(), after))
      const coming = made[listed.length + 1]
      if (coming !== undefined) done(await store.deleteSeat(writer(), coming.id))
      await seat(store, `new ${listed.length}`)
      made.splice(listed.length + 1, 1)
    }
    t.equal(new Set(listed).size, listed.length, 'no duplicates')
    const expected = [...made.map((each) => each.name), ...listed.filter((name) => name.startsWith('new'))]
    t.same(listed, expected, 'every Seat that stayed, in order')
    t.equal(listed.filter((name) => name.startsWith('new')).length, 4)
  })

  test('members are the users whose latest sign-in had the Seat', async (t, store) => {
    const a = (await seat(store, 'A')).id
    const b = (await seat(store, 'B')).id
    const counts = async () =>
      (await store.listSeats('acme', { limit: 9, after: null, scope: ADMIN })).data.map(
        (each) => each.memberCount,
      )
    await store.recordSignIn('acme', signedIn('ann'), [a, b, a])
    await store.recordSignIn('acme', signedIn('ben'), [a])
    t.same(await counts(), [2, 1])
    await store.recordSignIn('acme', signedIn('ben'), [a])
    t.same(await counts(), [2, 1], 'each user once')
    await store.recordSignIn('acme', signedIn('ann'), [b])
    t.same(await counts(), [1, 1], 'the latest sign-in counts')
    await store.recordSignIn('acme', signedIn('ann'), [MISSING, a])
    t.same(await counts(), [2, 0], 'a deleted Seat is skipped')
    await store.recordSignIn('globex', signedIn('ann'), [a])
    t.same(await counts(), [2, 0], 'tenants are separate')
    done(await store.deleteSeat(writer(), a))
    const again = (await seat(store, 'A')).id
    t.same(await counts(), [0, 0], 'members are deleted with their Seat')
    await store.recordSignIn('acme', signedIn('ann'), [again])
    await store.recordSignIn('acme', signedIn('ann'), [])
    t.same(await counts(), [0, 0])
  })

  test('tenants are separate', async (t, store) => {
    const ours = await seat(store, 'A')
    const ourKey = await key(store, ['A'])
    const theirs = await seat(store, 'A', ['x'], ['x:x'], writer(ADMIN, 1, 'globex'))
    const as = writer(ADMIN, 1, 'globex')
    t.equal((await store.seatByName('globex', 'A')).value.seat?.id, theirs.id)
    t.equal((await store.seatById('globex', ours.id)).value, null)
    t.equal((await store.apiKeyById('globex', ourKey.id)).value, null)
    t.equal(refused(await store.readSeat('globex', ours.id, ADMIN)), 'seat_not_found')
    t.equal(refused(await store.readApiKey('globex', ourKey.id, ADMIN)), 'api_key_not_found')
    t.equal(refused(await store.updateSeat(as, ours.id, { name: 'B' })), 'seat_not_found')
    t.equal(refused(await store.deleteSeat(as, ours.id)), 'seat_not_found')
    t.equal(refused(await store.revokeApiKey(as, ourKey.id)), 'api_key_not_found')
    t.same((await store.listSeats('globex', { limit: 9, after: null, scope: ADMIN })).data.length, 1)
    t.same((await store.listApiKeys('globex', { limit: 9, after: null, scope: ADMIN })).data.length, 0)
  })

  test('large Seats and unusual ids', async (t, store) => {
    const spaces = Array.from({ length: 2000 }, (_, at) => `space-${at}`)
    const permissions = Array.from({ length: 20_000 }, (_, at) => `resource-${at}:read`)
    const { id } = await seat(store, 'x'.repeat(256), spaces, permissions)
    t.same(done(await store.readSeat('acme', id, ADMIN)).permissions, permissions)
    for (const odd of ['', '0', "' OR 1=1 --", '\0', '\ud800', 'x'.repeat(100_000), id.toLowerCase()]) {
      t.equal(refused(await store.readSeat('acme', odd, ADMIN)), 'seat_not_found')
      t.equal(refused(await store.revokeApiKey(writer(), odd)), 'api_key_not_found')
      t.equal((await store.apiKeyById('acme', odd)).value, null)
    }
  })

  test('a read never has a value newer than its seq, nor a seq newer than its value', async (t, store) => {
    const { id } = await seat(store, 'A', ['0'])
    const history = new Map<number, string>([[(await store.changesSince(BEGINNING)).head.seq, '0']])
    let writing = true
    const wrong: string[] = []
    const reads = Array.from({ length: 4 }, async () => {
      const seen: [number, string | undefined][] = []
      while (writing) {
        const { seq, value } = await store.seatById('acme', id)
        seen.push([seq, value?.spaces[0]])
      }
      return seen
    })
    for (let round = 1; round <= 100; round++) {
      const { seq } = done(await store.updateSeat(writer(), id, { spaces: [String(round)] }))
      history.set(seq, String(round))
    }
    writing = false
    for (const [seq, space] of (await Promise.all(reads)).flat()) {
      if (history.get(seq) !== space) wrong.push(`${seq}: ${space}`)
    }
    t.same(wrong, [])
  })

  test('the name of a writer may be any text', async (t, store) => {
    for (const by of ['', '\0', 'a\ud800b', 'x'.repeat(20_000), "'; --"]) {
      const made = done(await store.createSeat({ ...writer(), by }, { name: `of ${by.length}`, ...NOTHING }))
      const again = done(await store.updateSeat({ ...writer(), by }, made.value.id, {}))
      const read = done(await store.readSeat('acme', made.value.id, ADMIN))
      t.equal(read.updatedBy?.length, by.length, 'characters that a store can not hold are replaced')
      t.same({ ...read, createdBy: by, updatedBy: by }, { ...again.value, createdBy: by, updatedBy: by })
      const { id } = await key(store, [], { ...writer(), by })
      t.equal(refused(await store.readApiKey('acme', id, ADMIN)), 'not refused')
      await store.recordSignIn('acme', signedIn(by), [made.value.id, '\0', '\ud800'])
    }
    const { data } = await store.listSeats('acme', { limit: 9, after: null, scope: ADMIN })
    t.same(
      data.map((each) => each.memberCount),
      [1, 1, 1, 1, 1],
    )
  })

  test('names of Seats that no Seat can have are unknown', async (t, store) => {
    await seat(store, '\ufffd')
    for (const name of ['\0', '\ud800', 'x'.repeat(100_000)])
      t.equal(
        refused(await store.createApiKey(writer(), { name: 'k', seats: [name], expiresAt: null })),
        'input_invalid',
      )
  })

  test('a closed store reports this, and closing is idempotent', async (t, store) => {
    await seat(store, 'A')
    const last = store.createSeat(writer(), { name: 'B', spaces: [], permissions: [] })
    await Promise.all([store.close(), store.close()])
    t.equal(refused(await last), 'not refused', 'calls made before are still answered')
    await t.rejects(store.seatByName('acme', 'A'), { name: 'StoreUnavailable' })
    await t.rejects(store.createSeat(writer(), { name: 'C', spaces: [], permissions: [] }), {
      name: 'StoreUnavailable',
    })
    await store.close()
  })
}
