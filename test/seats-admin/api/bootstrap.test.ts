import t from 'tap'
import { bootstrapTenant, isRefusal } from '../../../seats-admin/index.ts'
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
  t.same(changes, made.committed.flatMap(numbered))
  t.match(made.committed.at(-1), head)
})

t.test('a second run creates another key for the same Seat', async (t) => {
  const { store } = await startApi(t)
  const first = done(await bootstrapTenant(store, OPTIONS))
  const second = done(await bootstrapTenant(store, OPTIONS))
  t.equal(second.seat.id, first.seat.id)
  t.not(second.key, first.key)
  t.equal(second.committed.length, 1)
  t.equal(
    (await store.apiKeyById('acme', first.apiKey.id)).value?.revokedAt,
    null,
    'the first key stays valid',
  )
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
