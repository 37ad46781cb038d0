/** What the audit says of Seats, API keys and blocks is what each store driver has. */

import { AuditStates, type Store } from '../../../seats-admin/index.ts'
import { compareRows } from '../../../src/cli/audit/audit-verify.ts'
import { block, done, key, seat, signedIn, suite, writer } from './conformance.ts'
import { revoke } from './revocation-conformance.ts'
import { deletedUser, edited, made, scim, scimGroup, scimUser } from './scim-records.ts'
import { browserSession } from './session-records.ts'

export const auditStatesConformance = suite((test) => {
  for (const late of [false, true])
    test(`nothing is found without tampering${late ? ', also with later changes' : ''}`, async (t, store) => {
      const { desk } = await audited(store)
      const states = new AuditStates()
      const { rows, start } = await store.audit.chain('acme', '', 100)
      states.read(rows, start)
      if (late) await seat(store, 'Late')
      if (late) done(await store.updateSeat(writer(), desk, { permissions: [] }))
      await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
      t.same([states.findings, states.count], [[], 0])
    })

  test('nothing is found of grants', async (t, store) => {
    await auditedGrants(store)
    const states = new AuditStates()
    const { rows, start } = await store.audit.chain('acme', '', 100)
    states.read(rows, start)
    await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
    t.same(states.findings, [])
  })

  test('nothing is found of users and groups of SCIM', async (t, store) => {
    await auditedScim(store)
    const states = new AuditStates()
    const { rows, start } = await store.audit.chain('acme', '', 100)
    states.read(rows, start)
    await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
    t.same(states.findings, [])
  })

  test('users and groups of SCIM that change at the same time', async (t, store) => {
    const { ann, group } = await auditedScim(store)
    const states = new AuditStates()
    const { rows, start } = await store.audit.chain('acme', '', 100)
    states.read(rows, start)
    // The first page is read before the deletion, and the others after it.
    const page = 2
    const slow: Store = {
      ...store,
      async listScimUsers(tenant, wanted) {
        if (wanted.startIndex > 1 && (await store.readScimUser(tenant, ann)) !== null)
          await deletedUser(store, ann)
        return store.listScimUsers(tenant, { ...wanted, count: page })
      },
    }
    await compareRows(slow, 'acme', states, String(rows.at(-1)?.id))
    t.same(states.findings, [])
    t.match(await store.readScimGroup('acme', group), { memberCount: 1 })
  })

  test('an entry of an older version, which has no origin', async (t, store) => {
    await audited(store)
    const states = new AuditStates()
    const { rows, start } = await store.audit.chain('acme', '', 100)
    const older = rows.map((row) => ({
      ...row,
      after: row['after'] === null ? null : String(row['after']).replace('"origin":"admin",', ''),
    }))
    t.notSame(older, rows)
    states.read(older, start)
    await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
    t.same(states.findings, [])
  })

  test('another origin is found', async (t, store) => {
    await audited(store)
    const states = new AuditStates()
    const { rows, start } = await store.audit.chain('acme', '', 100)
    states.read(
      rows.map((row) => ({
        ...row,
        after:
          row['after'] === null ? null : String(row['after']).replace('"origin":"scim"', '"origin":"admin"'),
      })),
      start,
    )
    await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
    t.match(states.findings, [{ fault: 'row', message: /block of "ann" .* is not what entry/ }])
  })

  test('an entry of an older version, which has no owner', async (t, store) => {
    const { owned } = await audited(store)
    const states = new AuditStates()
    const { rows, start } = await store.audit.chain('acme', '', 100)
    const withoutOwner = (text: unknown) => String(text).replace('"owner":"ann",', '')
    const older = rows.map((row) =>
      row['action'] === 'api_key.revoke' && row['target_id'] === owned
        ? { ...row, before: withoutOwner(row['before']), after: withoutOwner(row['after']) }
        : row,
    )
    t.notSame(older, rows)
    states.read(older, start)
    await compareRows(store, 'acme', states, String(rows.at(-1)?.id))
    t.same(states.findings, [])
  })
})

/** Grants in force, to come, ended and deleted; of Seats with another name, and of one that is gone. */
export async function auditedGrants(store: Store) {
  const { id: desk } = await seat(store, 'Desk', ['main'])
  const { id: gone } = await seat(store, 'Gone', ['main'])
  const later = Date.now() + 3_600_000
  const grant = async (of: string, until = later, from: number | null = null) =>
    done(await store.createGrant(writer(), { user: 'eve', seat: of, from, until, reason: 'x' })).value.id
  const kept = await grant(desk)
  await grant(desk, 2)
  await grant(gone)
  const deleted = await grant(desk, later + 1, later)
  done(await store.updateSeat(writer(), desk, { name: 'Front desk' }))
  done(await store.deleteSeat(writer(), gone))
  done(await store.deleteGrant(writer(), deleted))
  return { kept, desk }
}

/** Users and groups of SCIM: changed, renamed, deleted, and with members of whom one is deleted. */
export async function auditedScim(store: Store) {
  const names = ['ann', 'ben', 'cid', 'dan', 'eve']
  const [ann, ben, cid, dan, eve] = await Promise.all(names.map((name) => scimUser(store, name)))
  if (!ann || !ben || !cid || !dan || !eve) throw new Error('no users')
  const group = await scimGroup(store, 'Desk', [ann.id, ben.id])
  const gone = await scimGroup(store, 'Gone', [ann.id, cid.id])
  await edited(store, ben, { active: false, displayName: 'Ben' })
  await edited(store, ben, { resource: { title: 'none' } })
  made(await store.updateScimGroup(scim(), group.id, [{ add: [cid.id, dan.id] }, { remove: [dan.id] }]))
  await deletedUser(store, cid.id)
  made(await store.updateScimGroup(scim(), group.id, [{ set: { displayName: 'Front desk' } }]))
  made(await store.deleteScimGroup(scim(), gone.id))
  await scimUser(store, 'other', {}, { as: scim({ tenant: 'globex' }) })
  return { ann: ann.id, ben: ben.id, eve: eve.id, group: group.id }
}

/** Some of each change. */
export async function audited(store: Store) {
  const { id: desk } = await seat(store, 'Desk', ['main'])
  const { id: clerk } = await seat(store, 'Clerk', ['main'])
  const { id: gone } = await seat(store, 'Gone', ['main'])
  const { id: ci } = await key(store, ['Desk', 'Gone'])
  await store.updateSeat(writer(), desk, { name: 'Front desk', permissions: ['a:b', 'a:c'] })
  await store.updateSeat(writer(), desk, {})
  await store.deleteSeat(writer(), gone)
  await store.recordSignIn('acme', signedIn('ann'), [desk])
  await block(store, 'ann', null, { reason: 'left' })
  await block(store, 'eve', 1)
  await block(store, 'eve', null, { reason: 'again' })
  const { value: events } = await block(store, 'ann', null, { origin: 'events' })
  await store.deleteBlock(writer(), events.id)
  await block(store, 'ann', null, { origin: 'scim' })
  const owned = await store.createApiKey(writer(), {
    name: 'owned',
    seats: [],
    expiresAt: null,
    owner: 'ann',
  })
  await store.sessions.create(browserSession({ user: 'ann' }))
  await revoke(store, { user: 'ann' }, { reason: 'lost' })
  const other = await store.createApiKey(writer(), {
    name: 'other',
    seats: [],
    expiresAt: null,
    owner: 'a\0',
  })
  await revoke(store, { api_key: done(other).value.id })
  await revoke(store, { tenant: true })
  return { desk, clerk, gone, key: ci, owned: done(owned).value.id }
}
