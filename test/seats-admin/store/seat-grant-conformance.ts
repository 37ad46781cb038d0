/** Requirements of grants with an end, of every store driver. */

import { type Store, type Writer, isRefusal } from '../../../seats-admin/index.ts'
import { isGrantInForce, MAX_GRANTS_OF_USER } from '../../../seats-admin/model/grant.ts'
import { MAX_GRANTS } from '../../../seats-admin/store/seat-grant-queries.ts'
import type { GrantPage } from '../../../seats-admin/store/store.ts'
import {
  ADMIN,
  BEGINNING,
  column,
  done,
  everything,
  inSpace,
  MISSING,
  numbered,
  refused,
  seat,
  signedIn,
  suite,
  writer,
} from './conformance.ts'

const HOUR = 3_600_000
/** As of blocks: what a token may name. */
const STRANGE = ['a"b', '12:"x"', 'nul\0', '\ud800', '\ufffd', '__proto__', 'ä'.repeat(512), ':', '\\', 'a,b']
const LIST: GrantPage = { limit: 100, after: null, scope: ADMIN, user: null, seat: null, endingBefore: null }

interface Granting {
  readonly from?: number
  readonly until?: number
  readonly reason?: string
  readonly as?: Writer
}

async function tryGrant(store: Store, user: string, named: string, of: Granting = {}) {
  const { from = null, until = Date.now() + HOUR, reason = null, as = writer() } = of
  return store.createGrant(as, { user, seat: named, from, until, reason })
}

/** Gives a Seat to a user. */
async function grant(store: Store, user: string, named: string, of: Granting = {}) {
  return done(await tryGrant(store, user, named, of))
}

async function listed(store: Store, page: Partial<GrantPage> = {}) {
  return done(await store.listGrants('acme', { ...LIST, ...page })).data
}

/** The ids of the grants of a user that are in force by the reading alone, which must equal the user's own. */
async function held(store: Store, user: string, tenant = 'acme') {
  const { value } = await store.userGrants(tenant, user)
  const { users } = (await store.grants(tenant)).value
  const ofAll = users?.find((each) => each.user === user)?.grants ?? []
  if (users !== null && JSON.stringify(ofAll) !== JSON.stringify(value.grants))
    throw new Error(`the readings differ: ${JSON.stringify([ofAll, value.grants])}`)
  return value.grants.filter((each) => isGrantInForce(each, value.now)).map(({ id }) => id)
}

export const seatGrantConformance = suite((test) => {
  test('a grant is in the feed, in the list and in both readings', async (t, store) => {
    const { id: seatId } = await seat(store, 'Viewer')
    const now = Date.now()
    const until = now + HOUR
    const made = await grant(store, 'eve', 'Viewer', { until, reason: 'on call', as: writer(ADMIN, now) })
    t.match(made.value, {
      ...{ user: 'eve', seat: seatId, seatName: 'Viewer', from: now, until, reason: 'on call' },
      ...{ tenant: 'acme', createdBy: 'alice', createdAt: now },
    })
    t.same(made.changes, [{ tenant: 'acme', kind: 'grant', key: '"eve"' }])
    t.same((await store.changesSince(BEGINNING)).changes?.slice(-1), numbered(made))
    t.same(await listed(store), [made.value])
    const { seq, value } = await store.grants('acme')
    t.equal(seq, made.seq)
    t.ok(Math.abs(value.now - Date.now()) < HOUR, 'with the time of the store')
    // It began with its creation: no clock can delay it.
    t.same(value.users, [{ user: 'eve', grants: [{ id: made.value.id, seat: seatId, from: 0, until }] }])
    t.same(await held(store, 'eve'), [made.value.id])
    t.same(await held(store, 'Eve'), [])
    t.same(await held(store, 'eve', 'globex'), [])
  })

  test('a grant that begins later', async (t, store) => {
    await seat(store, 'Viewer')
    const from = Date.now() + HOUR
    const { value } = await grant(store, 'eve', 'Viewer', { from, until: from + HOUR })
    t.equal(value.from, from)
    t.same(await held(store, 'eve'), [])
    t.match((await store.userGrants('acme', 'eve')).value.grants, [{ from, until: from + HOUR }])
    t.same(await listed(store), [value])
    t.equal((await store.readUser('acme', 'eve', ADMIN))?.grants, undefined)
  })

  test('a beginning in the past is now', async (t, store) => {
    await seat(store, 'Viewer')
    const now = Date.now()
    const { value } = await grant(store, 'eve', 'Viewer', { from: now - HOUR, as: writer(ADMIN, now) })
    t.equal(value.from, now)
    t.match((await store.userGrants('acme', 'eve')).value.grants, [{ from: 0 }])
  })

  test('a grant at once is in force by any clock', async (t, store) => {
    await seat(store, 'Viewer')
    const ahead = Date.now() + 10 * HOUR
    const made = await grant(store, 'eve', 'Viewer', { as: writer(ADMIN, ahead), until: ahead + HOUR })
    t.same(await held(store, 'eve'), [made.value.id], 'of an instance whose clock is ahead')
    t.match((await store.readUser('acme', 'eve', ADMIN))?.grants, [{ id: made.value.id }])
  })

  test('several grants of a user stand side by side', async (t, store) => {
    await seat(store, 'Viewer')
    await seat(store, 'Editor')
    const first = await grant(store, 'eve', 'Viewer')
    const second = await grant(store, 'eve', 'Viewer', { until: Date.now() + 2 * HOUR })
    const third = await grant(store, 'eve', 'Editor')
    await grant(store, 'bob', 'Editor')
    t.same(
      await held(store, 'eve'),
      [first, second, third].map(({ value }) => value.id),
    )
    done(await store.deleteGrant(writer(), second.value.id))
    t.same(
      await held(store, 'eve'),
      [first, third].map(({ value }) => value.id),
    )
  })

  test('a Seat is named by its name or its id', async (t, store) => {
    const viewer = await seat(store, 'Viewer')
    t.equal((await grant(store, 'eve', viewer.id)).value.seat, viewer.id)
    t.match(await tryGrant(store, 'eve', 'viewer'), { faults: [{ path: '/seat' }] })
    t.match(await tryGrant(store, 'eve', '\0'), { faults: [{ path: '/seat' }] })
    await seat(store, viewer.id)
    t.match(await tryGrant(store, 'eve', viewer.id), {
      refused: 'input_invalid',
      faults: [{ path: '/seat', message: 'is the name of one Seat and the id of another' }],
    })
    t.ok(isRefusal(await store.listGrants('acme', { ...LIST, seat: viewer.id })))
    t.equal((await listed(store, { seat: 'Viewer' })).length, 1)
  })

  test('the Seat of a grant is the same after a new name, and gone with the Seat', async (t, store) => {
    const { id } = await seat(store, 'Viewer')
    const made = await grant(store, 'eve', 'Viewer')
    done(await store.updateSeat(writer(), id, { name: 'Reader' }))
    await seat(store, 'Viewer')
    t.match(await listed(store), [{ seat: id, seatName: 'Reader' }])
    t.match((await store.readUser('acme', 'eve', ADMIN))?.grants, [{ id: made.value.id, seat: 'Reader' }])
    done(await store.deleteSeat(writer(), id))
    t.same(await held(store, 'eve'), [])
    t.same(await listed(store), [])
    t.equal(refused(await store.deleteGrant(writer(), made.value.id)), 'grant_not_found')
    await seat(store, 'Reader')
    t.same(await held(store, 'eve'), [], 'a new Seat of the name gives nothing')
  })

  test('a Seat that a file prunes takes its grants with it', async (t, store) => {
    await seat(store, 'Viewer')
    await grant(store, 'eve', 'Viewer')
    done(await store.applySeats(writer(), { seats: [], prune: true }, null))
    t.same((await store.grants('acme')).value.users, [])
  })

  test('a grant that is deleted is gone', async (t, store) => {
    await seat(store, 'Viewer')
    const { value } = await grant(store, 'eve', 'Viewer')
    t.equal(refused(await store.deleteGrant(writer(ADMIN, 1, 'globex'), value.id)), 'grant_not_found')
    const gone = done(await store.deleteGrant(writer(), value.id))
    t.same(gone.changes, [{ tenant: 'acme', kind: 'grant', key: '"eve"' }])
    t.same(await held(store, 'eve'), [])
    for (const id of [value.id, '\0', MISSING])
      t.equal(refused(await store.deleteGrant(writer(), id)), 'grant_not_found')
  })

  test('of deletions at once, one finds the grant', async (t, store) => {
    await seat(store, 'Viewer')
    const { value } = await grant(store, 'eve', 'Viewer')
    const deletions = await Promise.all(
      Array.from({ length: 5 }, () => store.deleteGrant(writer(), value.id)),
    )
    t.same(deletions.map((each) => (isRefusal(each) ? each.refused : 'done')).toSorted(), [
      'done',
      ...Array.from({ length: 4 }, () => 'grant_not_found'),
    ])
    const { data } = await store.audit.list('acme', {
      ...{ limit: 10, after: null, since: null, until: null, action: 'grant.delete', actor: null },
      ...{ target: null, scope: ADMIN },
    })
    t.equal(data.length, 1)
  })

  test('an ended grant leaves the list, and can still be deleted', async (t, store) => {
    await seat(store, 'Viewer')
    const { id } = await endedGrant(store, 'eve', HOUR)
    t.same(await listed(store), [])
    t.same(await held(store, 'eve'), [])
    t.match(
      (await store.userGrants('acme', 'eve')).value.grants,
      [{ id }],
      'decisions read it: see restrictions',
    )
    done(await store.deleteGrant(writer(), id))
    t.same((await store.userGrants('acme', 'eve')).value.grants, [])
  })

  test('a grant that ended a day ago is in no reading, and is deleted with the next one', async (t, store) => {
    await seat(store, 'Viewer')
    const { id } = await endedGrant(store, 'eve', 25 * HOUR)
    t.same((await store.grants('acme')).value.users, [])
    // By the clock of the writer, it has not ended for a day.
    await grant(store, 'ann', 'Viewer', { as: writer(ADMIN, Date.now() - 2 * HOUR) })
    done(await store.deleteGrant(writer(), id))
    const { id: other } = await endedGrant(store, 'eve', 25 * HOUR)
    await grant(store, 'ann', 'Viewer')
    t.equal(refused(await store.deleteGrant(writer(), other)), 'grant_not_found')
  })

  test('any text of a token can be granted a Seat', async (t, store) => {
    await seat(store, 'Viewer')
    for (const user of STRANGE) await grant(store, user, 'Viewer')
    for (const user of STRANGE) t.equal((await held(store, user)).length, 1, JSON.stringify(user))
    t.same(await held(store, '\ud801'), [])
    t.same(column(await listed(store), 'user'), STRANGE)
    for (const user of STRANGE) t.same(column(await listed(store, { user }), 'user'), [user])
  })

  test('lists', async (t, store) => {
    await seat(store, 'Viewer')
    await seat(store, 'Editor')
    const now = Date.now()
    const made = []
    for (let at = 0; at < 6; at++) {
      const until = now + (at + 1) * HOUR
      made.push((await grant(store, `user ${at % 2}`, at < 3 ? 'Viewer' : 'Editor', { until })).value)
    }
    t.same(await listed(store, { user: 'user 0' }), [made[0], made[2], made[4]])
    t.same(await listed(store, { seat: 'Editor' }), made.slice(3))
    t.same(await listed(store, { seat: 'Editor', user: 'user 1' }), [made[3], made[5]])
    t.same(await listed(store, { endingBefore: now + 3 * HOUR }), made.slice(0, 2), 'the end is exclusive')
    t.same(await listed(store, { user: 'nobody' }), [])
    t.same(await listed(store, { seat: 'nothing' }), [])
    t.same(done(await store.listGrants('globex', LIST)), { data: [], hasMore: false })
    const paged = await everything(
      async (page) => {
        const { data, hasMore } = done(await store.listGrants('acme', { ...LIST, ...page }))
        return { data, hasMore, next: hasMore ? (data.at(-1)?.id ?? null) : null }
      },
      { limit: 4 },
    )
    t.same(paged, made)
  })

  test('none grants what they do not have', async (t, store) => {
    await seat(store, 'Lister', ['one'], ['trainings:list'])
    await seat(store, 'Owner', ['one'], ['*'])
    await seat(store, 'Wide', ['one', 'two'], ['trainings:list'])
    await seat(store, 'Other', ['two'], ['trainings:list'])
    const as = writer(inSpace('one', 'trainings:list', 'grants:create'))
    t.equal(refused(await tryGrant(store, 'eve', 'Owner', { as })), 'grant_exceeds_own')
    const hidden = await tryGrant(store, 'eve', 'Other', { as })
    t.same(hidden, await tryGrant(store, 'eve', 'nothing', { as }), 'a hidden Seat is as a missing one')
    t.same(await tryGrant(store, 'eve', 'Wide', { as }), hidden)
    const { value } = await grant(store, 'eve', 'Lister', { as })
    const any = writer(inSpace('one', 'seats:grant'))
    await grant(store, 'eve', 'Owner', { as: any })
    await grant(store, 'eve', 'Other')
    const admin = writer(inSpace('admin', 'trainings:list'))
    t.equal(refused(await tryGrant(store, 'eve', 'Owner', { as: admin })), 'grant_exceeds_own')
    await grant(store, 'eve', 'Wide', { as: admin })
    const scope = inSpace('one', '*')
    t.same(column(await listed(store, { scope }), 'seatName'), ['Lister', 'Owner'])
    t.same(await listed(store, { scope: inSpace('three', '*') }), [])
    const [other] = await listed(store, { seat: 'Other' })
    t.equal(refused(await store.deleteGrant(writer(scope), other?.id ?? '')), 'grant_not_found')
    done(await store.deleteGrant(writer(inSpace('one')), value.id))
  })

  test('the audit has the grant before and after', async (t, store) => {
    await seat(store, 'Viewer')
    const { value } = await grant(store, 'ev\0', 'Viewer', { reason: 'on call' })
    done(await store.deleteGrant(writer(), value.id))
    const page = { limit: 10, after: null, since: null, until: null, action: null, actor: null }
    const { data } = await store.audit.list('acme', { ...page, target: value.id, scope: ADMIN })
    const form = {
      ...{ id: value.id, user: 'ev\ufffd', seat: 'Viewer', seat_id: value.seat, reason: 'on call' },
      ...{ from: new Date(value.from).toISOString(), until: new Date(value.until).toISOString() },
      ...{ created_by: 'alice', created_at: new Date(value.createdAt).toISOString() },
    }
    const target = { kind: 'grant', id: value.id, name: 'ev\ufffd' }
    t.match(data, [
      { action: 'grant.delete', target, before: form, after: null },
      { action: 'grant.create', target, before: null, after: form },
    ])
  })

  test('lists of users have the grants in force, also of a user who never signed in', async (t, store) => {
    await seat(store, 'Viewer', ['one'], ['trainings:list'])
    const { id: editor } = await seat(store, 'Editor', ['two'], ['trainings:update'])
    await store.recordSignIn('acme', signedIn('ann'), [editor])
    await store.recordSignIn('acme', signedIn('bob'), [])
    const ann = (await grant(store, 'ann', 'Viewer')).value
    const eve = (await grant(store, 'eve', 'Viewer')).value
    const later = Date.now() + HOUR
    await grant(store, 'bob', 'Viewer', { from: later, until: later + HOUR })
    await endedGrant(store, 'bob', HOUR)
    const shown = ({ id, until }: typeof ann) => ({ id, seat: 'Viewer', until })
    const users = async (page: Partial<Parameters<Store['listUsers']>[1]>) => {
      const all = await everything((each) => store.listUsers('acme', each), {
        ...{ limit: 100, scope: ADMIN },
        ...page,
      })
      return all.map(({ sub, seats, grants = [] }) => ({ sub, seats, grants }))
    }
    t.same(await users({}), [
      { sub: 'ann', seats: ['Editor'], grants: [shown(ann)] },
      { sub: 'bob', seats: [], grants: [] },
      { sub: 'eve', seats: [], grants: [shown(eve)] },
    ])
    const granting = (permission: string, space: string | null = null) => ({
      grant: { permission, space, now: Date.now() },
    })
    const viewers = [
      { sub: 'ann', seats: [], grants: [shown(ann)] },
      { sub: 'eve', seats: [], grants: [shown(eve)] },
    ]
    t.same(await users(granting('trainings:list')), viewers)
    t.same(await users(granting('trainings:list', 'one')), viewers)
    t.same(await users(granting('trainings:list', 'two')), [])
    t.same(await users(granting('trainings:update')), [{ sub: 'ann', seats: ['Editor'], grants: [] }])
    t.same(await users({ scope: inSpace('one', '*') }), viewers, 'outside the admin space')
    t.same(await users({ scope: inSpace('two', '*') }), [{ sub: 'ann', seats: ['Editor'], grants: [] }])
    t.equal(await store.readUser('acme', 'eve', inSpace('two', '*')), null)
    t.match(await store.readUser('acme', 'eve', inSpace('one', '*')), { grants: [shown(eve)] })
    t.match(await store.readUser('acme', 'eve', ADMIN), { email: null, lastSignIn: null })
    await store.recordSignIn('acme', { ...signedIn('eve', 7), email: 'eve@example.com' }, [editor])
    t.match(await store.readUser('acme', 'eve', ADMIN), { email: 'eve@example.com', lastSignIn: 7 })
  })

  test('a user with a Seat by sign-in and by grant is listed once', async (t, store) => {
    const { id } = await seat(store, 'Viewer', ['one'], ['trainings:list'])
    await store.recordSignIn('acme', signedIn('ann'), [id])
    const { value } = await grant(store, 'ann', 'Viewer')
    const page = { limit: 1, scope: ADMIN, after: null }
    const asked = { permission: 'trainings:list', space: null, now: Date.now() }
    t.match(await store.listUsers('acme', { ...page, grant: asked }), {
      data: [{ sub: 'ann', seats: ['Viewer'], grants: [{ id: value.id }] }],
      hasMore: false,
    })
  })

  test('a grant makes no administrator, as it ends', async (t, store) => {
    await seat(store, 'admin', ['admin'], ['*'])
    await grant(store, 'eve', 'admin')
    t.equal(await store.isAdministered('acme', { space: 'admin', now: Date.now() }), false)
  })

  test('a user has a bounded number of grants, and a tenant that has more is read by user', async (t, store) => {
    await seat(store, 'Viewer')
    for (let at = 0; at < MAX_GRANTS_OF_USER; at++) await grant(store, 'eve', 'Viewer')
    t.match(await tryGrant(store, 'eve', 'Viewer'), {
      refused: 'input_invalid',
      faults: [{ path: '/user', message: /^has 100 grants/ }],
    })
    t.equal((await held(store, 'eve')).length, MAX_GRANTS_OF_USER)
    for (let at = MAX_GRANTS_OF_USER; at < MAX_GRANTS; at++) await grant(store, `user ${at}`, 'Viewer')
    const { users } = (await store.grants('acme')).value
    t.equal(users?.length, 1 + MAX_GRANTS - MAX_GRANTS_OF_USER)
    await grant(store, 'one more', 'Viewer')
    t.equal((await store.grants('acme')).value.users, null)
    t.equal((await held(store, 'eve')).length, MAX_GRANTS_OF_USER)
    t.equal((await held(store, 'one more')).length, 1)
  })
})

/** A grant that has ended. @param ago milliseconds since its end */
async function endedGrant(store: Store, user: string, ago: number) {
  const until = Date.now() - ago
  const made = await grant(store, user, 'Viewer', { as: writer(ADMIN, until - HOUR), until })
  return made.value
}
