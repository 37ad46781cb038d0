/** Which Seats users have by their SCIM groups, in each mode. Of every store driver. */

import type { Store } from '../../../seats-admin/index.ts'
import { holds } from '../../../seats-admin/model/permission.ts'
import { type ScimMode, shortSteps } from '../../../seats-admin/model/scim.ts'
import { maySee } from '../../../seats-admin/model/scope.ts'
import type { StoredSeat } from '../../../seats-admin/model/seat.ts'
import { withSeatsFrom } from '../../../seats-admin/store/with-seats-from.ts'
import { Random } from '../../support/random.ts'
import {
  ADMIN,
  allSeats,
  block,
  bytewise,
  done,
  everything,
  inSpace,
  key,
  seat,
  signedIn,
  suite,
  writer,
} from './conformance.ts'
import { grantOf, seenBy, some } from './grant-conformance.ts'
import { deletedUser, edited, made, scim, scimGroup, scimUser } from './scim-records.ts'
import { allUsers } from './user-conformance.ts'

const MODES: readonly ScimMode[] = ['externalId', 'userName', 'claim']
const NOW = Date.now()

/** The sub of the caller who is the SCIM user of this name. */
function subOf(mode: ScimMode, userName: string): string {
  if (mode === 'claim') return `sub of ${userName}`
  return mode === 'userName' ? userName : `x-${userName}`
}

async function signIn(store: Store, mode: ScimMode, userName: string, seats: readonly string[] = []) {
  const sub = subOf(mode, userName)
  if (mode === 'claim') await store.recordScimMember(scim(), sub, `x-${userName}`)
  await store.recordSignIn('acme', signedIn(sub), seats)
}

async function memberCounts(store: Store): Promise<Record<string, number>> {
  return Object.fromEntries((await allSeats(store)).map(({ name, memberCount }) => [name, memberCount]))
}

export const scimSeatsConformance = suite((test) => {
  test('by groups, a sign-in counts no more, and each change of SCIM counts at once', async (t, plain) => {
    for (const mode of MODES) {
      const [tenant, as] = ['acme', scim()]
      const store = withSeatsFrom(plain, () => mode)
      const viewer = await seat(store, `Viewer ${mode}`)
      const editor = await seat(store, `Editor ${mode}`)
      const [ann, ben] = [`ann.${mode}`, `ÄRGER.${mode}`]
      const of = { mode, as }
      const [one, two] = [await scimUser(store, ann, {}, of), await scimUser(store, ben, {}, of)]
      for (const name of [ann, ben]) await signIn(store, mode, name, [editor.id])
      const group = await scimGroup(store, viewer.name, [one.id, two.id])
      await scimGroup(store, `no Seat ${mode}`, [one.id])
      const heldBy = async (name: string) =>
        (await store.readUser(tenant, subOf(mode, name), ADMIN))?.seats.join()
      const counts = async () => {
        const all = await memberCounts(store)
        return [all[viewer.name], all[editor.name]]
      }
      t.same([await heldBy(ann), await heldBy(ben)], [viewer.name, viewer.name], mode)
      t.same(await counts(), [2, 0])
      t.same(
        (await plain.readUser(tenant, subOf(mode, ann), ADMIN))?.seats,
        [editor.name],
        'the sign-in is kept',
      )
      const holders = { tenant, scope: ADMIN, now: NOW }
      t.equal((await store.seatHolders(holders, viewer.id)).users, 2)
      const wanted = { seats: [], prune: true }
      const planned = done(await store.planSeats(holders, wanted)).changes
      t.same(
        planned.flatMap(({ before }) => (before?.id === viewer.id ? before.memberCount : [])),
        [2],
      )
      made(await store.updateScimGroup(as, group.id, shortSteps([{ remove: [one.id] }])))
      t.same([await heldBy(ann), ...(await counts())], ['', 1, 0], 'removed')
      made(await store.updateScimGroup(as, group.id, [{ set: { displayName: editor.name } }]))
      t.same([await heldBy(ben), ...(await counts())], [editor.name, 0, 1], 'the group has another name')
      done(await store.updateSeat(writer(), editor.id, { name: `Author ${mode}` }))
      t.same([await heldBy(ben), ...(await counts())], ['', 0, undefined], 'the Seat has another name')
      done(await store.updateSeat(writer(), editor.id, { name: editor.name }))
      await edited(store, two, { active: false }, of)
      t.same([await heldBy(ben), ...(await counts())], ['', 0, 0], 'deactivated')
      await edited(store, two, { active: true }, of)
      t.same([await heldBy(ben), ...(await counts())], [editor.name, 0, 1], 'activated')
      await deletedUser(store, two.id, mode, as)
      t.same([await heldBy(ben), ...(await counts())], ['', 0, 0], 'deleted')
      t.same(await memberCounts(withSeatsFrom(plain, () => null)), await memberCounts(plain))
      for (const { id } of [viewer, editor]) done(await store.deleteSeat(writer(), id))
    }
  })

  test('users who never signed in are listed where the sub is known, once each', async (t, plain) => {
    for (const mode of MODES) {
      const store = withSeatsFrom(plain, () => mode)
      const { id } = await scimUser(store, `ann.${mode}`, {}, { mode, as: scim() })
      await seat(store, mode)
      await scimGroup(store, mode, [id])
      const sub = subOf(mode, `ann.${mode}`)
      const listed = async () =>
        (await allUsers(store))
          .filter((each) => each.sub === sub)
          .map(({ email, lastSignIn, seats }) => [email, lastSignIn, seats])
      const mine = [[`ann.${mode}@acme.example`, null, [mode]]]
      t.same(await listed(), mode === 'claim' ? [] : mine, mode)
      t.equal((await memberCounts(store))[mode], 1, 'counted all the same')
      await signIn(store, mode, `ann.${mode}`)
      t.same(await listed(), [[null, 1, [mode]]], `${mode}, signed in`)
    }
  })

  test('in mode claim, a sign-in without the key gives nothing, and two subs may have one key', async (t, plain) => {
    const store = withSeatsFrom(plain, () => 'claim')
    const { id } = await scimUser(store, 'ann', {}, { mode: 'claim', as: scim() })
    await seat(store, 'Viewer')
    await scimGroup(store, 'Viewer', [id])
    await store.recordSignIn('acme', signedIn('x-ann'), [])
    for (const sub of ['one', 'two']) {
      await store.recordScimMember(scim(), sub, 'x-ann')
      await store.recordSignIn('acme', signedIn(sub), [])
    }
    const found = await allUsers(store, { grant: grantOf('a:b') })
    t.same(
      found.map(({ sub }) => sub),
      ['one', 'two'],
    )
    t.equal((await memberCounts(store)).Viewer, 1)
  })

  test('who could administer', async (t, plain) => {
    const administrator = await seat(plain, 'admin', ['admin'], ['*'])
    for (const mode of MODES) {
      const store = withSeatsFrom(plain, () => mode)
      const asked = (blocked: readonly string[] = []) =>
        store.isAdministered('acme', { space: 'admin', now: NOW, blocked })
      await signIn(store, mode, 'old', [administrator.id])
      t.equal(await asked(), false, `${mode}: a sign-in does not count`)
      const of = { mode, as: scim() }
      const user = await scimUser(store, 'Ä', {}, of)
      const group = await scimGroup(store, 'admin', [user.id])
      t.equal(await asked(), true, 'a user who never signed in')
      await signIn(store, mode, 'Ä')
      t.equal(await asked(['other', '\ud800']), true)
      t.equal(await asked([subOf(mode, 'Ä')]), false)
      const { value: held } = await block(store, subOf(mode, 'Ä'))
      t.equal(await asked(), false, 'blocked')
      done(await store.deleteBlock(writer(), held.id))
      await edited(store, user, { active: false }, of)
      t.equal(await asked(), false, 'deactivated')
      await edited(store, user, { active: true, externalId: null, userName: 'ä' }, of)
      t.equal(await asked(), mode === 'userName', 'without the key, no caller is the user')
      await key(store, ['admin'])
      t.equal(await asked(), true, 'an API key')
      made(await store.deleteScimGroup(scim(), group.id))
      await deletedUser(store, user.id, mode)
      for (const { id } of (await store.listApiKeys('acme', { limit: 9, after: null, scope: ADMIN })).data)
        done(await store.revokeApiKey(writer(), id))
    }
  })

  test('sign-ins compared with groups', async (t, store) => {
    for (const mode of MODES) {
      const [viewer, editor] = [await seat(store, `Viewer ${mode}`), await seat(store, `Editor ${mode}`)]
      const of = { mode, as: scim() }
      const name = (text: string) => `${text}.${mode}`
      const ids = new Map<string, string>()
      for (const each of ['ann', 'ben', 'cid', 'fay'])
        ids.set(each, (await scimUser(store, name(each), { active: each !== 'cid' }, of)).id)
      await scimGroup(store, editor.name, [...ids.values()])
      for (const each of ['ann', 'cid', 'dan']) await signIn(store, mode, name(each), [viewer.id])
      const compared = await everything((page) => store.comparedUsers('acme', mode, page), { limit: 2 })
      const ours = compared.filter(({ sub }) => sub.endsWith(`.${mode}`))
      t.same(
        ours.map(({ sub, bySignIn, byGroups, scim: state }) => [
          sub,
          bySignIn.join(),
          byGroups.join(),
          state,
        ]),
        [
          [subOf(mode, name('ann')), viewer.name, editor.name, 'active'],
          [subOf(mode, name('cid')), viewer.name, '', 'inactive'],
          [subOf(mode, name('dan')), viewer.name, '', 'unknown'],
        ],
        mode,
      )
      const unseen = await everything((page) => store.unseenUsers('acme', mode, page), { limit: 2 })
      t.same(
        unseen.filter(({ userName }) => userName.endsWith(`.${mode}`)),
        ['ben', 'fay'].map((each) => ({
          ...{ id: ids.get(each), userName: name(each), active: true, byGroups: [editor.name] },
        })),
      )
      t.same((await store.comparedUsers('globex', mode, { limit: 9, after: null })).data, [])
      for (const { id } of [viewer, editor]) done(await store.deleteSeat(writer(), id))
    }
  })

  test('who will have a new Seat, or a Seat under a new name, is in a plan', async (t, plain) => {
    const mode = 'externalId'
    const store = withSeatsFrom(plain, () => mode)
    const [ann, ben] = [await scimUser(plain, 'ann'), await scimUser(plain, 'ben', { active: false })]
    const cid = await scimUser(plain, 'cid')
    await scimGroup(plain, 'Old', [ann.id])
    await scimGroup(plain, 'New', [ann.id, ben.id, cid.id])
    await scimGroup(plain, 'Later', [cid.id])
    for (const name of ['Old', 'Gone', 'Same']) await seat(plain, name)
    const lists = { spaces: ['one'], permissions: ['a:c'] }
    const wanted = {
      seats: [
        { name: 'New', was: 'Old', ...lists },
        { name: 'Later', was: null, ...lists },
        { name: 'Nobody', was: null, ...lists },
        { name: 'Same', was: null, ...lists },
      ],
      prune: true,
    }
    const counts = async (of: Store, tenant = 'acme') =>
      Object.fromEntries(
        done(await of.planSeats({ tenant, scope: ADMIN, now: NOW }, wanted)).changes.map(
          ({ name, before, usersAfter }) => [name, [before?.memberCount ?? null, usersAfter]],
        ),
      )
    t.same(await counts(store), {
      ...{ New: [1, 2], Later: [null, 1], Nobody: [null, 0], Same: [0, 0], Gone: [0, 0] },
    })
    await plain.recordSignIn('acme', signedIn('x-ann'), [(await allSeats(plain))[0]?.id ?? ''])
    t.same(await counts(plain), {
      ...{ New: [1, 1], Later: [null, 0], Nobody: [null, 0], Same: [0, 0], Gone: [0, 0] },
    })
  })

  test('groups with their Seats, and members with the callers who they are', async (t, store) => {
    const page = { limit: 2, after: null, q: null }
    t.same((await store.listedGroups('acme', page)).data, [])
    for (const mode of MODES) {
      const viewer = await seat(store, `Viewer ${mode}`)
      const of = { mode, as: scim() }
      const name = (text: string) => `${text}.${mode}`
      const [ann, ben, cid] = [
        await scimUser(store, name('ann'), { displayName: 'Ann A.' }, of),
        await scimUser(store, name('ben'), { active: false }, of),
        await scimUser(store, name('cid'), { externalId: null }, of),
      ]
      const [group, none] = [
        await scimGroup(store, viewer.name, [ann.id, ben.id, cid.id]),
        await scimGroup(store, `VIEWER of no Seat ${mode}`),
      ]
      const shown = { id: group.id, displayName: viewer.name, memberCount: 3, activeCount: 2 }
      t.same(await store.listedGroup('acme', group.id), { ...shown, seatId: viewer.id })
      for (const [tenant, id] of [
        ['globex', group.id],
        ['acme', viewer.id],
        ['acme', '\0'],
      ] as const)
        t.equal(await store.listedGroup(tenant, id), null)
      const names = async (q: string | null) =>
        (await everything((more) => store.listedGroups('acme', { ...more, q }), { limit: 2 }))
          .filter(({ displayName }) => displayName.endsWith(mode))
          .map(({ displayName, seatId }) => [displayName, seatId])
      const all = [
        [viewer.name, viewer.id],
        [none.displayName, null],
      ]
      t.same(await names(null), all)
      t.same(await names('wer'), all, 'without regard to case')
      t.same(await names(`OF NO SEAT ${mode}`), [[none.displayName, null]])
      t.same(await names('%'), [])
      if (mode === 'claim')
        for (const each of ['ann', 'second']) {
          const sub = subOf(mode, name(each))
          await store.recordScimMember(scim(), sub, `x-${name('ann')}`)
        }
      const members = await everything((more) => store.listedMembers('acme', mode, group.id, more), {
        limit: 2,
      })
      const subs = mode === 'claim' ? ['ann', 'second'] : ['ann']
      t.same(
        members.toSorted((one, other) => bytewise(one.userName, other.userName)),
        [
          {
            ...{ id: ann.id, userName: name('ann'), displayName: 'Ann A.', active: true },
            users: subs.map((each) => subOf(mode, name(each))),
          },
          {
            ...{ id: ben.id, userName: name('ben'), displayName: null, active: false },
            users: mode === 'claim' ? [] : [subOf(mode, name('ben'))],
          },
          {
            ...{ id: cid.id, userName: name('cid'), displayName: null, active: true },
            users: mode === 'userName' ? [name('cid')] : [],
          },
        ],
        mode,
      )
      t.same((await store.listedMembers('globex', mode, group.id, page)).data, [])
      t.same((await store.listedMembers('acme', mode, none.id, page)).data, [])
    }
  })

  test('a part of a name, among more groups than a call examines', async (t, store) => {
    for (let at = 0; at < 260; at++) await scimGroup(store, `group ${at}`)
    const first = await store.listedGroups('acme', { limit: 9, after: null, q: 'group 259' })
    t.match(first, { data: [], hasMore: true })
    const { data, next } = await store.listedGroups('acme', { limit: 9, after: first.next, q: 'group 259' })
    t.same([data.map(({ displayName }) => displayName), next], [['group 259'], null])
  })

  test('of random groups, exactly the visible users that hold what is asked are listed', async (t, plain) => {
    for (const mode of MODES) {
      const store = withSeatsFrom(plain, () => mode)
      const { seats, users } = await randomly(store, mode)
      for (const scope of [ADMIN, inSpace('one'), inSpace('two', '*')])
        for (const permission of [null, 'a:b', 'a:c', '*', 'd:e'])
          for (const space of permission === null ? [null] : [null, 'one', 'two', 'three']) {
            const grant = permission === null ? null : grantOf(permission, space)
            const where = grant === null ? null : seenBy(scope, grant).space
            const counts = (each: StoredSeat) =>
              permission === null
                ? maySee(scope, each.spaces)
                : holds(new Set(each.permissions), permission) &&
                  (where === null ? each.spaces.length > 0 : each.spaces.includes(where))
            const names = new Set(seats.filter(counts).map(({ name }) => name))
            const expected = users
              .map(({ sub, groups }) => ({
                sub,
                seats: groups.filter((each) => names.has(each)).toSorted(bytewise),
              }))
              .filter((each) => each.seats.length > 0 || (grant === null && scope.admin))
              .toSorted((one, other) => bytewise(one.sub, other.sub))
            const found = await allUsers(store, { scope, grant, limit: 11 })
            const ours = found.filter(({ sub }) => sub.includes(`.${mode}`))
            t.same(
              ours.map(({ sub, seats: held }) => ({ sub, seats: held })),
              expected,
              `${mode}: ${permission} in ${space} for ${scope.space}`,
            )
          }
      const counts = await memberCounts(store)
      for (const { name } of seats) {
        const members = users.filter(({ groups }) => groups.includes(name)).length
        t.equal(counts[name], members, `${mode}: ${name}`)
      }
      for (const { id } of seats) done(await store.deleteSeat(writer(), id))
    }
  })
})

/** Half of the groups are Seats. Each fifth user is not active, each seventh signed in with all Seats. */
async function randomly(store: Store, mode: ScimMode) {
  const random = new Random(20_261_129)
  const seats: StoredSeat[] = []
  for (let at = 0; at < 12; at++) {
    const permissions = some(random, ['a:b', 'a:c', '*', 'a:bc'], 3)
    seats.push(await seat(store, `s ${at}.${mode}`, some(random, ['one', 'two', 'three'], 2), permissions))
  }
  const names = [
    ...seats.map(({ name }) => name),
    ...Array.from({ length: 12 }, (_, at) => `g ${at}.${mode}`),
  ]
  const members = new Map(names.map((name) => [name, [] as string[]]))
  const users: { sub: string; groups: readonly string[] }[] = []
  for (let at = 0; at < 30; at++) {
    const [name, active] = [`u${at}.${mode}`, at % 5 !== 0]
    const { id } = await scimUser(store, name, { active }, { mode, as: scim() })
    const groups = some(random, names, 6)
    for (const each of groups) members.get(each)?.push(id)
    if (mode === 'claim' || at % 7 === 0)
      await signIn(
        store,
        mode,
        name,
        seats.map((each) => each.id),
      )
    users.push({ sub: subOf(mode, name), groups: active ? groups : [] })
  }
  for (const [name, ids] of members) await scimGroup(store, name, ids)
  return { seats, users }
}
