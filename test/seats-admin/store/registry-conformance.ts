/** Requirements of the list of instances in every store that a fleet can share; skipped for other stores. */

import type { Test } from 'tap'
import type { Registry, Store } from '../../../seats-admin/index.ts'
import { UNDERSTOOD } from '../../../seats-admin/model/registered-instance.ts'
import { storedTablesOf, TABLES_IN_FILES } from '../../../seats-admin/model/tables-version.ts'
import { BEGINNING, seat, suite } from './conformance.ts'

export const registryConformance = suite((test) => {
  const registered = (name: string, run: (t: Test, store: Store, list: Registry) => Promise<void>) =>
    test(name, async (t, store) => {
      if (store.registry === null) t.pass('this store has a single gateway')
      else await run(t, store, store.registry)
    })

  registered(
    'an instance that is not listed gets `registered: false`, and leaves no trace',
    async (t, store, list) => {
      await seat(store, 'A')
      t.match(await list.follow('a', 1, BEGINNING, 0), {
        registered: false,
        head: { seq: 2 },
        changes: [{}, {}],
      })
      t.same(await list.instances(), [])
      await list.forget('a', 0)
      await list.leave('a')
    },
  )

  registered('a sign of life is also a reading of the feed', async (t, store, list) => {
    await list.register('a', 'host 1')
    await list.register('b', 'host\0 2')
    t.match(await list.follow('a', 1, null, 0), { registered: true, head: BEGINNING, changes: [] })
    await seat(store, 'A')
    const whole = await store.changesSince(BEGINNING)
    for (const [at, position] of [BEGINNING, null].entries())
      t.same(await list.follow('a', 2 + at, position, position?.seq ?? 0), { ...whole, registered: true })
    t.same(await list.follow('a', 4, { seq: 1, mark: whole.head.mark }, 1), {
      ...whole,
      changes: whole.changes?.slice(1),
      registered: true,
    })
    t.same(
      (await list.follow('a', 5, { ...whole.head, mark: whole.head.mark ^ 1 }, whole.head.seq)).changes,
      null,
    )
    t.match(
      await list.instances(),
      [{ beat: 5, applied: 0 }, {}],
      'changes applied in another history do not count',
    )
    t.same((await list.follow('a', 6, whole.head, whole.head.seq)).changes, [])
    t.match(await list.instances(), [
      { id: 'a', name: 'host 1', beat: 6, applied: 2 },
      { id: 'b', beat: 0, applied: 0 },
    ])
    for (const { age } of await list.instances()) t.ok(Number.isInteger(age) && age >= 0)
  })

  registered('a late beat has no effect', async (t, store, list) => {
    await seat(store, 'A')
    const { head } = await store.changesSince(null)
    await list.register('a', 'a')
    t.equal((await list.follow('a', 7, head, head.seq)).registered, true)
    for (const beat of [6, 7]) t.equal((await list.follow('a', beat, BEGINNING, 0)).registered, false)
    t.match(await list.instances(), [{ beat: 7, applied: 2 }])
    await list.register('a', 'again')
    t.match(await list.instances(), [{ name: 'again', beat: 7, applied: 2 }], 'registration is idempotent')
    t.equal((await list.follow('a', 8, head, head.seq)).registered, true)
  })

  registered('a sign of life carries the hash of the tables and the address, or none', async (t, _, list) => {
    await list.register('a', 'a')
    const shown = async () => {
      const [{ config, url } = { config: '', url: '' }] = await list.instances()
      return { config, url }
    }
    t.same(await shown(), { config: null, url: null }, 'not known before the first')
    const first = { config: '3f2a8c01d9e4', url: 'http://10.0.0.7:8080' }
    await list.follow('a', 1, null, 0, first)
    t.same(await shown(), first)
    const second = { config: '000000000001', url: null }
    await list.follow('a', 2, null, 0, second)
    t.same(await shown(), second, 'others after a reload')
    await list.follow('a', 2, null, 0, first)
    t.same(await shown(), second, 'a late beat has no effect')
  })

  registered('a sign of life carries the reload that was refused, or none', async (t, _, list) => {
    await list.register('a', 'a')
    const refused = { at: '2026-01-01T00:00:00.000Z', faults: 2, first: 'a.yaml:1:1: "\0" is no method' }
    const shown = { config: '3f2a8c01d9e4', url: null }
    await list.follow('a', 1, null, 0, { ...shown, refused })
    t.match(await list.instances(), [
      { ...shown, refused: { ...refused, first: 'a.yaml:1:1: "\ufffd" is no method' } },
    ])
    await list.follow('a', 2, null, 0, { ...shown, refused: null })
    t.match(await list.instances(), [{ refused: null }])
    await list.follow('a', 3, null, 0, { ...shown, refused })
    await list.follow('a', 4, null, 0, shown)
    t.match(await list.instances(), [{ refused: null }])
  })

  registered('a sign of life says where the tables are, or nothing', async (t, _, list) => {
    await list.register('a', 'a')
    const shown = async () => {
      const lists = [await list.instances(), await list.reachable()]
      return lists.map(([instance]) => instance?.tables)
    }
    t.same(await shown(), [null, null], 'not known before the first')
    const first = { config: null, url: null, tables: storedTablesOf('acme') }
    await list.follow('a', 1, null, 0, first)
    t.same(await shown(), ['store:acme', 'store:acme'])
    await list.follow('a', 2, null, 0, { ...first, tables: TABLES_IN_FILES })
    t.same(await shown(), ['files', 'files'])
    await list.follow('a', 3, null, 0)
    t.same(await shown(), [null, null])
    await list.forget('a', 3)
    t.match(await list.reachable(), [{ gone: true, tables: null }])
  })

  registered('an instance shows its secrets, of one tenant or all', async (t, _, list) => {
    await list.showSecrets('a', { acme: ['000000000001'] })
    t.same(await list.instances(), [], 'only if it is registered')
    await list.register('a', 'host 1')
    await list.register('b', 'host 2')
    const read = async (tenant: string | null) =>
      (await list.secrets(tenant)).map(({ id, name, secrets }) => ({ id, name, secrets }))
    const none = { id: 'b', name: 'host 2', secrets: null }
    t.same(await read('acme'), [{ id: 'a', name: 'host 1', secrets: null }, none])
    const secrets = { acme: ['000000000001', '000000000002'], globex: ['000000000003'] }
    await list.showSecrets('a', secrets)
    await list.follow('a', 1, null, 0)
    t.same(await read(null), [{ id: 'a', name: 'host 1', secrets }, none])
    t.match(await read('acme'), [{ secrets: { acme: secrets.acme, globex: undefined } }, none])
    t.match(await read('initech'), [{ secrets: { acme: undefined, initech: null } }, none])
    for (const { beat, age } of await list.secrets('acme')) t.ok(age >= 0 && beat <= 1)
    t.match(await list.instances(), [{ checksFiles: true }, { checksFiles: false }])
    await list.showSecrets('a', { acme: ['000000000002'] })
    await list.register('a', 'again')
    t.match(await read('acme'), [{ secrets: { acme: ['000000000002'] } }, none], 'it keeps them')
    await list.leave('a')
    await list.register('a', 'host 1')
    t.match(await read('acme'), [{ secrets: null }, none], 'a new entry has none')
  })

  registered('an instance tells its start and version, or none', async (t, _, list) => {
    await list.register('a', 'a', { startedAt: 1_764_164_700_123, version: '1.2.3' })
    await list.register('b', 'b')
    await list.register('c', 'c', { startedAt: 8.64e15 + 1, version: '1.2.3' })
    t.match(await list.instances(), [
      { id: 'a', startedAt: 1_764_164_700_123, version: '1.2.3' },
      { id: 'b', startedAt: null, version: null },
      { id: 'c', startedAt: null },
    ])
  })

  registered('an instance tells which changes it understands, and what it has cut', async (t, _, list) => {
    await list.register('a', 'a')
    const shown = async () => (await list.instances()).map(({ understands, cuts }) => ({ understands, cuts }))
    t.same(await shown(), [{ understands: UNDERSTOOD, cuts: [] }])
    const cuts = [
      { mark: 7, cut: { websockets: 1, streams: 2, requests: 3 } },
      { mark: 8, cut: null },
    ]
    await list.follow('a', 1, null, 0, undefined, cuts)
    t.same(await shown(), [{ understands: UNDERSTOOD, cuts }])
    await list.follow('a', 2, null, 0)
    t.match(await shown(), [{ cuts: [] }])
  })

  registered('a silent instance is removed, and no other', async (t, _, list) => {
    for (const id of ['a', 'b', 'c']) await list.register(id, id)
    await list.follow('a', 1, null, 0)
    await list.follow('b', 1, null, 0)
    await list.follow('b', 2, null, 0)
    await list.forget('a', 1)
    await list.forget('b', 1)
    await list.leave('c')
    t.match(await list.instances(), [{ id: 'b', beat: 2 }], 'b has given a sign of life since')
    t.equal((await list.follow('a', 2, null, 0)).registered, false)
    await list.register('a', 'a')
    t.equal((await list.follow('a', 3, null, 0)).registered, true)
  })

  registered(
    'an instance that was removed stays reachable, until it is back or has ended',
    async (t, _, list) => {
      const reachable = async () => (await list.reachable()).map(({ id, gone }) => (gone ? `${id} gone` : id))
      for (const id of ['a', 'b', 'c', 'd']) await list.register(id, `host ${id}`)
      await list.follow('a', 5, null, 0)
      await list.leave('d')
      t.same(await reachable(), ['a', 'b', 'c'], 'one that has left has nothing open')
      await list.forget('a', 4)
      await list.forget('a', 5)
      await list.forget('b', 0)
      await list.forget('c', 0)
      t.same(await reachable(), ['a gone', 'b gone', 'c gone'])
      t.match(await list.reachable(), [{ name: 'host a', beat: 0, applied: 0, understands: null, cuts: [] }])
      t.same(await list.instances(), [])
      await list.register('a', 'host a')
      t.same(await reachable(), ['a', 'b gone', 'c gone'])
      t.equal((await list.follow('a', 6, null, 0)).registered, true, 'its beats count on')
      await list.leave('b')
      t.same(await reachable(), ['a', 'c gone'])
      await list.forget('a', 6)
      await list.register('a', 'host a')
      await list.forget('a', 0)
      t.same(await reachable(), ['a gone', 'c gone'], 'again')
    },
  )

  registered('the process of an instance that was removed is known', async (t, _, list) => {
    await list.register('a', 'a', { startedAt: 1, version: '1', process: 'boot namespace 7 8' })
    await list.register('b', 'b')
    for (const id of ['a', 'b']) await list.forget(id, 0)
    t.match(await list.reachable(), [{ process: 'boot namespace 7 8' }, { process: null }])
  })
})
