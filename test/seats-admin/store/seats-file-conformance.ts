/** Changes of many Seats at once, on every driver: what a file of Seats makes of a tenant, all or nothing. */

import type { Test } from 'tap'
import type { Scope, Store } from '../../../seats-admin/index.ts'
import { isRefusal } from '../../../seats-admin/model/refusal.ts'
import type { WantedSeats } from '../../../seats-admin/model/seat.ts'
import type { SeatsPlan } from '../../../seats-admin/model/planned-seats.ts'
import { versionOf } from '../../../seats-admin/store/seats-file-rules.ts'
import { chainOf, faultsOf } from './audit-chain.ts'
import {
  ADMIN,
  allSeats,
  column,
  done,
  inSpace,
  key,
  NOTHING,
  numbered,
  refused,
  seat,
  signedIn,
  suite,
  writer,
} from './conformance.ts'

type Item = readonly [spaces: readonly string[], permissions: readonly string[], was?: string]

export function wanted(items: Readonly<Record<string, Item>>, prune = false): WantedSeats {
  const seats = Object.entries(items).map(([name, [spaces, permissions, was = null]]) => ({
    name,
    spaces,
    permissions,
    was,
  }))
  return { seats, prune }
}

function versionsOf({ changes }: SeatsPlan): Map<string, string | null> {
  return new Map(changes.map((change) => [change.name, versionOf(change)]))
}

export const seatsFileConformance = suite((test) => {
  const plan = async (store: Store, file: WantedSeats, scope: Scope = ADMIN) =>
    done(await store.planSeats({ tenant: 'acme', scope, now: Date.now() }, file))
  const apply = (store: Store, file: WantedSeats, scope: Scope = ADMIN) =>
    store.applySeats(writer(scope), file, null)
  const stateOf = async (store: Store) =>
    Object.fromEntries(
      (await allSeats(store)).map(({ name, spaces, permissions }) => [name, [spaces, permissions]]),
    )
  /** The refusal leaves nothing. Returns the paths of its faults. */
  const leavesNothing = async (t: Test, store: Store, run: () => Promise<unknown>, code: string) => {
    const all = async () => [await stateOf(store), await store.changesSince(null), await chainOf(store)]
    const before = await all()
    const result = await run()
    t.equal(refused(result), code)
    t.same(await all(), before, code)
    return isRefusal(result) ? column(result.faults ?? [], 'path') : null
  }

  test('creates, changes, renames and deletes, and then there is nothing to do', async (t, store) => {
    const [kept, changed, old, gone] = await Promise.all([
      seat(store, 'Kept', ['b', 'a'], ['x:y', 'a:b']),
      seat(store, 'Changed'),
      seat(store, 'Old'),
      seat(store, 'Gone'),
    ])
    const { id } = await key(store, ['Gone', 'Old'])
    await store.recordSignIn('acme', signedIn('ann'), [changed.id])
    const given: Record<string, Item> = {
      Kept: [
        ['a', 'b'],
        ['a:b', 'x:y'],
      ],
      Changed: [['one', 'two'], ['c:d']],
      New: [['three'], ['*'], 'Old'],
      Made: [[], []],
    }
    const file = wanted(given, true)
    const planned = await plan(store, file)
    t.match(planned, {
      unchanged: 1,
      unnamed: { count: 0, names: [] },
      changes: [
        { action: 'create', name: 'Made', before: null, keys: { count: 0 } },
        { action: 'update', name: 'Changed', before: { id: changed.id, memberCount: 1 }, keys: { count: 0 } },
        { action: 'update', name: 'New', before: { id: old.id }, keys: { count: 1, names: ['ci'] } },
        { action: 'delete', name: 'Gone', before: { id: gone.id }, keys: { count: 1, names: ['ci'] } },
      ],
    })
    const before = await store.changesSince(null)
    const applied = done(await store.applySeats(writer(), file, versionsOf(planned)))
    t.match(applied, {
      unchanged: 1,
      changes: [
        { action: 'create', name: 'Made', was: null },
        { action: 'update', name: 'Changed', was: null, id: changed.id },
        { action: 'update', name: 'New', was: 'Old', id: old.id },
        { action: 'delete', name: 'Gone', was: null, id: gone.id },
      ],
    })
    t.same(await stateOf(store), {
      Kept: [
        ['b', 'a'],
        ['x:y', 'a:b'],
      ],
      Changed: [['one', 'two'], ['c:d']],
      New: [['three'], ['*']],
      Made: [[], []],
    })
    t.equal((await store.seatByName('acme', 'Kept')).value.seat?.version, kept.version, 'not written')
    const { committed } = applied
    const feed = await store.changesSince(before.head)
    t.same(feed.changes, numbered(committed), 'all of it in the feed')
    const keysOf = (kind: string) =>
      committed.changes.filter((each) => each.kind === kind).map((each) => each.key)
    t.same(keysOf('seat-name').toSorted(), ['Changed', 'Gone', 'Made', 'New', 'Old'])
    t.same(keysOf('api-key'), [id])
    for (const name of ['Old', 'Gone'])
      t.ok((await store.seatByName('acme', name)).value.givenUpAt !== null, `${name} is marked`)

    const entries = await chainOf(store)
    t.same(faultsOf(entries), [])
    t.match(entries.slice(-4), [
      { action: 'seat.create', target: { name: 'Made' }, before: null, after: { name: 'Made' } },
      {
        action: 'seat.update',
        target: { name: 'Changed' },
        before: { name: 'Changed' },
        after: { name: 'Changed' },
      },
      { action: 'seat.update', target: { name: 'New' }, before: { name: 'Old' }, after: { name: 'New' } },
      { action: 'seat.delete', target: { name: 'Gone' }, before: { name: 'Gone' }, after: null },
    ])
    t.match(await plan(store, file), { unchanged: 4, changes: [] }, 'the former name stays in the file')
    t.match(done(await apply(store, file)), {
      unchanged: 4,
      changes: [],
      committed: { ...feed.head, changes: [] },
    })
  })

  test('what no file names is left alone, and counted', async (t, store) => {
    for (let at = 0; at < 30; at++) await seat(store, `Seat ${String(at).padStart(2, '0')}`)
    const planned = await plan(store, wanted({ 'Seat 07': [['one'], ['a:b']] }))
    t.match(planned, { changes: [], unchanged: 1, unnamed: { count: 29 } })
    t.equal(planned.unnamed.names.length, 20)
    done(await apply(store, wanted({ 'Seat 07': [['one'], ['c:d']] })))
    t.equal(Object.keys(await stateOf(store)).length, 30)
  })

  test('faults of a file', async (t, store) => {
    for (const name of ['A', 'B']) await seat(store, name)
    const faulty: [WantedSeats, string][] = [
      [wanted({ A: [[], [], 'A'] }), '/seats/A/was'],
      [wanted({ A: [[], [], 'B'], B: [[], []] }), '/seats/A/was'],
      [wanted({ X: [[], [], 'B'], Y: [[], [], 'B'] }), '/seats/Y/was'],
      [wanted({ A: [[], [], 'B'] }), '/seats/A/was'],
      [wanted({ 'a/b~c': [[], [], 'a/b~c'] }), '/seats/a~1b~0c/was'],
    ]
    for (const [file, path] of faulty) {
      t.same(await leavesNothing(t, store, () => apply(store, file), 'input_invalid'), [path])
      t.equal(refused(await store.planSeats({ tenant: 'acme', scope: ADMIN, now: 0 }, file)), 'input_invalid')
    }
    const large = wanted({
      A: [['one'], ['a:b']],
      Large: [['one'], Array.from({ length: 50 }, (_, at) => `p${at}:x`)],
    })
    const applied = () => store.applySeats({ ...writer(), seatBytes: 300 }, large, null)
    t.same(await leavesNothing(t, store, applied, 'input_invalid'), ['/seats/Large/permissions'])
    const planned = await store.planSeats({ tenant: 'acme', scope: ADMIN, now: 0, seatBytes: 300 }, large)
    t.match(planned, { faults: [{ path: '/seats/Large/permissions' }] }, 'a plan says so before')
  })

  test('names of JavaScript itself are names like others', async (t, store) => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const lists = { spaces: ['one'], permissions: ['a:b'], was: null }
    const file = { prune: false, seats: names.map((name) => ({ name, ...lists })) }
    t.equal((await plan(store, file)).changes.length, 4)
    done(await apply(store, file))
    t.match(await plan(store, file), { changes: [], unchanged: 4 })
  })

  test('a plan is bound to the versions that it saw', async (t, store) => {
    const { id } = await seat(store, 'A')
    await seat(store, 'Other')
    const file = wanted({ A: [['two'], ['a:b']], New: [[], []] })
    const versions = versionsOf(await plan(store, file))
    const stale = (given = versions) =>
      leavesNothing(t, store, () => store.applySeats(writer(), file, given), 'precondition_failed')
    await stale(new Map())
    await stale(new Map([...versions, ['Other', '"1-aaaaaaaaaaaa"']]))
    await stale(new Map([...versions, ['New', '"1-aaaaaaaaaaaa"']]))
    await stale(new Map([['A', versions.get('A') ?? null]]))
    const { name } = done(await store.updateSeat(writer(), id, {})).value
    t.equal(name, 'A')
    await stale()
    const again = versionsOf(await plan(store, file))
    const made = await seat(store, 'New')
    await stale(again)
    done(await store.deleteSeat(writer(), made.id))
    done(await store.updateSeat(writer(), (await seat(store, 'Unrelated')).id, {}))
    done(await store.applySeats(writer(), file, again))
    await stale(again)
  })

  test('rights are those of single writes', async (t, store) => {
    await seat(store, 'A')
    const create = wanted({ New: [['one'], ['a:b']] })
    const update = wanted({ A: [['one'], ['a:b', 'c:d']] })
    const prune = wanted({}, true)
    const holding = (...permissions: string[]) => inSpace('admin', 'a:b', 'c:d', ...permissions)
    const denied = (file: WantedSeats, scope: Scope, code = 'permission_denied') =>
      leavesNothing(t, store, () => apply(store, file, scope), code)
    await denied(create, holding('seats:update', 'seats:delete'))
    await denied(update, holding('seats:create', 'seats:delete'))
    await denied(prune, holding('seats:create', 'seats:update'))
    await denied(wanted({ New: [['one'], ['e:f']] }), holding('seats:create'), 'grant_exceeds_own')
    await denied(wanted({ A: [['one'], ['e:f']] }), holding('seats:update'), 'grant_exceeds_own')
    const one = wanted({
      ...Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`S${at}`, [['one'], ['a:b']] as Item])),
      S50: [['one'], ['*']],
    })
    await denied(one, holding('seats:create'), 'grant_exceeds_own')
    done(await apply(store, wanted({ New: [['one'], ['e:f']] }), holding('seats:create', 'seats:grant')))
    await denied(wanted({ A: [['one'], ['a:b']] }, true), holding('seats:delete'), 'grant_exceeds_own')
  })

  test('an administrator of a space sees and manages its Seats alone', async (t, store) => {
    const scope = inSpace('one', 'seats:create', 'seats:update', 'seats:delete', 'a:b')
    await seat(store, 'Own')
    await seat(store, 'Shared', ['one', 'two'])
    await seat(store, 'Elsewhere', ['two'])
    const hidden = (name: string) => wanted({ [name]: [['one'], ['a:b']] })
    for (const name of ['Shared', 'Elsewhere']) {
      await leavesNothing(t, store, () => apply(store, hidden(name), scope), 'grant_exceeds_own')
      const reader = { tenant: 'acme', scope, now: Date.now() }
      t.equal(refused(await store.planSeats(reader, hidden(name))), 'grant_exceeds_own')
    }
    t.match(await plan(store, wanted({}), scope), { unnamed: { count: 1, names: ['Own'] } })
    const elsewhere = wanted({ New: [['two'], ['a:b']] })
    await leavesNothing(t, store, () => apply(store, elsewhere, scope), 'grant_exceeds_own')
    done(await apply(store, wanted({ New: [['one'], ['a:b'], 'Elsewhere'] }), scope))
    done(await apply(store, wanted({}, true), scope))
    t.same(Object.keys(await stateOf(store)).toSorted(), ['Elsewhere', 'Shared'])
  })

  test('keys that the reader may not see, that expired or were revoked, are not counted', async (t, store) => {
    await seat(store, 'Own')
    await seat(store, 'Other', ['two'])
    for (let at = 0; at < 12; at++) await key(store, ['Own'])
    await key(store, ['Own', 'Other'])
    await key(store, ['Own'], { expiresAt: Date.now() - 1 })
    done(await store.revokeApiKey(writer(), (await key(store, ['Own'])).id))
    const file = wanted({ Own: [['one'], []] })
    const [own] = (await plan(store, file)).changes
    t.same([own?.keys.count, own?.keys.names.length], [13, 10])
    const [seen] = (await plan(store, file, inSpace('one', 'seats:read'))).changes
    t.equal(seen?.keys.count, 12)
  })

  test('the last administrator is judged by the state after all changes', async (t, store) => {
    await seat(store, 'admin', ['admin'], ['*'])
    const away: Record<string, Item> = { admin: [['admin'], ['seats:list']] }
    await leavesNothing(t, store, () => apply(store, wanted(away)), 'last_administrator')
    await leavesNothing(t, store, () => apply(store, wanted({}, true)), 'last_administrator')
    done(await apply(store, wanted({ ...away, boss: [['admin'], ['seats:update', 'seats:grant']] })))
    done(await apply(store, wanted({ chief: [['admin', 'x'], ['*'], 'boss'] }, true)))
    t.same(Object.keys(await stateOf(store)), ['chief'])
    await seat(store, 'second', ['admin'], ['*'])
    done(await apply(store, wanted({ chief: [['x'], []] })))
    await leavesNothing(t, store, () => apply(store, wanted({ second: [['x'], []] })), 'last_administrator')
  })

  test('5,000 Seats: planned, applied, and then nothing to do', async (t, store) => {
    const items = Array.from({ length: 5000 }, (_, at): [string, Item] => [
      `Seat ${at}`,
      [
        [`space-${at % 50}`],
        Array.from({ length: 5 + (at % 20) }, (_unused, each) => `thing-${each}:op-${at % 7}`),
      ],
    ])
    const file = wanted(Object.fromEntries(items))
    const planned = await plan(store, file)
    t.equal(planned.changes.length, 5000)
    t.equal(done(await store.applySeats(writer(), file, versionsOf(planned))).changes.length, 5000)
    t.match(await plan(store, file), { changes: [], unchanged: 5000 })
    const half = items.slice(0, 2500)
    const changed = wanted(
      Object.fromEntries(half.map(([name, [, permissions]]) => [name, [['moved'], permissions] as Item])),
      true,
    )
    t.equal(done(await apply(store, changed)).changes.length, 5000, 'one half changed, the other deleted')
    t.match(await plan(store, changed), { changes: [], unchanged: 2500, unnamed: { count: 0 } })
    t.same(faultsOf(await chainOf(store)), [])
    const { changes } = await store.changesSince(null)
    t.ok((changes ?? []).length >= 10_000, 'the feed goes on')
    const one = done(await store.createSeat(writer(), { name: 'After', ...NOTHING }))
    const position = { seq: one.seq - 2, mark: (changes ?? []).at(-1)?.mark ?? 0 }
    t.same((await store.changesSince(position)).changes, numbered(one))
  })
})
