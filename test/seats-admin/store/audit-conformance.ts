/** The audit, on every driver. */

import { type Store, type Writer } from '../../../seats-admin/index.ts'
import type { AuditPage } from '../../../seats-admin/store/audit-store.ts'
import { ALL_ENTRIES, chainOf, soundChain, verified } from './audit-chain.ts'
import { ADMIN, column, done, inSpace, key, seat, suite, writer } from './conformance.ts'

const VIEWER = { name: 'Viewer', spaces: ['one'], permissions: ['a:b'] }

export const auditConformance = suite((test) => {
  const make = (store: Store, name: string, as: Writer) => seat(store, name, ['one'], ['a:b'], as)
  const listed = async (store: Store, more: Partial<AuditPage> = {}) =>
    (await store.audit.list('acme', { ...ALL_ENTRIES, ...more })).data

  test('each change of a Seat and a key has its entry: who, what, before and after', async (t, store) => {
    const user: Writer = { ...writer(ADMIN, 1000), actor: { kind: 'user', name: 'a@b.c' }, requestId: 'r1' }
    const viewer = await make(store, 'Viewer', user)
    done(await store.updateSeat({ ...user, now: 2000, requestId: 'r2' }, viewer.id, { permissions: [] }))
    const { id, key: text } = await key(store, ['Viewer'], { expiresAt: 9, as: { ...user, now: 3000 } })
    const actor = { kind: 'api-key', name: null } as const
    const bot: Writer = { ...writer(ADMIN, 4000), by: id, actor, requestId: 'r4' }
    done(await store.revokeApiKey(bot, id))
    done(await store.deleteSeat({ ...bot, now: 5000 }, viewer.id))
    const time = (ms: number) => new Date(ms).toISOString()
    const alice = { kind: 'user', id: 'alice', name: 'a@b.c' }
    const ci = { kind: 'api-key', id, name: 'ci' }
    const form = { id: viewer.id, name: 'Viewer', spaces: ['one'], permissions: ['a:b'], created_by: 'alice' }
    const made = { ...form, created_at: time(1000), updated_at: time(1000) }
    const emptied = { ...made, permissions: [], updated_by: 'alice', updated_at: time(2000) }
    const times = { created_at: time(3000), expires_at: time(9) }
    const issued = { id, name: 'ci', seats: ['Viewer'], created_by: 'alice', ...times }
    const onSeat = { kind: 'seat', id: viewer.id, name: 'Viewer' }
    const entries = await soundChain(t, store)
    const expected = (
      [
        [alice, 'r1', 'seat.create', onSeat],
        [alice, 'r2', 'seat.update', onSeat],
        [alice, 'r1', 'api_key.create', ci],
        [ci, 'r4', 'api_key.revoke', ci],
        [ci, 'r4', 'seat.delete', onSeat],
      ] as const
    ).map(([actor, request_id, action, target], at) => {
      const when = { seq: at + 1, at: time(1000 * (at + 1)) }
      return { ...when, tenant: 'acme', space: 'admin', actor, request_id, action, target }
    })
    t.match(entries, expected)
    const revoked = { ...issued, revoked_at: time(4000) }
    t.strictSame(column(entries, 'before'), [null, made, null, issued, emptied])
    t.strictSame(column(entries, 'after'), [made, emptied, issued, revoked, null])
    t.same(await store.audit.head('acme'), { seq: 5, hash: entries[4]?.hash })
    t.equal(await store.audit.head('globex'), null)
    t.notOk(JSON.stringify(entries).includes(text), 'no text of a key')
    const hash = Buffer.from((await store.apiKeyById('acme', id)).value?.hash ?? '-')
    for (const form of ['hex', 'base64', 'base64url'] as const)
      t.notOk(JSON.stringify(entries).includes(hash.toString(form)), 'nor its hash')
  })

  test('PUT {} and a second revocation make an entry; a refusal makes none', async (t, store) => {
    const seat = done(await store.createSeat(writer(), VIEWER)).value
    const key = done(await store.createApiKey(writer(), { name: 'ci', seats: [], expiresAt: null })).value
    done(await store.updateSeat(writer(), seat.id, {}))
    done(await store.revokeApiKey(writer(), key.id))
    done(await store.revokeApiKey(writer(), key.id))
    const before = await chainOf(store)
    t.same(column(before, 'action'), [
      'seat.create',
      'api_key.create',
      'seat.update',
      'api_key.revoke',
      'api_key.revoke',
    ])
    await store.createSeat(writer(), VIEWER)
    await store.updateSeat({ ...writer(), ifMatch: [] }, seat.id, {})
    await store.updateSeat(writer(inSpace('two')), seat.id, {})
    await store.deleteSeat(writer(inSpace('one')), seat.id)
    await store.revokeApiKey(writer(inSpace('one')), key.id)
    await store.createApiKey(writer(), { name: 'x', seats: ['absent'], expiresAt: null })
    t.same(await chainOf(store), before)
  })

  test('each tenant has a chain of its own', async (t, store) => {
    for (let at = 0; at < 6; at++)
      await make(store, `${at}`, writer(ADMIN, at, at % 2 === 0 ? 'acme' : 'globex'))
    for (const tenant of ['acme', 'globex']) {
      const entries = await soundChain(t, store, tenant)
      t.same(column(entries, 'tenant'), Array(3).fill(tenant))
    }
    t.same(await verified(store, { tenant: 'absent' }), [])
    t.same(await listed(store, { target: '' }), [])
  })

  test('texts that the store can not hold are replaced, and the chain holds', async (t, store) => {
    const odd: Writer = { ...writer(), by: 'a\0b\ud800', actor: { kind: 'user', name: '\udfff@\0' } }
    const { id } = await make(store, '\u2029"\\ é 𝄞', odd)
    done(await store.updateSeat(odd, id, {}))
    const [first] = await soundChain(t, store)
    t.match(first?.actor, { id: 'a\ufffdb\ufffd', name: '\ufffd@\ufffd' })
    t.same((await listed(store, { actor: 'a\ufffdb\ufffd' })).length, 2)
    t.same(await listed(store, { actor: 'a\0b' }), [])
  })

  test('a list is newest first, in pages, and filtered', async (t, store) => {
    const ids: string[] = []
    const bob = (now: number) => ({ ...writer(ADMIN, now), by: 'bob'.padEnd(100, 'b') })
    for (let at = 0; at < 7; at++) ids.push((await make(store, `s${at}`, writer(ADMIN, at))).id)
    for (const [at, id] of ids.entries()) done(await store.updateSeat(bob(10 + at), id, {}))
    const all = (await chainOf(store)).toReversed()
    t.same(await listed(store), all)
    const paged = []
    for (let after: string | null = null; ;) {
      const { data, hasMore } = await store.audit.list('acme', { ...ALL_ENTRIES, limit: 3, after })
      paged.push(...data)
      after = data.at(-1)?.id ?? null
      t.equal(hasMore, paged.length < all.length)
      if (!hasMore) break
    }
    t.same(paged, all)
    const [first = ''] = ids
    const by = 'bob'.padEnd(100, 'b')
    for (const [filter, expected] of [
      [{ action: 'seat.create' }, all.filter((each) => each.action === 'seat.create')],
      [{ actor: by }, all.filter((each) => each.actor.id === by)],
      [{ actor: by.slice(1) }, []],
      [{ actor: by.slice(0, 64) }, []],
      [{ target: first }, all.filter((each) => each.target.id === first)],
      [{ target: 's0' }, all.filter((each) => each.target.id === first)],
      [{ target: 's' }, []],
      [{ target: 's0', since: 11 }, []],
      [{ since: 3, until: 12 }, all.filter(({ at }) => Date.parse(at) >= 3 && Date.parse(at) < 12)],
      [{ target: first, action: 'seat.update', actor: by, since: 10, until: 11 }, [all[6]]],
      [{ target: first, since: 11 }, []],
    ] as const)
      t.same(await listed(store, filter), expected, JSON.stringify(filter))
  })

  test('outside the admin space only entries of Seats of that space alone are seen', async (t, store) => {
    const { id: one } = await seat(store, 'one')
    const { id: both } = await seat(store, 'both', ['one', 'two'])
    await seat(store, 'none', [])
    await seat(store, 'admin', ['admin'])
    done(await store.updateSeat(writer(), one, { name: 'uno' }))
    done(await store.updateSeat(writer(), one, { spaces: ['two'] }))
    done(await store.updateSeat(writer(), one, { spaces: ['one'] }))
    done(await store.updateSeat(writer(), both, { spaces: ['one'] }))
    done(await store.updateSeat(writer(inSpace('one', '*')), both, {}))
    await key(store, ['uno'], { as: writer(inSpace('one', '*')) })
    done(await store.deleteSeat(writer(), one))
    const seen = async (space: string) =>
      (await listed(store, { scope: inSpace(space, '*') })).map(
        ({ action, target }) => `${action} ${target.name}`,
      )
    t.same((await seen('one')).toReversed(), [
      'seat.create one',
      'seat.update uno',
      'seat.update both',
      'seat.delete uno',
    ])
    t.same(await seen('two'), [], 'a Seat that moved in or out is seen in the admin space only')
    t.equal((await seen('admin')).length, 11)
    t.same(await listed(store, { scope: { ...inSpace('one'), space: 'on' } }), [])
  })

  test('a page of large entries is shorter', async (t, store) => {
    const permissions = Array.from({ length: 9000 }, (_, at) => `thing-${at}:read`)
    const { id } = await seat(store, 'Viewer', ['one'], permissions)
    for (let at = 0; at < 5; at++) done(await store.updateSeat(writer(), id, {}))
    const { data, hasMore } = await store.audit.list('acme', ALL_ENTRIES)
    t.ok(data.length < 4 && data.length > 0 && hasMore, `${data.length} entries`)
    t.equal(data[0]?.seq, 6)
    const { rows } = await store.audit.chain('acme', '', 100)
    t.ok(rows.length < 4 && rows.length > 0, `${rows.length} rows`)
    await soundChain(t, store)
  })

  test('one bootstrap is one entry', async (t, store) => {
    const seat = { name: 'admin', spaces: ['admin'], permissions: ['*'] }
    const as = { ...writer(), by: 'bootstrap' }
    for (const apiKey of ['one', 'two']) done(await store.bootstrap(as, { seat, apiKey, restores: false }))
    const entries = await soundChain(t, store)
    const actor = { kind: 'command', id: 'bootstrap' }
    t.strictSame(entries[0]?.actor, actor)
    t.match(entries, [
      { action: 'bootstrap', request_id: null, before: null, after: { ...seat, api_key: { name: 'one' } } },
      { action: 'bootstrap', request_id: null, before: seat, after: { ...seat, api_key: { name: 'two' } } },
    ])
  })

  test('retention deletes the oldest, in batches, and the chain stays verifiable', async (t, store) => {
    for (let at = 0; at < 10; at++)
      for (const tenant of ['acme', 'globex']) await make(store, `${at}`, writer(ADMIN, at * 1000, tenant))
    t.equal(await store.audit.prune(0, 100), 0)
    const whole = await chainOf(store)
    const counts = []
    for (let gone = -1; gone !== 0;) counts.push((gone = await store.audit.prune(7000, 3)))
    t.same(counts, [3, 3, 1, 3, 3, 1, 0])
    for (const tenant of ['acme', 'globex']) t.same(await verified(store, { tenant }), [])
    t.same(await chainOf(store), whole.slice(7))
    await make(store, 'late', writer(ADMIN, 500))
    await make(store, 'later', writer(ADMIN, 20_000))
    for (let tenants = 0; tenants < 2; tenants++)
      t.equal(await store.audit.prune(8500, 100), 2, 'of one tenant, up to one that is young enough')
    t.equal((await chainOf(store)).length, 3, 'also an older one behind it')
    t.same(await verified(store), [])
    for (let gone = -1; gone !== 0;) gone = await store.audit.prune(Number.MAX_SAFE_INTEGER, 2)
    t.same(await chainOf(store), [])
    t.same(await verified(store), [])
    await make(store, 'after', writer(ADMIN, 30_000))
    t.equal((await chainOf(store))[0]?.seq, 13, 'numbers go on')
    t.same(await verified(store), [])
  })

  test('retention goes past a verification that is under way', async (t, store) => {
    for (let at = 0; at < 9; at++) await make(store, `${at}`, writer(ADMIN, at))
    const reading = { ...store, audit: { ...store.audit } }
    let reads = 0
    reading.audit.chain = async (...args) => {
      if (++reads === 3) await store.audit.prune(7, 100)
      return store.audit.chain(...args)
    }
    t.same(await verified(reading, { page: 2 }), [])
    t.ok(reads > 3)
  })
})
