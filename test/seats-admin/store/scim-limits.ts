/** Users and groups of SCIM at their limits. For each driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { MAX_USER_GROUPS, type ScimGroupStep, shortSteps } from '../../../seats-admin/model/scim.ts'
import { soundChain } from './audit-chain.ts'
import {
  everyUser,
  groupsOf,
  idAt,
  made,
  memberIds,
  refusedAs,
  rowsOfScim,
  scim,
  scimGroup,
} from './scim-records.ts'
import type { Database } from './in-turn.ts'

type Open = (t: Test) => Promise<Database & { readonly store: Store }>

export function scimLimits(t: Test, open: Open): void {
  t.test('a user is in 1,000 groups at most', async (t) => {
    const { store, run } = await open(t)
    await run(rowsOfScim(2, MAX_USER_GROUPS))
    const result = await store.createScimGroup(scim(), { displayName: 'more', externalId: null }, [
      idAt(1),
      idAt(0),
    ])
    t.equal(refusedAs(result), 'invalid_value')
    t.equal((await groupsOf(store, 'x-u0'))?.groups.length, MAX_USER_GROUPS)
    t.same(await groupsOf(store, 'x-u1'), { active: true, groups: [] })
    t.equal(
      (await store.listScimGroups('acme', { filter: {}, startIndex: 1, count: 0 })).total,
      MAX_USER_GROUPS,
    )
    const { data } = await store.listScimGroups('acme', {
      filter: { member: idAt(0) },
      startIndex: 501,
      count: 500,
    })
    t.equal(data.length, 500)
    made(await store.deleteScimUser(scim(), 'externalId', idAt(0)))
    t.match(await store.readScimGroup('acme', data[0]?.id ?? ''), {
      memberCount: 0,
      activeCount: 0,
      version: 2,
    })
    t.same(await memberIds(store, data[0]?.id ?? ''), [])
  })

  t.test('a change of more than 1,000 members concerns every user', async (t) => {
    const { store, run } = await open(t)
    await run(rowsOfScim(2500, 0))
    const ids = Array.from({ length: 2500 }, (_, at) => idAt(at))
    const { id } = await scimGroup(store, 'A')
    const changed = async (...steps: ScimGroupStep[]) =>
      made(await store.updateScimGroup(scim(), id, shortSteps(steps)))
    t.equal((await changed({ add: ids.slice(0, 1000) })).changes.length, 1000)
    t.equal((await changed({ replace: ids.slice(0, 1001) })).changes.length, 1)
    t.same((await changed({ set: { displayName: 'B' } })).changes, [everyUser])
    t.same((await changed({ remove: ids })).changes, [everyUser])
    t.match(await changed({ add: ids }, { remove: ids.slice(5) }), {
      value: { memberCount: 5, activeCount: 5 },
    })
    t.match((await soundChain(t, store)).at(-1)?.after, {
      members: 5,
      added: { count: 5, ids: ids.slice(0, 5) },
    })
    await changed({ replace: ids })
    t.same(await memberIds(store, id), ids)
    const last = (await soundChain(t, store)).at(-1)
    t.match(last, { action: 'scim_group.update', after: { members: 2500, added: { count: 2495 } } })
    t.ok(JSON.stringify(last).length < 5000, 'not all ids are named')
    t.same((await changed({ replace: ids.slice(2000) })).changes, [everyUser])
    t.same(await memberIds(store, id), ids.slice(2000))
    t.equal(made(await store.deleteScimGroup(scim(), id)).changes.length, 500)
    t.same(await groupsOf(store, 'x-u2001'), { active: true, groups: [] })
    const written = made(await store.createScimGroup(scim(), { displayName: 'A', externalId: null }, ids))
    t.same(written.changes, [everyUser])
    t.same(made(await store.deleteScimGroup(scim(), written.value.id)).changes, [everyUser])
  })
}
