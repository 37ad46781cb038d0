/** Pages, members, tenants and odd texts, on every driver. */

import type { Page, Scope } from '../../../seats-admin/index.ts'
import {
  ADMIN,
  allSeats,
  column,
  done,
  everything,
  inSpace,
  key,
  MISSING,
  NOTHING,
  PAGE,
  refused,
  seat,
  signedIn,
  suite,
  tried,
  writer,
} from './conformance.ts'

export const pageConformance = suite((test) => {
  test('pages', async (t, store) => {
    for (let made = 0; made < 7; made++) await seat(store, `s${made}`, made % 2 === 0 ? ['one'] : ['two'])
    const pages = async (scope: Scope, limit: number) => {
      const found: string[][] = []
      const list = async (page: Page) => {
        const listing = await store.listSeats('acme', page)
        found.push(column(listing.data, 'name'))
        return listing
      }
      await everything(list, { ...PAGE, limit, scope })
      return found
    }
    t.same(await pages(ADMIN, 3), [['s0', 's1', 's2'], ['s3', 's4', 's5'], ['s6']])
    t.same(await pages(ADMIN, 7), [['s0', 's1', 's2', 's3', 's4', 's5', 's6']], 'has_more is exact')
    t.same(await pages(inSpace('one'), 2), [
      ['s0', 's2'],
      ['s4', 's6'],
    ])
    t.same(await store.listSeats('acme', { ...PAGE, after: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ' }), {
      data: [],
      hasMore: false,
      next: null,
    })
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
    const counts = async () => column(await allSeats(store), 'memberCount')
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
    const { update, remove, revoke } = tried(store, writer(ADMIN, 1, 'globex'))
    t.equal((await store.seatByName('globex', 'A')).value.seat?.id, theirs.id)
    t.equal((await store.seatById('globex', ours.id)).value, null)
    t.equal((await store.apiKeyById('globex', ourKey.id)).value, null)
    t.equal(refused(await store.readSeat('globex', ours.id, ADMIN)), 'seat_not_found')
    t.equal(refused(await store.readApiKey('globex', ourKey.id, ADMIN)), 'api_key_not_found')
    t.equal(await update(ours.id, { name: 'B' }), 'seat_not_found')
    t.equal(await remove(ours.id), 'seat_not_found')
    t.equal(await revoke(ourKey.id), 'api_key_not_found')
    t.same((await store.listSeats('globex', PAGE)).data.length, 1)
    t.same((await store.listApiKeys('globex', PAGE)).data.length, 0)
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

  test('the name of a writer may be any text', async (t, store) => {
    for (const by of ['', '\0', 'a\ud800b', 'x'.repeat(20_000), "'; --"]) {
      const made = done(await store.createSeat({ ...writer(), by }, { name: `of ${by.length}`, ...NOTHING }))
      const again = done(await store.updateSeat({ ...writer(), by }, made.value.id, {}))
      const read = done(await store.readSeat('acme', made.value.id, ADMIN))
      t.equal(read.updatedBy?.length, by.length, 'characters that a store can not hold are replaced')
      t.same({ ...read, createdBy: by, updatedBy: by }, { ...again.value, createdBy: by, updatedBy: by })
      const { id } = await key(store, [], { as: { ...writer(), by } })
      t.equal(refused(await store.readApiKey('acme', id, ADMIN)), 'not refused')
      await store.recordSignIn('acme', signedIn(by), [made.value.id, '\0', '\ud800'])
    }
    t.same(column(await allSeats(store), 'memberCount'), [1, 1, 1, 1, 1])
  })

  test('a closed store reports this, and closing is idempotent', async (t, store) => {
    await seat(store, 'A')
    const { create } = tried(store)
    const last = create('B')
    await Promise.all([store.close(), store.close()])
    t.equal(await last, 'not refused', 'calls made before are still answered')
    await t.rejects(store.seatByName('acme', 'A'), { name: 'StoreUnavailable' })
    await t.rejects(create('C'), { name: 'StoreUnavailable' })
    await store.close()
  })
})
