/** What SCIM users who are not active lose, and what they get back, of every store driver. */

import type { ScimMode, ScimUser } from '../../../seats-admin/model/scim.ts'
import type { Store } from '../../../seats-admin/index.ts'
import { soundChain } from './audit-chain.ts'
import { ADMIN, block, column, done, numbered, signedIn, suite, writer } from './conformance.ts'
import { restriction } from './revocation-conformance.ts'
import {
  answered,
  changesOfUsers,
  deletedUser,
  edited,
  groupsOf,
  inputOfUser,
  made,
  refusedAs,
  scim,
  scimGroup,
  scimUser,
  userInput,
} from './scim-records.ts'
import { browserSession, family } from './session-records.ts'

async function originsOf(store: Store, user: string, tenant = 'acme'): Promise<string[]> {
  const { data } = await store.listBlocks(tenant, { limit: 100, after: null })
  return data.filter((each) => each.user === user).map(({ origin }) => origin)
}

async function endedOf(store: Store, ids: readonly string[], tenant = 'acme') {
  const sessions = await Promise.all(ids.map((id) => store.sessions.sessionById(tenant, id)))
  return sessions.map((session) => session?.endedAt !== null)
}

export const scimBlockConformance = suite((test) => {
  test('a deactivation ends what the user has, and blocks, in the commit of the user', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const group = await scimGroup(store, 'Viewer', [user.id])
    const mine = [browserSession({ user: 'x-ann' }), family({ user: 'x-ann' })]
    const others = [browserSession({ user: 'ann' }), browserSession({ user: 'x-ann', tenant: 'globex' })]
    for (const session of [...mine, ...others]) await store.sessions.create(session)
    const owned = { name: 'ci', seats: [], expiresAt: null }
    const { value: key } = done(await store.createApiKey(writer(), { ...owned, owner: 'x-ann' }))
    const { value: theirs } = done(await store.createApiKey(writer(), { ...owned, owner: 'ann' }))
    const before = (await store.changesSince(null)).head

    const written = await edited(store, user, { active: false })

    t.match(written.value, { active: false, version: 2 })
    const [revocation] = written.revocations
    t.match(revocation, { subject: { user: 'x-ann' }, what: 'all', origin: 'scim', until: null })
    t.same(revocation?.ended, { sessions: 2, apiKeys: 1 })
    t.same((await store.changesSince(before)).changes, numbered(written), 'one commit')
    t.equal(written.changes[0]?.kind, 'revocation')
    const kinds = Object.groupBy(written.changes, ({ kind }) => kind)
    t.same(new Set(kinds.session?.map(({ key: id }) => id)), new Set(column(mine, 'id')))
    t.same(
      kinds['api-key']?.map(({ key: id }) => id),
      [key.id],
    )
    t.same(
      kinds.block?.map(({ key: sub }) => sub),
      ['"x-ann"'],
    )
    t.same(kinds.membership, changesOfUsers(user))
    t.same(await endedOf(store, column(mine, 'id')), [true, true])
    t.same(await endedOf(store, [others[0]?.id ?? '']), [false])
    t.same(await endedOf(store, [others[1]?.id ?? ''], 'globex'), [false])
    t.match(done(await store.readApiKey('acme', theirs.id, ADMIN)), { revokedAt: null })
    t.same(await originsOf(store, 'x-ann'), ['scim'])
    t.match(await restriction(store, 'x-ann'), { block: { until: null } })
    t.same(await groupsOf(store, 'x-ann'), { active: false, groups: ['Viewer'] })
    t.match(await store.readScimGroup('acme', group.id), { memberCount: 1, activeCount: 0 })
    const stored = await store.revocationById('acme', revocation?.id ?? '')
    t.match(stored, { answer: null, isInForce: true, seq: revocation?.seq })
    const actions = column(await soundChain(t, store), 'action')
    t.same(actions.filter((action) => action === 'revocation.create' || action === 'block.create').length, 2)
  })

  test('a user who is created without being active is blocked', async (t, store) => {
    const session = browserSession({ user: 'x-ann' })
    await store.sessions.create(session)
    const written = made(
      await store.createScimUser(scim(), 'externalId', userInput('ann', { active: false })),
    )
    t.equal(written.revocations.length, 1)
    t.same(await endedOf(store, [session.id]), [true])
    t.same(await originsOf(store, 'x-ann'), ['scim'])
  })

  test('an activation lifts the block of SCIM alone, and what ended stays ended', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const session = browserSession({ user: 'x-ann' })
    await store.sessions.create(session)
    await block(store, 'x-ann')
    const off = await edited(store, user, { active: false })
    t.same((await originsOf(store, 'x-ann')).toSorted(), ['admin', 'scim'])
    const on = await edited(store, user, { active: true })
    t.same(on.revocations, [])
    t.same(on.changes, [{ tenant: 'acme', kind: 'block', key: '"x-ann"' }, ...changesOfUsers(user)])
    t.same(await originsOf(store, 'x-ann'), ['admin'])
    t.same(await endedOf(store, [session.id]), [true])
    const cutoff = Math.floor((off.revocations[0]?.at ?? 0) / 1000)
    t.match(await restriction(store, 'x-ann'), { cutoff, block: { until: null } })
    t.same(await groupsOf(store, 'x-ann'), { active: true, groups: [] })
  })

  test('a deletion ends what the user has, and leaves no block', async (t, store) => {
    const users = [await scimUser(store, 'ann'), await scimUser(store, 'off', { active: false })]
    for (const user of users) {
      const sub = user.externalId ?? ''
      const session = browserSession({ user: sub })
      await store.sessions.create(session)
      const { off, gone } = await deletedUser(store, user.id)
      t.match(off.revocations, [{ subject: { user: sub }, what: 'all', reason: 'deleted by SCIM' }])
      t.same(gone.revocations, [])
      t.same(await endedOf(store, [session.id]), [true])
      t.same(await originsOf(store, sub), [])
      t.match(await restriction(store, sub), { block: null })
      t.equal(await groupsOf(store, sub), null)
    }
  })

  test('a deletion revokes until it is closed, and deletes then', async (t, store) => {
    const user = await scimUser(store, 'ann')
    await scimGroup(store, 'Viewer', [user.id])
    const remove = async () => made(await store.deleteScimUser(scim(), 'externalId', user.id))
    const [first, second] = [await remove(), await remove()]
    t.match(first.value, { active: false, version: 2 })
    t.match(second.value, { active: false, version: 2 }, 'the first has no answer')
    await answered(store, first, 'closed')
    await answered(store, second, 'partial')
    const third = await remove()
    t.match(third.revocations, [{ what: 'all' }], 'the newest is not closed')
    t.same(await groupsOf(store, 'x-ann'), { active: false, groups: ['Viewer'] })
    t.same(await originsOf(store, 'x-ann'), ['scim'])
    await answered(store, third, 'closed')
    await edited(store, user, { active: true })
    const session = browserSession({ user: 'x-ann' })
    await store.sessions.create(session)
    const fourth = await remove()
    t.match(fourth.revocations, [{ ended: { sessions: 1 } }], 'the user was active in between')
    await answered(store, fourth, 'closed')
    t.match(await remove(), { value: null, revocations: [] })
    t.equal(refusedAs(await store.deleteScimUser(scim(), 'externalId', user.id)), 'not_found')
    t.equal(await groupsOf(store, 'x-ann'), null)
    t.same(await originsOf(store, 'x-ann'), [])
    const actions = column(await soundChain(t, store), 'action')
    t.same(
      actions.filter((action) => action.startsWith('scim_user.')),
      ['create', 'update', 'update', 'update', 'delete'].map((action) => `scim_user.${action}`),
    )
  })

  test('active: false once more revokes again, unless it is closed', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const again = () => edited(store, user, { active: false })
    const first = await again()
    const second = await again()
    t.equal(second.revocations.length, 1, 'the first has no answer')
    t.match(second.value, { version: 2 })
    await answered(store, second, 'partial')
    const third = await again()
    t.equal(third.revocations.length, 1)
    await answered(store, third, 'closed')
    const fourth = await again()
    t.same(fourth.revocations, [])
    t.match(fourth, (await store.changesSince(null)).head)
    const { data } = await store.listBlocks('acme', { limit: 9, after: null })
    t.equal(data.length, 1, 'one block')
    done(await store.deleteBlock(writer(), data[0]?.id ?? ''))
    t.equal((await again()).revocations.length, 1, 'an administrator has lifted the block')
    t.same(await originsOf(store, 'x-ann'), ['scim'])
    t.ok(first.seq < third.seq)
  })

  test('another change of a user who is not active', async (t, store) => {
    const user = await scimUser(store, 'ann', { active: false })
    const open = await edited(store, user, { resource: { title: 'none' } })
    t.match(open.revocations, [{ what: 'all' }], 'the first has no answer')
    await answered(store, open, 'closed')
    const written = await edited(store, user, { resource: { title: 'one' } })
    t.match(written, { changes: [], revocations: [], value: { version: 3 } })
  })

  test('the user of a former key loses what a deleted user loses', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const session = browserSession({ user: 'x-ann' })
    await store.sessions.create(session)
    const moved = await edited(store, user, { externalId: 'x-two' })
    t.match(moved.revocations, [{ subject: { user: 'x-ann' }, what: 'existing' }])
    t.same(await endedOf(store, [session.id]), [true])
    await answered(store, moved, 'closed')
    const off = await edited(store, user, { active: false, externalId: 'x-three' })
    t.same(
      off.revocations.map(({ subject, what }) => ({ ...subject, what })),
      [
        { user: 'x-two', what: 'existing' },
        { user: 'x-three', what: 'all' },
      ],
    )
    t.equal(off.revocations.at(-1)?.seq, off.seq - 2, 'before the changes of memberships')
    await answered(store, off, 'closed')
    const last = await edited(store, user, { externalId: 'x-four' })
    t.equal(last.revocations.length, 2)
    t.same(await originsOf(store, 'x-three'), [])
    t.same(await originsOf(store, 'x-four'), ['scim'])
    await answered(store, last, 'closed')
    const none = await edited(store, user, { externalId: null })
    t.match(none.revocations, [{ subject: { user: 'x-four' }, what: 'existing' }])
    t.same(await originsOf(store, 'x-four'), [])
  })

  test('a change of the key, once more, revokes again until it is closed', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const move = () => edited(store, user, { externalId: 'x-two' })
    const FORMER = [{ subject: { user: 'x-ann' }, what: 'existing' }]
    const first = await move()
    const second = await move()
    t.match(second, { revocations: FORMER, value: { version: 2 } }, 'the first has no answer')
    await answered(store, second, 'partial')
    const session = browserSession({ user: 'x-ann' })
    await store.sessions.create(session)
    const other = await edited(store, user, { resource: { title: 'other' } })
    t.match(other, { revocations: FORMER, value: { version: 3 } }, 'another change does so too')
    t.same(await endedOf(store, [session.id]), [true])
    await answered(store, other, 'partial')
    const third = await edited(store, user, { externalId: 'x-three' })
    t.same(column(third.revocations, 'subject'), [{ user: 'x-ann' }, { user: 'x-two' }])
    await answered(store, { revocations: third.revocations.slice(1) }, 'closed')
    const moved = () => edited(store, user, { externalId: 'x-three' })
    const fourth = await moved()
    t.match(fourth.revocations, FORMER, 'one of the two was closed')
    t.equal(fourth.revocations.length, 1)
    const gone = made(await store.deleteScimUser(scim(), 'externalId', user.id))
    t.match(gone, { value: { active: false } })
    t.same(column(gone.revocations, 'subject'), [{ user: 'x-ann' }, { user: 'x-three' }])
    t.same(column(gone.revocations, 'what'), ['existing', 'all'])
    await answered(store, { revocations: gone.revocations.slice(1) }, 'closed')
    const again = made(await store.deleteScimUser(scim(), 'externalId', user.id))
    t.match(again, { value: { active: false }, revocations: FORMER }, 'the user stays until all is closed')
    await answered(store, again, 'closed')
    t.match(await store.readScimUser('acme', user.id), { active: false })
    const closed = await edited(store, user, { active: false })
    t.same(closed.revocations, [])
    t.match(closed, (await store.changesSince(null)).head)
    t.match(made(await store.deleteScimUser(scim(), 'externalId', user.id)), { value: null, revocations: [] })
    t.ok(first.seq < third.seq)
    await soundChain(t, store)
  })

  test('former callers whose end no instance confirms are bounded', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const move = async (at: number) => {
      const { version = 0 } = (await store.readScimUser('acme', user.id)) ?? {}
      const input = { ...userInput('ann'), externalId: `x-${at}` }
      return store.updateScimUser(scim(), 'externalId', user.id, version, input)
    }
    for (let at = 0; at < 20; at++) made(await move(at))
    t.equal(refusedAs(await move(20)), 'unavailable')
    t.match(await store.readScimUser('acme', user.id), { externalId: 'x-19' })
  })

  test('a deletion of who is gone is announced like the write that deleted', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const { id } = made(
      await store.createScimGroup(scim(), { displayName: 'Viewer', externalId: null }, [user.id]),
    ).value
    await deletedUser(store, user.id)
    made(await store.deleteScimGroup(scim(), id))
    const { head } = await store.changesSince(null)
    const upTo = { ...head, changes: [] }
    t.match(await store.deleteScimGroup(scim(), id), { refused: 'not_found', upTo })
    t.match(await store.deleteScimUser(scim(), 'externalId', user.id), { refused: 'not_found', upTo })
  })

  test('in mode userName the sub is the name as written', async (t, store) => {
    const mode: ScimMode = 'userName'
    const user = await scimUser(store, 'Ann', {}, { mode })
    const sessions = ['Ann', 'ann', 'x-Ann'].map((sub) => browserSession({ user: sub }))
    for (const session of sessions) await store.sessions.create(session)
    await edited(store, user, { active: false }, { mode })
    t.same(await endedOf(store, column(sessions, 'id')), [true, false, false])
    t.same(await originsOf(store, 'Ann'), ['scim'])
  })

  test('two users at once, of whom the same key is wanted', async (t, store) => {
    const results = await Promise.all(
      ['ann', 'ben', 'cid'].map((name) =>
        store.createScimUser(scim(), 'externalId', userInput(name, { externalId: 'same' })),
      ),
    )
    t.same(results.map(refusedAs).toSorted(), ['not refused', 'uniqueness', 'uniqueness'])
  })

  const inClaim = { mode: 'claim' } as const

  /** A sign-in, as far as it concerns SCIM. */
  async function signIn(store: Store, sub: string, key: string, tenant = 'acme') {
    const refusal = await store.recordScimMember(scim({ tenant }), sub, key)
    await store.recordSignIn(tenant, signedIn(sub), [])
    return refusal
  }

  test('in mode claim each sub that signed in with the key is concerned', async (t, store) => {
    const user = await scimUser(store, 'ann', {}, inClaim)
    t.equal(await signIn(store, 'sub-1', 'x-ann'), null)
    t.equal(await signIn(store, 'sub-2', 'x-ann'), null)
    t.equal(await signIn(store, 'sub-3', 'x-ben'), null)
    t.equal(await signIn(store, 'sub-4', 'x-ann', 'globex'), null)
    const sessions = ['sub-1', 'sub-2', 'sub-3', 'x-ann'].map((sub) =>
      browserSession({ user: sub, member: 'x-ann' }),
    )
    for (const session of sessions) await store.sessions.create(session)
    t.equal((await store.sessions.readSession('acme', sessions[0]?.id ?? '')).value?.member, 'x-ann')
    const off = await edited(store, user, { active: false }, inClaim)
    t.same(column(off.revocations, 'subject'), [{ user: 'sub-1' }, { user: 'sub-2' }])
    t.same(await endedOf(store, column(sessions, 'id')), [true, true, false, false])
    t.same(await originsOf(store, 'sub-2'), ['scim'])
    t.same(await originsOf(store, 'sub-3'), [])
    t.same(await originsOf(store, 'sub-4', 'globex'), [])
    t.same(off.changes.filter(({ kind }) => kind === 'revocation').length, 2)
    await answered(store, { revocations: off.revocations.slice(0, 1) }, 'closed')
    const second = await edited(store, user, { active: false }, inClaim)
    t.equal(second.revocations.length, 2, 'one of the two was not closed')
    await answered(store, second, 'closed')
    t.same((await edited(store, user, { active: false }, inClaim)).revocations, [])
    await edited(store, user, { active: true }, inClaim)
    t.same(await originsOf(store, 'sub-1'), [])
    t.same(await originsOf(store, 'sub-2'), [])
  })

  test('in mode claim a later sign-in of who is not active is blocked', async (t, store) => {
    const user = await scimUser(store, 'ann', { active: false }, inClaim)
    t.same(user.active, false)
    const before = (await store.changesSince(null)).head
    const refused = await signIn(store, 'sub-1', 'x-ann')
    if (refused === null || 'refused' in refused) throw new Error('not blocked')
    t.same((await store.changesSince(before)).changes, numbered(refused))
    t.same(refused.changes, [{ tenant: 'acme', kind: 'block', key: '"sub-1"' }])
    t.same(await originsOf(store, 'sub-1'), ['scim'])
    const { head } = await store.changesSince(null)
    t.match(await signIn(store, 'sub-1', 'x-ann'), { ...head, changes: [] }, 'each of them')
    t.same((await store.changesSince(null)).head, head)
    t.equal(await signIn(store, 'sub-2', 'x-other'), null)
    t.ok(await signIn(store, 'sub-2', 'x-ann'), 'with another key than the last time')
    for (const odd of ['', '\0', 'x'.repeat(256)]) t.equal(await signIn(store, 'sub-3', odd), null)
    await edited(store, user, { active: true }, inClaim)
    t.equal(await signIn(store, 'sub-1', 'x-ann'), null)
    for (const sub of ['sub-1', 'sub-2', 'sub-3']) t.same(await originsOf(store, sub), [])
    t.match(await store.readUser('acme', 'sub-2', ADMIN), { lastSignIn: 1 })
    const entries = (await soundChain(t, store)).filter(({ action }) => action === 'block.create')
    t.same(entries[0]?.actor, { kind: 'provider', id: 'scim' })
  })

  test('of a deactivation and a first sign-in at the same time, no user is left', async (t, store) => {
    for (let at = 0; at < 10; at++) {
      const user = await scimUser(store, `ann ${at}`, {}, inClaim)
      const off = (version: number) =>
        store.updateScimUser(scim(), 'claim', user.id, version, { ...inputOfUser(user), active: false })
      const [written] = await Promise.all([off(1), signIn(store, `sub-${at}`, user.externalId ?? '')])
      made(written)
      t.same(await originsOf(store, `sub-${at}`), ['scim'])
    }
  })

  test('a user without a member key is no caller', async (t, store) => {
    const none = { externalId: null, active: false }
    const user = await scimUser(store, 'null', none)
    const written = await edited(store, user, { displayName: 'x' })
    t.same(written.revocations, [])
    t.same(await originsOf(store, 'null'), [])
    const { off, gone } = await deletedUser(store, user.id)
    t.same([off.revocations, gone.revocations], [[], []])
  })

  test('of a large write, nothing is made if it fails at the end', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const group = await scimGroup(store, 'A', [user.id])
    const taken = await scimGroup(store, 'B')
    const { head } = await store.changesSince(null)
    const steps = [{ remove: [user.id] }, { set: { displayName: taken.displayName } }]
    t.equal(refusedAs(await store.updateScimGroup(scim(), group.id, steps)), 'uniqueness')
    const state: Partial<ScimUser> = { ...user }
    t.match(await store.readScimUser('acme', user.id), state)
    t.same(await groupsOf(store, 'x-ann'), { active: true, groups: ['A'] })
    t.same((await store.changesSince(null)).head, head)
  })
})
