/** Users and groups of SCIM at their limits. For each driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { MAX_USER_GROUPS, type ScimGroupStep, shortSteps } from '../../../seats-admin/model/scim.ts'
import { scimTag } from '../../../seats-admin/model/entity-tag.ts'
import { editScimUser } from '../../../seats-admin/store/scim-edit.ts'
import { leastStall } from '../../support/stalls.ts'
import { soundChain } from './audit-chain.ts'
import { column } from './conformance.ts'
import {
  deletedUser,
  everyUser,
  groupsOf,
  idAt,
  inputOfUser,
  made,
  memberIds,
  refusedAs,
  rowsOfScim,
  scim,
  scimGroup,
} from './scim-records.ts'
import type { Database } from './in-turn.ts'

type Open = (t: Test) => Promise<Database & { readonly store: Store }>

/** Writers of several stores at the same time. @param open with two stores on one database */
export function scimWriters(t: Test, open: Open): void {
  t.test('changes of one group and of one user by two stores at once are all made', async (t) => {
    const { stores, run } = await open(t)
    const [one, two] = stores
    if (one === undefined || two === undefined) throw new Error('two stores')
    await run(rowsOfScim(40, 0))
    const { id } = await scimGroup(one, 'A', [idAt(39)])
    const patches = Array.from({ length: 20 }, (_, at) => {
      const steps = at === 7 ? [{ add: [idAt(at)] }, { remove: [idAt(39)] }] : [{ add: [idAt(at)] }]
      return (at % 2 === 0 ? one : two).updateScimGroup(scim(), id, steps)
    })
    const edits = Array.from({ length: 12 }, (_, at) =>
      editScimUser(at % 2 === 0 ? one : two, scim(), { mode: 'externalId', id: idAt(30) }, (user) => ({
        ...inputOfUser(user),
        resource: { ...user.resource, [`field ${at}`]: at },
      })),
    )
    for (const result of await Promise.all([...patches, ...edits])) made(result)
    t.same(
      await memberIds(two, id),
      Array.from({ length: 20 }, (_, at) => idAt(at)),
    )
    t.match(await two.readScimGroup('acme', id), { memberCount: 20, activeCount: 20, version: 21 })
    t.equal(Object.keys((await one.readScimUser('acme', idAt(30)))?.resource ?? {}).length, 12)
    await soundChain(t, two)
    const { changes } = await two.changesSince(null)
    t.same(
      column(changes ?? [], 'seq'),
      Array.from({ length: changes?.length ?? 0 }, (_, at) => at + 1),
    )
  })

  t.test('of two writes that condition each other away, one is made', async (t) => {
    const { stores, run } = await open(t)
    const [one, two] = stores
    if (one === undefined || two === undefined) throw new Error('two stores')
    await run(rowsOfScim(2, 0))
    for (let round = 0; round < 5; round++) {
      const group = await scimGroup(one, `group ${round}`)
      const ifMatch = [scimTag(group)]
      const results = await Promise.all(
        [one, two].map((store, at) =>
          store.updateScimGroup(scim({ ifMatch }), group.id, [{ add: [idAt(at)] }]),
        ),
      )
      t.same(results.map(refusedAs).toSorted(), ['not refused', 'precondition_failed'])
      t.equal((await memberIds(two, group.id)).length, 1)
      const renamed = await Promise.all(
        [one, two].map((store) =>
          store.createScimGroup(scim(), { displayName: `new ${round}`, externalId: null }, []),
        ),
      )
      t.same(renamed.map(refusedAs).toSorted(), ['not refused', 'uniqueness'])
    }
  })
}

/** More than ten of the pieces of which large lists are read and written. */
const COUNT = 12_000

/** The work on a large group neither holds the event loop nor grows with the square of its members. */
export function scimScale(t: Test, open: Open): void {
  t.test('12,000 members', { timeout: 300_000 }, async (t) => {
    const { store, run } = await open(t)
    await run(rowsOfScim(COUNT, 0))
    const ids = Array.from({ length: COUNT }, (_, at) => idAt(at))
    const { id } = await scimGroup(store, 'A')
    const change = (...steps: ScimGroupStep[]) => store.updateScimGroup(scim(), id, shortSteps(steps))
    const works: Record<string, () => Promise<unknown>> = {
      add: () => change({ add: ids }),
      'replace by the same': () => change({ replace: ids }),
      'replace by half': () => change({ replace: ids.slice(COUNT / 2) }),
      rename: () => change({ set: { displayName: 'B' } }),
      remove: () => change({ remove: ids }),
      create: () => store.createScimGroup(scim(), { displayName: `C ${++names}`, externalId: null }, ids),
    }
    let names = 0
    for (const [name, work] of Object.entries(works)) {
      const { isShort, stall, result } = await leastStall(work)
      t.ok(isShort, `${name}: held for ${stall.toFixed(1)} ms`)
      t.equal(refusedAs(result), 'not refused', name)
    }
    const { data } = await store.listScimGroups('acme', { filter: {}, startIndex: 2, count: 1 })
    t.match(data[0], { memberCount: COUNT, activeCount: COUNT })
    t.same(await memberIds(store, id), [])
    t.equal((await memberIds(store, data[0]?.id ?? '')).length, COUNT)
  })
}

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
    await deletedUser(store, idAt(0))
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
