/** Seats, on every driver. */

import { seatSize } from '../../../seats-admin/model/seat.ts'
import { isUlid } from '../../../seats-admin/model/ulid.ts'
import {
  ADMIN,
  allNames,
  allSeats,
  BEGINNING,
  done,
  key,
  MISSING,
  PAGE,
  positionOf,
  refused,
  seat,
  suite,
  tried,
  writer,
} from './conformance.ts'

export const seatConformance = suite((test) => {
  test('a new store is empty', async (t, store) => {
    for (const position of [BEGINNING, null])
      t.same(await store.changesSince(position), { head: BEGINNING, changes: [] })
    t.same(await store.seatByName('acme', 'x'), { ...BEGINNING, value: { seat: null, givenUpAt: null } })
    t.same(await store.spacesByName('acme', 'x'), { ...BEGINNING, value: null })
    t.same(await store.seatById('acme', MISSING), { ...BEGINNING, value: null })
    t.same(await store.apiKeyById('acme', MISSING), { ...BEGINNING, value: null })
    const none = { data: [], hasMore: false, next: null }
    t.same(await store.listSeats('acme', PAGE), none)
    t.same(await store.listApiKeys('acme', PAGE), none)
  })

  test('a Seat is read as it was created', async (t, store) => {
    const wanted = { name: 'Viewer', spaces: ['b', 'a'], permissions: ['z:z', '*'] }
    const made = done(await store.createSeat(writer(ADMIN, 1234), wanted))
    const written = { createdBy: 'alice', createdAt: 1234, updatedBy: null, updatedAt: null }
    const expected = { ...wanted, id: made.value.id, tenant: 'acme', version: 1, ...written }
    t.ok(isUlid(made.value.id))
    t.same(made.value, expected)
    t.same(await store.seatByName('acme', 'Viewer'), {
      ...positionOf(made),
      value: { seat: expected, givenUpAt: null },
    })
    t.same(await store.seatById('acme', made.value.id), { ...positionOf(made), value: expected })
    t.same(await store.readSeat('acme', made.value.id, ADMIN), expected)
    t.same(await allSeats(store), [{ ...expected, memberCount: 0 }])
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

  test('names are compared exactly', async (t, store) => {
    const alike = ['viewer', 'Viewer', 'VIEWER', 'vi\u00e9', 'vie\u0301', 'a b', 'a  b']
    const names = [...alike, '\ufffd', '💺', '__proto__', '%', '_']
    for (const name of names) await seat(store, name)
    for (const name of names) t.equal((await store.seatByName('acme', name)).value.seat?.name, name)
    for (const no of ['', 'vieweR', 'viewer ', '\ud800', '%%', "x' OR '1'='1"]) {
      t.equal((await store.seatByName('acme', no)).value.seat, null, JSON.stringify(no))
    }
    t.same(await allNames(store), names, 'and listed in order of creation')
  })

  test('of 100 concurrent creations of one name, one succeeds', async (t, store) => {
    const { create } = tried(store)
    const results = await Promise.all(Array.from({ length: 100 }, () => create('A')))
    t.same(results.toSorted(), ['not refused', ...Array(99).fill('seat_name_taken')])
  })

  test('ids sort in order of creation when the clock steps back', async (t, store) => {
    const ids: string[] = []
    for (const now of [5000, 4000, 4000, 0, 9000, 1]) {
      ids.push((await seat(store, `s${ids.length}`, [], [], writer(ADMIN, now))).id)
      ids.push((await key(store, [], { as: writer(ADMIN, now) })).id)
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
})
