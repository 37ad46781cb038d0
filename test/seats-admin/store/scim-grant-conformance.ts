/** What becomes of the grants of SCIM users, of every store driver. */

import type { ScimMode } from '../../../seats-admin/model/scim.ts'
import type { Store } from '../../../seats-admin/index.ts'
import { soundChain } from './audit-chain.ts'
import { ADMIN, column, done, seat, signedIn, suite, writer } from './conformance.ts'
import { changesOfUsers, deletedUser, edited, scim, scimUser } from './scim-records.ts'

const HOUR = 3_600_000

async function grant(store: Store, user: string, from: number | null = null, until = Date.now() + 2 * HOUR) {
  const input = { user, seat: 'Desk', from, until, reason: null }
  return done(await store.createGrant(writer(), input)).value.id
}

/** The grants that decisions read, those that have ended or begin later included. */
async function grantsOf(store: Store, user: string): Promise<string[]> {
  return column((await store.userGrants('acme', user)).value.grants, 'id')
}

export const scimGrantConformance = suite((test) => {
  test('a deletion ends the grants of the user, in one commit', async (t, store) => {
    await seat(store, 'Desk')
    const user = await scimUser(store, 'ann')
    const mine = [
      await grant(store, 'x-ann'),
      await grant(store, 'x-ann', Date.now() + HOUR),
      await grant(store, 'x-ann', null, Date.now() - HOUR),
    ]
    const theirs = await grant(store, 'ann')
    t.same(await grantsOf(store, 'x-ann'), mine)

    const { off, gone } = await deletedUser(store, user.id, 'externalId', scim({ requestId: 'r1' }))

    t.notOk(off.changes.some(({ kind }) => kind === 'grant'))
    t.same(
      gone.changes.filter(({ kind }) => kind === 'grant'),
      [{ tenant: 'acme', kind: 'grant', key: '"x-ann"' }],
    )
    t.same(gone.changes.at(-1), changesOfUsers(user)[0])
    t.same(await grantsOf(store, 'x-ann'), [])
    t.same(await grantsOf(store, 'ann'), [theirs])
    t.equal(await store.readUser('acme', 'x-ann', ADMIN), null, 'administration does not list the user')
    const entries = (await soundChain(t, store)).filter(({ action }) => action === 'grant.delete')
    t.same(new Set(entries.map(({ target }) => target.id)), new Set(mine))
    for (const entry of entries) {
      t.match(entry, { actor: { kind: 'provider', id: 'scim' }, request_id: 'r1', after: null })
      t.match(entry.before, { user: 'x-ann', seat: 'Desk' })
    }
    await scimUser(store, 'ann')
    t.same(await grantsOf(store, 'x-ann'), [], 'who is created again inherits none')
  })

  test('a deactivation keeps the grants', async (t, store) => {
    await seat(store, 'Desk')
    const user = await scimUser(store, 'ann')
    const id = await grant(store, 'x-ann')
    const off = await edited(store, user, { active: false })
    t.notOk(off.changes.some(({ kind }) => kind === 'grant'))
    t.same(await grantsOf(store, 'x-ann'), [id])
    await edited(store, user, { active: true })
    t.same(await grantsOf(store, 'x-ann'), [id])
  })

  test('another member key ends the grants of the former one', async (t, store) => {
    await seat(store, 'Desk')
    const user = await scimUser(store, 'ann')
    await grant(store, 'x-ann')
    const kept = await grant(store, 'x-two')
    await edited(store, user, { externalId: 'x-two' })
    t.same(await grantsOf(store, 'x-ann'), [])
    t.same(await grantsOf(store, 'x-two'), [kept])
    await edited(store, user, { externalId: null })
    t.same(await grantsOf(store, 'x-two'), [])
  })

  test('in mode claim, those of each sub that signed in with the key', async (t, store) => {
    const mode: ScimMode = 'claim'
    await seat(store, 'Desk')
    const user = await scimUser(store, 'ann', {}, { mode })
    for (const [sub, key] of [
      ['sub-1', 'x-ann'],
      ['sub-2', 'x-ann'],
      ['sub-3', 'x-ben'],
    ] as const) {
      await store.recordScimMember(scim(), sub, key)
      await store.recordSignIn('acme', signedIn(sub), [])
    }
    for (const sub of ['sub-1', 'sub-2', 'sub-3', 'x-ann']) await grant(store, sub)
    await deletedUser(store, user.id, mode)
    t.same(await grantsOf(store, 'sub-1'), [])
    t.same(await grantsOf(store, 'sub-2'), [])
    t.equal((await grantsOf(store, 'sub-3')).length, 1)
    t.equal((await grantsOf(store, 'x-ann')).length, 1, 'a sub with the text of the key is another user')
  })
})
