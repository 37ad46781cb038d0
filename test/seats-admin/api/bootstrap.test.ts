import t from 'tap'
import { bootstrapTenant, isRefusal, repairTenant } from '../../../seats-admin/index.ts'
import { hashApiKey, parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { ADMIN, BEGINNING, done, numbered, writer } from '../store/conformance.ts'
import { startApi } from './support.ts'

const OPTIONS = { tenant: 'acme', adminSpace: 'hq', now: 5000 }

t.test('creates a Seat with all permissions in the admin space, and a key with the Seat', async (t) => {
  const { store } = await startApi(t)
  const made = done(await bootstrapTenant(store, OPTIONS))
  t.match(made.seat, {
    name: 'admin',
    spaces: ['hq'],
    permissions: ['*'],
    createdBy: 'bootstrap',
    createdAt: 5000,
  })
  t.match(made.apiKey, { name: 'bootstrap', seats: ['admin'], createdBy: 'bootstrap', expiresAt: null })
  t.notOk('key' in made.apiKey)
  t.same(parseApiKey(made.key), { tenant: 'acme', id: made.apiKey.id })
  const stored = (await store.apiKeyById('acme', made.apiKey.id)).value
  t.same([stored?.hash, stored?.seatIds], [hashApiKey(made.key), [made.seat.id]])
  const { head, changes } = await store.changesSince(BEGINNING)
  t.same(changes, numbered(made.committed))
  t.match(made.committed, head)
})

t.test('a second run creates another key for the same Seat', async (t) => {
  const { store } = await startApi(t)
  const first = done(await bootstrapTenant(store, OPTIONS))
  const second = done(await bootstrapTenant(store, OPTIONS))
  t.equal(second.seat.id, first.seat.id)
  t.not(second.key, first.key)
  t.same([first.others, second.others.map(({ id }) => id)], [[], [first.apiKey.id]])
  t.same([first.apiKey.name, second.apiKey.name], ['bootstrap', 'bootstrap 2'])
  t.same(second.committed.changes, [{ tenant: 'acme', kind: 'api-key', key: second.apiKey.id }])
  t.equal(
    (await store.apiKeyById('acme', first.apiKey.id)).value?.revokedAt,
    null,
    'the first key stays valid',
  )
  await store.revokeApiKey(writer(), first.apiKey.id)
  const third = done(await bootstrapTenant(store, OPTIONS))
  t.match([third.apiKey.name, third.others.map(({ name }) => name)], ['bootstrap 3', ['bootstrap 2']])
})

t.test('two concurrent runs', async (t) => {
  const { store } = await startApi(t)
  const both = await Promise.all([bootstrapTenant(store, OPTIONS), bootstrapTenant(store, OPTIONS)])
  t.equal(new Set(both.map((each) => done(each).seat.id)).size, 1)
})

t.test('a different Seat of that name is not changed', async (t) => {
  const { store } = await startApi(t)
  for (const [tenant, spaces, permissions] of [
    ['a', ['hq', 'x'], ['*']],
    ['b', ['admin'], ['*']],
    ['c', ['hq'], ['a:b']],
    ['d', [], []],
  ] as const) {
    const { value } = done(
      await store.createSeat(writer(ADMIN, 1, tenant), { name: 'admin', spaces, permissions }),
    )
    const refused = await bootstrapTenant(store, { ...OPTIONS, tenant })
    t.match(isRefusal(refused) && refused, {
      refused: 'seat_name_taken',
      detail: /already has a Seat "admin" other than "\*" in space hq/,
    })
    t.same((await store.seatByName(tenant, 'admin')).value.seat, value)
    t.same(
      (await store.listApiKeys(tenant, { limit: 9, after: null, scope: ADMIN })).data,
      [],
      'and no key is created',
    )
  }
})

t.test('--repair creates the Seat, or gives it back its rights, once', async (t) => {
  const { store } = await startApi(t)
  const as = (tenant: string) => writer({ ...ADMIN, space: 'hq' }, 1, tenant)
  const entriesOf = async (tenant: string) => (await store.audit.chain(tenant, '', 99)).rows
  const made = done(await repairTenant(store, OPTIONS))
  t.match(made, { before: null, apiKey: null, seat: { name: 'admin', spaces: ['hq'], permissions: ['*'] } })
  t.ok(made.committed)
  t.match(await entriesOf('acme'), [{ action: 'bootstrap', target_id: made.seat.id, before: null }])
  for (const [tenant, spaces, permissions] of [
    ['a', ['hq'], []],
    ['b', [], ['*']],
    ['c', ['x'], ['*']],
    ['d', ['hq'], ['seats:update', 'seats:grant']],
  ] as const) {
    const lost = done(await store.createSeat(as(tenant), { name: 'admin', spaces, permissions })).value
    const options = { ...OPTIONS, tenant }
    const repaired = done(await repairTenant(store, options))
    t.match(repaired, { before: lost, seat: { id: lost.id, version: 2, spaces: ['hq'], permissions: ['*'] } })
    t.same((await store.seatByName(tenant, 'admin')).value.seat, repaired.seat)
    t.match(repaired.committed?.changes, [
      { kind: 'seat', key: lost.id },
      { kind: 'seat-name', key: 'admin' },
    ])
    const { head } = await store.changesSince(null)
    const again = done(await repairTenant(store, options))
    t.match(again, { committed: null, seat: repaired.seat, before: repaired.seat })
    t.same((await store.changesSince(null)).head, head, 'nothing was written')
    t.match(
      (await entriesOf(tenant)).map(({ action }) => action),
      ['seat.create', 'bootstrap'],
    )
  }
  const both = done(
    await store.createSeat(as('e'), { name: 'admin', spaces: ['hq', 'x'], permissions: ['*'] }),
  )
  t.equal(done(await repairTenant(store, { ...OPTIONS, tenant: 'e' })).committed, null)
  t.same((await store.seatByName('e', 'admin')).value.seat, both.value, 'further spaces stay')
})
