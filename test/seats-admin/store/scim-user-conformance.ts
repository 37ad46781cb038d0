/** Requirements of SCIM users, of every store driver. */

import { scimTag } from '../../../seats-admin/model/entity-tag.ts'
import { MAX_SCIM_RESOURCE, type ScimUserInput } from '../../../seats-admin/model/scim.ts'
import { MAX_SCIM_PAGE } from '../../../seats-admin/store/scim-store.ts'
import { editScimUser } from '../../../seats-admin/store/scim-edit.ts'
import { soundChain } from './audit-chain.ts'
import { ADMIN, BEGINNING, column, MISSING, numbered, seat, signedIn, suite } from './conformance.ts'
import {
  changesOfUsers,
  deletedUser,
  edited,
  groupsOf,
  inputOfUser,
  made,
  refusedAs,
  scim,
  scimUser,
  userInput,
} from './scim-records.ts'

const NONE = { startIndex: 1, count: MAX_SCIM_PAGE }

export const scimUserConformance = suite((test) => {
  test('a user as the provider describes it', async (t, store) => {
    const input = userInput('Ann', { displayName: 'Ann B.', resource: { phoneNumbers: [{ value: '1' }] } })
    const now = Date.now()
    const written = made(await store.createScimUser(scim({ now }), 'externalId', input))
    const { value: user } = written
    t.match(user, { ...input, tenant: 'acme', version: 1, createdAt: now, modifiedAt: now })
    t.same(written.changes, changesOfUsers(user))
    t.same(written.revocations, [])
    t.same((await store.changesSince(BEGINNING)).changes, numbered(written))
    t.same(await store.readScimUser('acme', user.id), user)
    t.equal(await store.readScimUser('globex', user.id), null)
    for (const id of [MISSING, '', '\0', "'"]) t.equal(await store.readScimUser('acme', id), null)
  })

  test('texts that are not stored, and limits', async (t, store) => {
    const long = (count: number) => 'ä'.repeat(count)
    const wrong: Partial<ScimUserInput>[] = [
      { userName: '' },
      { userName: long(256) },
      { userName: 'a\0' },
      { externalId: '' },
      { externalId: long(256) },
      { externalId: '\ud800' },
      { email: long(321) },
      { displayName: long(513) },
      { resource: { note: 'x'.repeat(MAX_SCIM_RESOURCE) } },
    ]
    for (const more of wrong) {
      const result = await store.createScimUser(scim(), 'externalId', userInput('ann', more))
      t.equal(refusedAs(result), 'invalid_value', JSON.stringify(more).slice(0, 40))
    }
    t.equal((await store.listScimUsers('acme', { filter: {}, ...NONE })).total, 0)
    const odd = { note: '\0 \ud800 "', ['__proto__']: 'x', more: 'x'.repeat(MAX_SCIM_RESOURCE - 200) }
    const longest = { userName: long(255), externalId: long(255), email: long(320), displayName: long(512) }
    const user = await scimUser(store, '', { ...longest, resource: JSON.parse(JSON.stringify(odd)) })
    t.same(await store.readScimUser('acme', user.id), user)
    t.equal(
      refusedAs(await store.updateScimUser(scim(), 'externalId', user.id, 1, userInput('\0'))),
      'invalid_value',
    )
  })

  test('userName without regard to case, and externalId, are unique in the tenant', async (t, store) => {
    const [ann, ben] = [await scimUser(store, 'Ann'), await scimUser(store, 'ben')]
    const create = async (input: ScimUserInput, tenant = 'acme') =>
      refusedAs(await store.createScimUser(scim({ tenant }), 'externalId', input))
    t.equal(await create(userInput('aNN', { externalId: 'other' })), 'uniqueness')
    t.equal(await create(userInput('other', { externalId: 'x-Ann' })), 'uniqueness')
    t.equal(await create(userInput('Ann'), 'globex'), 'not refused')
    t.equal(
      await create(userInput('X-ANN', { externalId: 'X-ANN' })),
      'not refused',
      'externalId with its case',
    )
    t.equal(await create(userInput('none', { externalId: null })), 'not refused')
    t.equal(await create(userInput('none too', { externalId: null })), 'not refused')
    const change = async (more: Partial<ScimUserInput>) =>
      refusedAs(await store.updateScimUser(scim(), 'externalId', ben.id, 1, { ...inputOfUser(ben), ...more }))
    t.equal(await change({ userName: 'ANN' }), 'uniqueness')
    t.equal(await change({ externalId: 'x-Ann' }), 'uniqueness')
    t.same(await store.readScimUser('acme', ben.id), ben)
    t.equal(await change({ userName: 'Ben' }), 'not refused', 'the case of its own name')
    t.ok(await store.readScimUser('acme', ann.id))
  })

  test('only what decisions read is numbered', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const head = async () => (await store.changesSince(null)).head
    const before = await head()
    const titled = await edited(store, user, { resource: { title: 'Director' }, email: 'b@acme.example' })
    t.match(titled, { seq: before.seq, mark: before.mark, changes: [], value: { version: 2 } })
    t.same(await head(), before, 'a reader at the head goes on')
    t.same(await store.changesSince(before), { head: before, changes: [] })
    const renamed = await edited(store, user, { userName: 'Ann' })
    t.same(renamed.changes, changesOfUsers(user, renamed.value), 'the former and the new key')
    t.same((await store.changesSince(before)).changes, numbered(renamed))
  })

  test('an update without a difference changes nothing', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const before = await store.changesSince(null)
    const head = await store.audit.head('acme')
    const same = await edited(store, user, {})
    t.match(same, { ...before.head, changes: [], revocations: [], value: user })
    t.same(await store.readScimUser('acme', user.id), user)
    t.same(await store.audit.head('acme'), head)
  })

  test('tags and versions', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const tags = [scimTag(user)]
    const update = async (
      version: number,
      more: Partial<ScimUserInput>,
      ifMatch: readonly string[] | '*' = '*',
    ) =>
      store.updateScimUser(scim({ ifMatch }), 'externalId', user.id, version, {
        ...inputOfUser(user),
        ...more,
      })
    t.equal(refusedAs(await update(1, { email: null }, ['"1"'])), 'precondition_failed')
    const second = made(await update(1, { email: null }, tags)).value
    tags.push(scimTag(second))
    t.equal(refusedAs(await update(1, { displayName: 'x' })), 'changed')
    t.equal(refusedAs(await update(2, { displayName: 'x' }, tags.slice(0, 1))), 'precondition_failed')
    tags.push(scimTag(made(await update(2, {})).value))
    t.equal(new Set(tags).size, 3)
    const remove = async (ifMatch: readonly string[]) =>
      refusedAs(await store.deleteScimUser(scim({ ifMatch }), 'externalId', user.id))
    t.equal(await remove(tags.slice(0, 2)), 'precondition_failed')
    t.equal(await remove(tags.slice(2)), 'not refused')
    t.equal(await remove(tags.slice(2)), 'precondition_failed', 'the user is inactive now')
    await deletedUser(store, user.id)
    t.equal(await remove(tags.slice(2)), 'not_found')
    for (const id of [MISSING, '\0', user.id])
      t.equal(refusedAs(await store.updateScimUser(scim(), 'externalId', id, 1, userInput('x'))), 'not_found')
  })

  test('of edits at the same time, each is made on the state that the others left', async (t, store) => {
    const { id } = await scimUser(store, 'ann', { resource: {} })
    const edits = Array.from({ length: 8 }, (_, at) =>
      editScimUser(store, scim(), { mode: 'externalId', id }, (user) => ({
        ...inputOfUser(user),
        resource: { ...user.resource, [`field ${at}`]: at },
      })),
    )
    for (const result of await Promise.all(edits)) made(result)
    const user = await store.readScimUser('acme', id)
    t.equal(Object.keys(user?.resource ?? {}).length, 8)
    t.equal(user?.version, 9)
  })

  test('an edit may refuse, and knows who is gone', async (t, store) => {
    const { id } = await scimUser(store, 'ann')
    const at = { mode: 'externalId', id } as const
    const refusal = { refused: 'no target' }
    t.equal(await editScimUser(store, scim(), at, () => refusal), refusal)
    const stale = scim({ ifMatch: ['"7-abc"'] })
    t.equal(refusedAs(await editScimUser(store, stale, at, inputOfUser)), 'precondition_failed')
    t.equal(refusedAs(await editScimUser(store, scim({ tenant: 'globex' }), at, inputOfUser)), 'not_found')
  })

  test('lists by each attribute, and all of them together', async (t, store) => {
    const users = [
      await scimUser(store, 'Ann', { displayName: 'Ann' }),
      await scimUser(store, 'ben', { displayName: 'Ann', email: 'Shared@acme.example' }),
      await scimUser(store, 'cid', { email: 'shared@ACME.example', externalId: null }),
    ]
    await scimUser(store, 'Ann', { displayName: 'Ann' }, { as: scim({ tenant: 'globex' }) })
    const listed = async (filter: object) => {
      const { data, total } = await store.listScimUsers('acme', { filter, ...NONE })
      t.equal(total, data.length)
      return column(data, 'userName')
    }
    t.same(await store.listScimUsers('acme', { filter: {}, ...NONE }), { data: users, total: 3 })
    t.same(await listed({ userName: 'ANN' }), ['Ann'])
    t.same(await listed({ externalId: 'x-ben' }), ['ben'])
    t.same(await listed({ externalId: 'X-ben' }), [])
    t.same(await listed({ displayName: 'Ann' }), ['Ann', 'ben'])
    t.same(await listed({ email: 'SHARED@acme.example' }), ['ben', 'cid'])
    t.same(await listed({ email: 'shared@acme.example', displayName: 'Ann', userName: 'Ben' }), ['ben'])
    t.same(await listed({ email: 'shared@acme.example', userName: 'ann' }), [])
    for (const odd of ['', '\0', '\ud800', '%', "' OR 1=1 --"])
      for (const name of ['userName', 'externalId', 'displayName', 'email'])
        t.same(await listed({ [name]: odd }), [], `${name} ${odd}`)
  })

  test('pages begin at an index, and end where they are large', async (t, store) => {
    const names = Array.from({ length: 7 }, (_, at) => `user ${at}`)
    for (const name of names) await scimUser(store, name, { resource: { note: 'x'.repeat(100_000) } })
    const page = async (startIndex: number, count: number) => {
      const { data, total } = await store.listScimUsers('acme', { filter: {}, startIndex, count })
      t.equal(total, 7)
      return column(data, 'userName')
    }
    t.same(await page(1, 2), names.slice(0, 2))
    t.same(await page(3, 2), names.slice(2, 4))
    t.same(await page(-3, 1), names.slice(0, 1))
    t.same(await page(7, 5), names.slice(6))
    t.same(await page(8, 5), [])
    t.same(await page(1, 0), [])
    t.same(await page(2 ** 40, 5), [])
    const whole: string[] = []
    while (whole.length < names.length) whole.push(...(await page(whole.length + 1, MAX_SCIM_PAGE)))
    t.same(whole, names)
    t.ok((await page(1, MAX_SCIM_PAGE)).length < names.length, 'not all at once')
  })

  test('a deleted user is gone, and its names are free', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const { off, gone } = await deletedUser(store, user.id)
    t.match(off.value, { active: false })
    t.same(gone.changes.at(-1), changesOfUsers(user)[0])
    t.equal(await store.readScimUser('acme', user.id), null)
    t.equal(await groupsOf(store, 'x-ann'), null)
    const again = await scimUser(store, 'ANN', { externalId: 'x-ann' })
    t.not(again.id, user.id)
    t.equal(
      refusedAs(await store.deleteScimUser(scim({ tenant: 'globex' }), 'externalId', again.id)),
      'not_found',
    )
  })

  test('administration knows users who never signed in, where the key is a sub', async (t, store) => {
    const known = async (sub: string) => store.readUser('acme', sub, ADMIN)
    const user = await scimUser(store, 'ann', { displayName: 'Ann' })
    t.match(await known('x-ann'), { email: 'ann@acme.example', name: 'Ann', lastSignIn: null, seats: [] })
    await edited(store, user, { email: null })
    t.match(await known('x-ann'), { email: null, name: 'Ann' })
    await edited(store, user, { externalId: 'x-two' })
    t.equal(await known('x-ann'), null)
    t.match(await known('x-two'), { name: 'Ann' })
    await store.recordSignIn('acme', { ...signedIn('x-two', 5), email: 'sign@in.example' }, [])
    await edited(store, user, { email: 'late@acme.example' })
    t.match(await known('x-two'), { email: 'sign@in.example', lastSignIn: 5 }, 'a sign-in knows better')
    await deletedUser(store, user.id)
    t.match(await known('x-two'), { lastSignIn: 5 }, 'who signed in stays')
    const byName = await scimUser(store, 'ben', {}, { mode: 'userName' })
    t.ok(await known('ben'))
    await deletedUser(store, byName.id, 'userName')
    t.equal(await known('ben'), null)
    await scimUser(store, 'cid', {}, { mode: 'claim' })
    t.same(
      (await store.listUsers('acme', { limit: 9, after: null, scope: ADMIN })).data.map(({ sub }) => sub),
      ['x-two'],
    )
  })

  test('a user of before sign-ins were recorded stays', async (t, store) => {
    const { id } = await seat(store, 'A')
    await store.recordSignIn('acme', signedIn('x-ann'), [id])
    const user = await scimUser(store, 'ann')
    await deletedUser(store, user.id)
    t.match(await store.readUser('acme', 'x-ann', ADMIN), { seats: ['A'] })
  })

  test('the audit has each change, by the provider, without telephone numbers', async (t, store) => {
    const user = await scimUser(store, 'ann', { resource: { phoneNumbers: [{ value: '+1 555' }] } })
    await edited(store, user, { displayName: 'Ann', resource: { phoneNumbers: [{ value: '+1 556' }] } })
    await deletedUser(store, user.id, 'externalId', scim({ requestId: 'r1' }))
    const entries = (await soundChain(t, store)).filter(({ target }) => target.kind === 'scim-user')
    t.same(column(entries, 'action'), [
      'scim_user.create',
      'scim_user.update',
      'scim_user.update',
      'scim_user.delete',
    ])
    t.same(entries[0]?.actor, { kind: 'provider', id: 'scim' })
    t.same(entries[0]?.target, { kind: 'scim-user', id: user.id, name: 'ann' })
    const form = {
      id: user.id,
      user_name: 'ann',
      external_id: 'x-ann',
      active: true,
      email: 'ann@acme.example',
    }
    t.same(entries[0]?.after, { ...form, version: 1 })
    t.same(entries[1]?.before, { ...form, version: 1 })
    t.same(entries[1]?.after, { ...form, display_name: 'Ann', version: 2 })
    t.same(entries[2]?.after, { ...form, active: false, display_name: 'Ann', version: 3 })
    t.same(entries[3]?.before, entries[2]?.after)
    t.same(entries[3]?.after, null)
    t.same(column(entries, 'request_id').slice(2), ['r1', 'r1'])
    t.notMatch(JSON.stringify(entries), /\+1 55/)
  })
})
