/** Requirements of the blocks of every store driver. */

import type { Store } from '../../../seats-admin/index.ts'
import { isInForce } from '../../../seats-admin/model/block.ts'
import { MAX_RESTRICTED } from '../../../seats-admin/store/restriction-queries.ts'
import { ADMIN, BEGINNING, block, column, done, numbered, refused, suite, writer } from './conformance.ts'
import { restriction } from './revocation-conformance.ts'

const HOUR = 3_600_000
/** What a token may name: quotes, a NUL, a lone surrogate, a separator of the driver, more than an index takes. */
const STRANGE = ['a"b', '12:"x"', 'nul\0', '\ud800', '__proto__', 'ä'.repeat(512), ':', '\\', 'a,b']

export const blockConformance = suite((test) => {
  const blocked = async (store: Store, user: string, tenant = 'acme') => {
    const { now } = (await store.restrictions(tenant)).value
    const found = (await restriction(store, user, tenant))?.block ?? null
    return found !== null && isInForce(found, now)
  }

  test('a block is in the feed and in both readings', async (t, store) => {
    t.equal(await blocked(store, 'eve'), false)
    const until = Date.now() + HOUR
    const made = await block(store, 'eve', until, { reason: 'left the company' })
    const expected = { user: 'eve', until, reason: 'left the company', createdBy: 'alice', tenant: 'acme' }
    t.match(made.value, expected)
    t.same((await store.changesSince(BEGINNING)).changes, numbered(made))
    t.same(made.changes, [{ tenant: 'acme', kind: 'block', key: '"eve"' }])
    t.equal(await blocked(store, 'eve'), true)
    t.equal(await blocked(store, 'Eve'), false)
    t.equal(await blocked(store, 'eve', 'globex'), false)
    const { seq, value } = await store.restrictions('acme')
    t.equal(seq, made.seq)
    t.same(value.users, [{ user: 'eve', block: { until }, cutoff: null }])
    t.ok(Math.abs(value.now - Date.now()) < HOUR, 'with the time of the store')
    t.ok(Math.abs((await store.clock()) - value.now) < HOUR, 'which is also there alone')
  })

  test('a second block of a user replaces the first', async (t, store) => {
    const { value: first } = await block(store, 'eve', Date.now() + HOUR, { reason: 'x' })
    const now = first.createdAt + 5000
    const { value: made } = await block(store, 'eve', null, { as: { ...writer(ADMIN, now), by: 'bob' } })
    const second = { until: null, reason: null, createdBy: 'bob', createdAt: now }
    t.same(made, { ...first, ...second }, 'the id stays')
    t.same((await store.listBlocks('acme', { limit: 10, after: null })).data, [made])
  })

  test('blocks of several origins stand side by side, and the last end counts', async (t, store) => {
    const [soon, late] = [Date.now() + HOUR, Date.now() + 2 * HOUR]
    const list = async () => (await store.listBlocks('acme', { limit: 10, after: null })).data
    const until = async () => {
      const block = (await restriction(store, 'eve'))?.block ?? null
      const [user] = (await store.restrictions('acme')).value.users ?? []
      t.same(user?.block ?? null, block, 'both readings say the same')
      return block === null ? 'accepted' : block.until
    }
    const { value: admin } = await block(store, 'eve', soon, { reason: 'lost' })
    const { value: events } = await block(store, 'eve', null, { origin: 'events' })
    t.same(await list(), [admin, events])
    t.same(column([admin, events], 'origin'), ['admin', 'events'])
    t.equal(await until(), null, 'one without an end')
    const { value: scim } = await block(store, 'eve', late, { origin: 'scim' })
    t.same(await list(), [admin, events, scim])
    t.equal(await until(), null, 'whichever is newer')
    const { value: again } = await block(store, 'eve', soon, { origin: 'events', reason: 'again' })
    t.same(again, { ...events, until: soon, reason: 'again', createdAt: again.createdAt })
    t.same(await list(), [admin, again, scim], 'replaces that of its origin alone')
    t.equal(await until(), late)
    done(await store.deleteBlock(writer(), scim.id))
    t.same(await list(), [admin, again], 'each is lifted alone')
    t.equal(await until(), soon)
    done(await store.deleteBlock(writer(), admin.id))
    t.equal(await blocked(store, 'eve'), true)
    done(await store.deleteBlock(writer(), again.id))
    t.equal(await until(), 'accepted')
  })

  test('a block that has ended leaves those of other origins alone', async (t, store) => {
    const { value: events } = await block(store, 'eve', Date.now() - 1, { origin: 'events' })
    await block(store, 'eve', Date.now() - 1000)
    t.same(
      (await store.restrictions('acme')).value.users,
      [{ user: 'eve', block: { until: events.until }, cutoff: null }],
      'decisions read both: the clock of the store may be wrong',
    )
    const { value: admin } = await block(store, 'eve', Date.now() + HOUR)
    t.same((await store.listBlocks('acme', { limit: 10, after: null })).data, [admin])
    const { value: again } = await block(store, 'eve', null, { origin: 'events' })
    t.not(again.id, events.id)
    t.same((await restriction(store, 'eve'))?.block, { until: null })
  })

  test('a block that is deleted is gone', async (t, store) => {
    const { value } = await block(store, 'eve')
    t.equal(refused(await store.deleteBlock(writer(ADMIN, 1, 'globex'), value.id)), 'block_not_found')
    const gone = done(await store.deleteBlock(writer(), value.id))
    t.same(gone.changes, [{ tenant: 'acme', kind: 'block', key: '"eve"' }])
    t.equal(await blocked(store, 'eve'), false)
    t.equal(refused(await store.deleteBlock(writer(), value.id)), 'block_not_found')
    t.equal(refused(await store.deleteBlock(writer(), '\0')), 'block_not_found')
  })

  test('an expired block is gone, by the time of the store', async (t, store) => {
    const { value } = await block(store, 'eve', Date.now() - 1)
    t.equal(await blocked(store, 'eve'), false)
    t.same((await store.listBlocks('acme', { limit: 10, after: null })).data, [])
    t.equal(refused(await store.deleteBlock(writer(), value.id)), 'block_not_found')
    const { value: again } = await block(store, 'eve')
    t.not(again.id, value.id)
    t.equal(await blocked(store, 'eve'), true)
  })

  test('decisions read an expired block too: the clock of the store may be wrong', async (t, store) => {
    const until = Date.now() - 1
    await block(store, 'eve', until)
    t.same(await restriction(store, 'eve'), { user: 'eve', block: { until }, cutoff: null })
    await block(store, 'mallory')
    t.equal((await store.restrictions('acme')).value.users?.length, 2, 'also after the next block')
  })

  test('a block that expired a day ago, by two clocks, is deleted with the next block', async (t, store) => {
    const users = async () => (await store.restrictions('acme')).value.users?.map(({ user }) => user)
    await block(store, 'eve', Date.now() - 25 * HOUR)
    await block(store, 'ann', null, { as: writer(ADMIN, Date.now() - 2 * HOUR) })
    t.same(await users(), ['eve', 'ann'], 'by the clock of the store alone')
    await block(store, 'bob')
    t.same(await users(), ['ann', 'bob'])
  })

  test('any text of a token can be blocked', async (t, store) => {
    for (const user of STRANGE) await block(store, user)
    for (const user of STRANGE) t.equal(await blocked(store, user), true, JSON.stringify(user))
    t.equal(await blocked(store, '\ud801'), false)
    const { data } = await store.listBlocks('acme', { limit: 100, after: null })
    t.same(column(data, 'user'), STRANGE)
  })

  test('pages of blocks', async (t, store) => {
    for (let at = 0; at < 5; at++) await block(store, `user ${at}`)
    const first = await store.listBlocks('acme', { limit: 3, after: null })
    t.equal(first.hasMore, true)
    const second = await store.listBlocks('acme', { limit: 3, after: first.data.at(-1)?.id ?? '' })
    const users = Array.from({ length: 5 }, (_, at) => `user ${at}`)
    t.same(column([...first.data, ...second.data], 'user'), users)
    t.equal(second.hasMore, false)
    t.same(await store.listBlocks('globex', { limit: 3, after: null }), { data: [], hasMore: false })
  })

  test('of more blocks than a process keeps, each user is read alone', async (t, store) => {
    for (let at = 0; at < MAX_RESTRICTED; at++) await block(store, `user ${at}`)
    t.equal((await store.restrictions('acme')).value.users?.length, MAX_RESTRICTED)
    await block(store, 'one more')
    t.equal((await store.restrictions('acme')).value.users, null)
    t.equal(await blocked(store, 'user 7'), true)
    t.equal(await blocked(store, 'one more'), true)
    t.equal(await blocked(store, 'alice'), false)
  })
})
