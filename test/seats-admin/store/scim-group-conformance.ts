/** Requirements of SCIM groups and memberships, of every store driver. */

import { scimTag } from '../../../seats-admin/model/entity-tag.ts'
import {
  membershipKeyOf,
  shortSteps,
  type ScimGroupStep,
  type ScimUser,
} from '../../../seats-admin/model/scim.ts'
import { MAX_SCIM_PAGE } from '../../../seats-admin/store/scim-store.ts'
import type { Store } from '../../../seats-admin/index.ts'
import { Random } from '../../support/random.ts'
import { soundChain } from './audit-chain.ts'
import { BEGINNING, bytewise, column, MISSING, numbered, suite } from './conformance.ts'
import {
  changesOfUsers,
  deletedUser,
  edited,
  groupsOf,
  made,
  memberIds,
  refusedAs,
  scim,
  scimGroup,
  scimUser,
} from './scim-records.ts'

const ALL = { startIndex: 1, count: MAX_SCIM_PAGE }

async function changed(store: Store, id: string, ...steps: readonly ScimGroupStep[]) {
  return made(await store.updateScimGroup(scim(), id, shortSteps(steps)))
}

/** A user of each name. */
async function users<N extends readonly string[]>(store: Store, ...names: N) {
  const all = await Promise.all(names.map((name) => scimUser(store, name)))
  return all as { -readonly [K in keyof N]: ScimUser }
}

/** What is wrong with the counts of groups, and with members who are no users. */
async function countFaults(store: Store, tenant = 'acme'): Promise<string[]> {
  const faults: string[] = []
  const { data } = await store.listScimGroups(tenant, { filter: {}, ...ALL })
  for (const group of data) {
    const ids = await memberIds(store, group.id, 1000, tenant)
    const members = await Promise.all(ids.map((id) => store.readScimUser(tenant, id)))
    const active = members.filter((user) => user?.active === true).length
    if (members.includes(null)) faults.push(`${group.displayName} has a member who is no user`)
    if (group.memberCount !== ids.length)
      faults.push(`${group.displayName}: ${group.memberCount} of ${ids.length}`)
    if (group.activeCount !== active)
      faults.push(`${group.displayName}: ${group.activeCount} of ${active} active`)
  }
  return faults
}

export const scimGroupConformance = suite((test) => {
  test('a group with members', async (t, store) => {
    const [ann, ben] = await users(store, 'ann', 'ben', 'cid')
    const input = { displayName: 'Viewer', externalId: 'g-1' }
    const now = Date.now()
    const written = made(await store.createScimGroup(scim({ now }), input, [ben.id, ann.id, ben.id]))
    const { value: group } = written
    t.match(group, { ...input, tenant: 'acme', memberCount: 2, activeCount: 2, version: 1, createdAt: now })
    t.same(written.revocations, [])
    t.same(new Set(column(written.changes, 'key')), new Set(column(changesOfUsers(ann, ben), 'key')))
    t.same((await store.changesSince(null)).changes?.slice(3), numbered(written))
    t.same(await store.readScimGroup('acme', group.id), group)
    t.equal(await store.readScimGroup('globex', group.id), null)
    for (const id of [MISSING, '', '\0']) t.equal(await store.readScimGroup('acme', id), null)
    const { data } = await store.listScimMembers('acme', group.id, { limit: 9, after: null })
    t.same(column(data, 'userName').toSorted(), ['ann', 'ben'])
    t.same((await store.listScimMembers('globex', group.id, { limit: 9, after: null })).data, [])
    t.same(await groupsOf(store, 'x-ann'), { active: true, groups: ['Viewer'] })
    t.same(await groupsOf(store, 'x-cid'), { active: true, groups: [] })
  })

  test('the member key of each mode, compared exactly', async (t, store) => {
    const user = await scimUser(store, 'Ann', { externalId: 'X1' })
    await scimGroup(store, 'Viewer', [user.id])
    const expected = { active: true, groups: ['Viewer'] }
    t.same(await groupsOf(store, 'X1', 'externalId'), expected)
    t.same(await groupsOf(store, 'X1', 'claim'), expected)
    t.same(await groupsOf(store, 'Ann', 'userName'), expected)
    for (const key of ['x1', 'Ann', '', '\0', '\ud800', user.id, 'Ann@acme.example'])
      t.equal(await groupsOf(store, key, 'externalId'), null, `externalId ${key}`)
    for (const key of ['ann', 'ANN', 'X1', '', '\0'])
      t.equal(await groupsOf(store, key, 'userName'), null, key)
    t.equal(await groupsOf(store, 'X1', 'externalId', 'globex'), null)
    const none = await scimUser(store, 'null', { externalId: null })
    await scimGroup(store, 'Editor', [none.id])
    t.equal(await groupsOf(store, 'null', 'externalId'), null, 'who has no externalId')
    const { seq, mark } = await store.membership('acme', 'externalId', 'X1')
    t.same({ seq, mark }, (await store.changesSince(null)).head, 'with the position of the store')
  })

  test('groups of a user are in order, with quotes and any letters', async (t, store) => {
    const user = await scimUser(store, 'ann')
    const names = ['é', 'a"b', 'Z', 'a', "'; --", '💺', '[', 'x'.repeat(512)]
    for (const name of names) await scimGroup(store, name, [user.id])
    t.same((await groupsOf(store, 'x-ann'))?.groups, names.toSorted(bytewise))
  })

  test('names of groups: exact, unique, and not any text', async (t, store) => {
    const group = await scimGroup(store, 'Viewer')
    const create = async (displayName: string, externalId: string | null = null, tenant = 'acme') =>
      refusedAs(await store.createScimGroup(scim({ tenant }), { displayName, externalId }, []))
    t.equal(await create('Viewer'), 'uniqueness')
    t.equal(await create('viewer', 'same'), 'not refused')
    t.equal(await create('other', 'same'), 'not refused', 'of groups, externalId is not unique')
    t.equal(await create('Viewer', null, 'globex'), 'not refused')
    for (const name of ['', '\0', '\ud800', 'x'.repeat(513)]) t.equal(await create(name), 'invalid_value')
    t.equal(await create('x', ''), 'invalid_value')
    const rename = async (displayName: string) =>
      refusedAs(await store.updateScimGroup(scim(), group.id, [{ set: { displayName } }]))
    t.equal(await rename('viewer'), 'uniqueness')
    t.equal(await rename('\0'), 'invalid_value')
    t.equal(await rename('Viewer'), 'not refused')
    t.same(await store.readScimGroup('acme', group.id), group)
  })

  test('steps are made in order, all of them or none', async (t, store) => {
    const [{ id: ann }, { id: ben }, { id: cid }] = await users(store, 'ann', 'ben', 'cid')
    const { id } = await scimGroup(store, 'Viewer', [ann])
    const after = async (...steps: ScimGroupStep[]) => {
      const { value } = await changed(store, id, ...steps)
      const ids = await memberIds(store, id, 1)
      t.equal(value.memberCount, ids.length)
      return new Set(ids)
    }
    t.same(await after({ add: [ben] }, { remove: [ann] }), new Set([ben]))
    t.same(await after({ remove: [ben] }, { add: [ben, cid] }), new Set([ben, cid]))
    t.same(await after({ replace: [ann] }), new Set([ann]))
    t.same(await after({ replace: [] }, { add: [cid] }), new Set([cid]))
    t.same(
      await after({ add: [ann, ben] }, { replace: [ben] }, { add: [ann] }, { remove: [ben] }),
      new Set([ann]),
    )
    t.same(await after({ remove: [cid, MISSING, 'no id', '\0'] }), new Set([ann]), 'who is none stays none')
    const before = await store.readScimGroup('acme', id)
    const head = await store.changesSince(null)
    for (const unknown of [MISSING, 'no id', '\0', '', id])
      for (const steps of [
        [{ set: { displayName: 'New' } }, { remove: [ann] }, { add: [ben, unknown] }],
        [{ replace: [ben, unknown] }],
      ])
        t.equal(refusedAs(await store.updateScimGroup(scim(), id, steps)), 'invalid_value')
    const foreign = await scimUser(store, 'zoe', {}, { as: scim({ tenant: 'globex' }) })
    t.equal(refusedAs(await store.updateScimGroup(scim(), id, [{ add: [foreign.id] }])), 'invalid_value')
    t.same(await store.readScimGroup('acme', id), before)
    t.equal(
      (await store.changesSince(null)).head.seq,
      head.head.seq + 1,
      'the user of the other tenant alone',
    )
    t.same(await memberIds(store, id), [ann])
    t.same(await countFaults(store), [])
  })

  test('the changes name who came or went, each with both keys', async (t, store) => {
    const [ann, ben, cid] = await users(store, 'ann', 'ben', 'cid')
    const { id } = await scimGroup(store, 'Viewer', [ann.id, ben.id])
    const keys = async (...steps: ScimGroupStep[]) => {
      const written = await changed(store, id, ...steps)
      t.same(
        (await store.changesSince(null)).changes?.slice(-written.changes.length || Infinity),
        numbered(written),
      )
      return new Set(column(written.changes, 'key'))
    }
    const of = (...some: readonly ScimUser[]) => new Set(column(changesOfUsers(...some), 'key'))
    t.same(await keys({ add: [cid.id, ann.id] }), of(cid))
    t.same(await keys({ remove: [ann.id] }), of(ann))
    t.same(await keys({ replace: [ann.id, cid.id] }), of(ann, ben))
    t.same(await keys({ set: { externalId: 'x' } }), of(), 'no decision depends on it')
    t.same(await keys({ set: { displayName: 'Editor' } }), of(ann, cid))
    t.same(await groupsOf(store, 'x-ann'), { active: true, groups: ['Editor'] })
    t.same(await keys({ set: { displayName: 'Viewer' } }, { remove: [cid.id] }), of(ann, cid))
    const gone = made(await store.deleteScimGroup(scim(), id))
    t.same(gone.changes, changesOfUsers(ann))
    t.same(await groupsOf(store, 'x-ann'), { active: true, groups: [] })
    t.equal(await store.readScimGroup('acme', id), null)
    t.equal(refusedAs(await store.deleteScimGroup(scim(), id)), 'not_found')
    t.equal(refusedAs(await store.updateScimGroup(scim(), id, [])), 'not_found')
    for (const { key } of changesOfUsers(ann)) t.same(membershipKeyOf(key), ['x-ann', 'ann'])
    for (const odd of ['null', '{}', '["a"]', '[1,"a"]', '["a",null]']) t.equal(membershipKeyOf(odd), null)
  })

  test('a change without a difference, and what takes no rights', async (t, store) => {
    const [ann] = await users(store, 'ann')
    const group = await scimGroup(store, 'Viewer', [ann.id])
    const { head } = await store.changesSince(null)
    const audited = await store.audit.head('acme')
    const steps: ScimGroupStep[][] = [
      [],
      [{ add: [ann.id] }],
      [{ remove: [MISSING] }],
      [{ replace: [ann.id] }],
      [{ remove: [ann.id] }, { add: [ann.id] }],
      [{ set: { displayName: 'Viewer', externalId: null } }],
    ]
    for (const each of steps)
      t.match(await changed(store, group.id, ...each), { ...head, changes: [], value: group })
    t.same(await store.audit.head('acme'), audited)
    t.same(await memberIds(store, group.id), [ann.id])
  })

  test('tags of groups', async (t, store) => {
    const [ann] = await users(store, 'ann')
    const group = await scimGroup(store, 'Viewer')
    const stale = scim({ ifMatch: ['"9-abc"'] })
    t.equal(refusedAs(await store.updateScimGroup(stale, group.id, [])), 'precondition_failed')
    t.equal(refusedAs(await store.deleteScimGroup(stale, group.id)), 'precondition_failed')
    const steps = [{ add: [ann.id] }]
    const first = scim({ ifMatch: [scimTag(group)] })
    const results = await Promise.all([1, 2].map(() => store.updateScimGroup(first, group.id, steps)))
    t.same(results.map(refusedAs).toSorted(), ['not refused', 'precondition_failed'], 'of two at once')
    const [other] = await users(store, 'ben')
    t.equal(
      refusedAs(await store.updateScimGroup(first, group.id, [{ add: [other.id] }])),
      'precondition_failed',
    )
  })

  test('a deleted user leaves all groups, whose tags change', async (t, store) => {
    const [ann, ben] = await users(store, 'ann', 'ben')
    const groups = [
      await scimGroup(store, 'A', [ann.id, ben.id]),
      await scimGroup(store, 'B', [ann.id]),
      await scimGroup(store, 'C', [ben.id]),
    ]
    await deletedUser(store, ann.id)
    const { data } = await store.listScimGroups('acme', { filter: {}, ...ALL })
    t.same(
      data.map(({ memberCount, version }) => [memberCount, version]),
      [
        [1, 2],
        [0, 2],
        [1, 1],
      ],
    )
    const tags = data.map(scimTag)
    for (const [at, group] of groups.entries())
      t.equal(tags[at] === scimTag(group), at === 2, group.displayName)
    t.same(await countFaults(store), [])
  })

  test('lists of groups, by name, externalId and member', async (t, store) => {
    const [ann, ben] = await users(store, 'ann', 'ben')
    const member = ann.id
    for (const name of ['A', 'B', 'C', 'D'])
      made(
        await store.createScimGroup(
          scim(),
          { displayName: name, externalId: name < 'C' ? 'low' : null },
          name === 'D' ? [] : [member, ben.id],
        ),
      )
    const listed = async (filter: object, startIndex = 1, count = 9) => {
      const { data, total } = await store.listScimGroups('acme', { filter, startIndex, count })
      return [total, column(data, 'displayName').join('')]
    }
    t.same(await listed({}), [4, 'ABCD'])
    t.same(await listed({}, 2, 2), [4, 'BC'])
    t.same(await listed({ displayName: 'B' }), [1, 'B'])
    t.same(await listed({ displayName: 'b' }), [0, ''])
    t.same(await listed({ externalId: 'low' }, 2, 1), [2, 'B'])
    t.same(await listed({ member }), [3, 'ABC'])
    t.same(await listed({ member, externalId: 'low', displayName: 'A' }), [1, 'A'])
    for (const odd of ['', '\0', MISSING]) t.same(await listed({ member: odd }), [0, ''])
    t.same(await store.listScimGroups('globex', { filter: { member }, ...ALL }), { data: [], total: 0 })
  })

  test('pages of members', async (t, store) => {
    const ids = column(await users(store, ...Array.from({ length: 7 }, (_, at) => `u${at}`)), 'id')
    const { id } = await scimGroup(store, 'A', ids)
    for (const limit of [1, 3, 7, 8]) t.same(await memberIds(store, id, limit), ids.toSorted(bytewise))
    t.same(
      await store.listScimMembers('acme', id, { limit: 7, after: '\0' }).then(({ hasMore }) => hasMore),
      false,
    )
  })

  test('active members are counted', async (t, store) => {
    const [ann, ben] = await users(store, 'ann', 'ben')
    const off = await scimUser(store, 'off', { active: false })
    const group = await scimGroup(store, 'A', [ann.id, off.id])
    await scimGroup(store, 'B', [ann.id, ben.id])
    t.match(group, { memberCount: 2, activeCount: 1 })
    t.same(await groupsOf(store, 'x-off'), { active: false, groups: ['A'] })
    await edited(store, ann, { active: false })
    t.same(await countFaults(store), [])
    await edited(store, off, { active: true })
    t.match(await store.readScimGroup('acme', group.id), { memberCount: 2, activeCount: 1 })
    await deletedUser(store, ann.id)
    t.match(await store.readScimGroup('acme', group.id), { memberCount: 1, activeCount: 1 })
    t.same(await countFaults(store), [])
  })

  test('random steps leave what a model of them says', async (t, store) => {
    const random = new Random(20_261_129)
    const ids = column(await users(store, ...Array.from({ length: 12 }, (_, at) => `u${at}`)), 'id')
    const groups = [await scimGroup(store, 'A'), await scimGroup(store, 'B')]
    const model = new Map(groups.map(({ id }) => [id, new Set<string>()]))
    const some = () => ids.filter(() => random.below(3) === 0)
    for (let round = 0; round < 60; round++) {
      const { id } = groups[random.below(2)] ?? { id: '' }
      const before = new Set(model.get(id))
      const members = new Set(before)
      const steps = Array.from({ length: 1 + random.below(3) }, (): ScimGroupStep => {
        const list = some()
        const kind = random.below(3)
        if (kind === 2) members.clear()
        for (const each of list) {
          if (kind === 1) members.delete(each)
          else members.add(each)
        }
        return kind === 0 ? { add: list } : kind === 1 ? { remove: list } : { replace: list }
      })
      const written = await changed(store, id, ...steps)
      model.set(id, members)
      t.same(new Set(await memberIds(store, id)), members)
      const moved = before.symmetricDifference(members)
      const named = new Set(written.changes.map(({ key }) => key))
      t.ok(moved.size === 0 || named.size >= moved.size, 'each who moved is named')
    }
    t.same(await countFaults(store), [])
  })

  test('the audit names a hundred members at most', async (t, store) => {
    const [ann, ben] = await users(store, 'ann', 'ben')
    const { id } = await scimGroup(store, 'A', [ann.id])
    await changed(store, id, { set: { displayName: 'B' } }, { add: [ben.id] }, { remove: [ann.id] })
    made(await store.deleteScimGroup(scim(), id))
    const entries = (await soundChain(t, store)).filter(({ target }) => target.kind === 'scim-group')
    t.same(column(entries, 'action'), ['scim_group.create', 'scim_group.update', 'scim_group.delete'])
    t.same(entries[0]?.after, {
      id,
      display_name: 'A',
      members: 1,
      version: 1,
      added: { count: 1, ids: [ann.id] },
    })
    t.same(entries[1]?.before, { id, display_name: 'A', members: 1, version: 1 })
    t.same(entries[1]?.after, {
      ...{ id, display_name: 'B', members: 1, version: 2 },
      ...{ added: { count: 1, ids: [ben.id] }, removed: { count: 1, ids: [ann.id] } },
    })
    t.same(entries[2]?.target, { kind: 'scim-group', id, name: 'B' })
    t.same((await store.changesSince(BEGINNING)).changes?.length, 6)
  })
})
