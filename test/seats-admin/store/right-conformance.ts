/** What a writer may see and grant, on every driver. */

import {
  ADMIN,
  allNames,
  allSeats,
  BEGINNING,
  column,
  done,
  inSpace,
  key,
  MISSING,
  NOTHING,
  refused,
  seat,
  suite,
  tried,
  writer,
} from './conformance.ts'

export const rightConformance = suite((test) => {
  test('a writer grants only permissions that it has', async (t, store) => {
    const mine = await seat(store, 'mine', ['one'], ['a:b'])
    const more = await seat(store, 'more', ['one'], ['a:b', 'a:c'])
    const wide = await seat(store, 'wide', ['one', 'two'], ['a:b'])
    const far = await seat(store, 'far', ['two'], ['a:b'])
    const keys = await Promise.all(
      [['mine'], ['more'], ['mine', 'far'], []].map(async (names) => (await key(store, names)).id),
    )
    const as = writer(inSpace('one', 'a:b'))
    const { create, update: change, remove, createKey, revoke } = tried(store, as)
    const make = (spaces: string[], permissions: string[]) =>
      create(`n${spaces}${permissions}`, spaces, permissions)
    t.equal(await make(['one'], ['a:b']), 'not refused')
    t.equal(await make(['one'], []), 'not refused')
    for (const spaces of [[], ['two'], ['one', 'two'], ['admin']]) {
      t.equal(await make(spaces, ['a:b']), 'grant_exceeds_own', `spaces ${spaces}`)
    }
    for (const permissions of [['a:c'], ['a:b', 'a:c'], ['*'], ['seats:grant']]) {
      t.equal(await make(['one'], permissions), 'grant_exceeds_own', `permissions ${permissions}`)
    }
    t.equal(await change(mine.id, { name: 'mine too' }), 'not refused')
    t.equal(await change(mine.id, { permissions: ['a:c'] }), 'grant_exceeds_own', 'after')
    t.equal(await change(mine.id, { spaces: ['two'] }), 'grant_exceeds_own', 'after')
    t.equal(
      await change(more.id, { permissions: ['a:b'] }),
      'grant_exceeds_own',
      'before: not even to fewer permissions',
    )
    t.equal(await change(more.id, { name: 'x' }), 'grant_exceeds_own', 'nor a new name')
    t.equal(await remove(more.id), 'grant_exceeds_own')
    for (const seats of [['more'], ['mine too', 'more'], []])
      t.equal(await createKey(seats), 'grant_exceeds_own', `a key of ${seats}`)
    t.equal(await change(wide.id, { spaces: ['one'] }), 'seat_not_found')
    t.equal(await change(far.id, {}), 'seat_not_found')
    t.equal(await createKey(['mine too']), 'not refused')
    const revoked = await Promise.all(keys.map(revoke))
    t.same(revoked, ['not refused', 'grant_exceeds_own', 'api_key_not_found', 'api_key_not_found'])
    t.equal(await remove(mine.id), 'not refused')
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
    t.same(await allNames(store), ['mine', 'far', 'wide', 'nowhere', 'boss'], 'and nothing has changed')
  })

  test('the name of an invisible Seat is refused like an exceeding grant', async (t, store) => {
    const mine = await seat(store, 'mine', ['one'], ['a:b'])
    await seat(store, 'far', ['two'], [])
    await seat(store, 'wide', ['one', 'two'], [])
    await seat(store, 'nowhere', [], [])
    const as = writer(inSpace('one', 'a:b'))
    const make = (name: string, permission = 'a:b') =>
      store.createSeat(as, { name, spaces: ['one'], permissions: [permission] })
    const exceeding = await make('free', 'x:y')
    t.equal(refused(exceeding), 'grant_exceeds_own')
    for (const name of ['far', 'wide', 'nowhere']) {
      t.strictSame(await make(name), exceeding, name)
      t.strictSame(await store.updateSeat(as, mine.id, { name }), exceeding, `renamed to ${name}`)
      t.equal(await tried(store).create(name), 'seat_name_taken', 'a writer that may see the Seat is told')
    }
    t.equal(refused(await make('mine')), 'seat_name_taken')
    t.equal(refused(await make('free')), 'not refused')
  })

  test('the last Seat that administrates the tenant is protected', async (t, store) => {
    const both = ['seats:update', 'seats:grant']
    const { update, remove } = tried(store)
    await seat(store, 'elsewhere', ['one'], ['*'])
    await seat(store, 'nowhere', [], ['*'])
    await seat(store, 'similar spaces', ['administration', 'admi', 'Admin'], ['*', ...both])
    await seat(store, 'update', ['admin'], ['seats:update'])
    await seat(store, 'grant', ['admin'], ['seats:grant'])
    await seat(store, 'similar permissions', ['admin'], ['xseats:update', 'seats:grant.x', 'a:b'])
    await seat(store, 'theirs', ['admin'], ['*'], writer(ADMIN, 1, 'globex'))
    const last = (await seat(store, 'last', ['admin'], ['*'])).id
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
    const second = (await seat(store, 'second', ['two', 'admin'], ['a:b', ...both])).id
    t.equal(await remove(last), 'not refused', 'with a second administrator, whatever its other spaces')
    t.equal(await remove(second), 'last_administrator')
    const third = (await seat(store, 'third', ['admin'], ['*'])).id
    t.equal(await update(second, { permissions: [] }), 'not refused')
    t.equal(await update(second, { spaces: [] }), 'not refused', 'no longer an administrator')
    t.equal(await remove(second), 'not refused')
    t.equal(await remove(third), 'last_administrator')
    const removed = await Promise.all(column(await allSeats(store), 'id').map(remove))
    t.same(new Set(removed), new Set(['not refused', 'last_administrator']), 'all others are deleted')
    t.equal((await allSeats(store)).length, 1)
  })

  test('in a tenant without an administrator, Seats can lose rights and be deleted', async (t, store) => {
    const { update, remove } = tried(store)
    for (const space of ['admin', 'one']) await seat(store, space, [space], ['seats:update'])
    for (const { id } of await allSeats(store)) {
      t.equal(await update(id, NOTHING), 'not refused')
      t.equal(await remove(id), 'not refused')
    }
  })

  test('the admin space is the configured one', async (t, store) => {
    const { id } = await seat(store, 'ops', ['ops'], ['*'])
    await seat(store, 'admin', ['admin'], ['*'])
    const { remove } = tried(store, writer({ ...ADMIN, space: 'ops' }))
    t.equal(await remove(id), 'last_administrator')
    t.equal(await tried(store, writer(inSpace('ops', '*'))).remove(id), 'not refused', 'an ordinary space')
  })

  test('of two concurrent removals of the last two administrators, one succeeds', async (t, store) => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await seat(store, 'a', ['admin'], ['*']), await seat(store, 'b', ['admin', 'x'], ['*'])]
      const results = await Promise.all([
        store.deleteSeat(writer(), a.id),
        store.updateSeat(writer(), b.id, { permissions: [] }),
      ])
      t.same(results.map(refused).toSorted(), ['last_administrator', 'not refused'])
      await seat(store, 'c', ['admin'], ['*'])
      for (const { id } of await allSeats(store)) await store.deleteSeat(writer(), id)
      const [left] = await allSeats(store)
      done(await store.deleteSeat(writer({ ...ADMIN, space: 'none' }), left?.id ?? ''))
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
    t.same(await allNames(store, scope), ['one only'])
    t.same(await allNames(store, inSpace('two', '*')), [])
    t.equal(done(await store.readSeat('acme', one.id, scope)).name, 'one only')
    for (const { id } of [both, none])
      t.equal(refused(await store.readSeat('acme', id, scope)), 'seat_not_found')
    const seen = (await store.listApiKeys('acme', { limit: 9, after: null, scope })).data
    t.same(column(seen, 'id'), keys.slice(0, 1))
    const read = await Promise.all(keys.map(async (id) => refused(await store.readApiKey('acme', id, scope))))
    t.same(read, ['not refused', ...Array(3).fill('api_key_not_found')])
    t.equal((await store.listApiKeys('acme', { limit: 9, after: null, scope: ADMIN })).data.length, 4)
  })
})
