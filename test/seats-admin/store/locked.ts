/**
 * Another process holds the write lock: reads continue, writes fail after the timeout, and all works again once the lock
 * is released. For each driver.
 */

import type { Test } from 'tap'
import { type Store, StoreUnavailable } from '../../../seats-admin/index.ts'
import { ADMIN, BEGINNING, done, refused, signedIn, writer } from './conformance.ts'

/** An empty store, and another process that can lock it. */
export interface Lockable {
  open(timeout: number): Promise<Store>
  /** Returns a function that releases the lock. */
  lock(): Promise<() => Promise<void>>
  /** Resolves once a write waits for the lock. */
  waiting(store: Store): Promise<void>
  /** The error of a write that timed out. */
  readonly refusal: RegExp
}

const seat = (name: string) => ({ name, spaces: [], permissions: [] })
const page = { limit: 100, after: null, scope: ADMIN }

async function names(store: Store): Promise<string[]> {
  return (await store.listSeats('acme', page)).data.map((each) => each.name)
}

export function locked(t: Test, fresh: (t: Test) => Promise<Lockable>): void {
  t.test('while the lock is held', async (t) => {
    const place = await fresh(t)
    const store = await place.open(1500)
    const { id } = done(await store.createSeat(writer(), seat('A'))).value
    const before = await store.changesSince(null)
    await store.registry?.register('a', 'a')
    const release = await place.lock()

    const write = store.createSeat(writer(), seat('B'))
    let settled = false
    void write.catch(() => {
      settled = true
    })
    let reads = 0
    for (; reads < 20 && !settled; reads++) {
      t.equal((await store.seatById('acme', id)).value?.name, 'A')
      t.same(await store.changesSince(null), before)
      t.same(await names(store), ['A'])
      await store.registry?.follow('a', reads + 1, before.head, before.head.seq)
    }
    t.ok(reads > 2, `${reads} rounds of reads while one write waited`)
    await t.rejects(write, StoreUnavailable)
    await t.rejects(write, place.refusal)

    const many = await Promise.allSettled(
      Array.from({ length: 200 }, (_, at) => store.createSeat(writer(), seat(`C${at}`))),
    )
    t.ok(many.every((each) => each.status === 'rejected' && each.reason instanceof StoreUnavailable))
    await t.rejects(store.updateSeat(writer(), id, {}), StoreUnavailable)
    await t.rejects(store.revokeApiKey(writer(), id), StoreUnavailable)
    await t.rejects(store.recordSignIn('acme', signedIn('ann'), [id]), StoreUnavailable)

    const second = await place.open(1500)
    t.equal((await second.seatById('acme', id)).value?.name, 'A', 'a new gateway can start')

    await release()
    t.equal(refused(await store.createSeat(writer(), seat('D'))), 'not refused', 'works again at once')
    t.same(await names(store), ['A', 'D'], 'writes that timed out were not applied later')
  })

  t.test('a write that waited for the lock is applied once it is released', async (t) => {
    const place = await fresh(t)
    const store = await place.open(10_000)
    const release = await place.lock()
    const now = 1_000_000
    const write = store.createSeat(writer(ADMIN, now), seat('A'))
    await place.waiting(store)
    await release()
    t.equal(done(await write).value.createdAt, now)
  })

  t.test('a name is given up when the deletion is committed, not when it was requested', async (t) => {
    const place = await fresh(t)
    const store = await place.open(10_000)
    // Ahead of the store's clock, so that the writer's time counts.
    const now = (Math.floor(Date.now() / 1000) + 3600) * 1000
    const { id } = done(await store.createSeat(writer(ADMIN, now), seat('A'))).value
    const release = await place.lock()
    const write = store.deleteSeat(writer(ADMIN, now), id)
    await new Promise((resolve) => setTimeout(resolve, 1100))
    await release()
    done(await write)
    const { givenUpAt } = (await store.seatByName('acme', 'A')).value
    t.ok((givenUpAt ?? 0) > now / 1000, 'a token issued during the wait is older than the mark')
  })

  t.test('calls beyond the queue are refused at once', async (t) => {
    const place = await fresh(t)
    const store = await place.open(8000)
    const release = await place.lock()
    const make = () => store.createSeat(writer(), seat('A'))
    const first = make()
    await place.waiting(store)
    // As many as may wait, and some more that have a connection.
    const rest = Promise.allSettled([first, ...Array.from({ length: 10_010 }, make)])
    await t.rejects(make(), /10000 pending calls/)
    t.same((await store.changesSince(BEGINNING)).changes, [], 'reads have their own queue')
    await release()
    const results = await rest
    const made = results.filter(
      (each) => each.status === 'fulfilled' && refused(each.value) === 'not refused',
    )
    t.equal(made.length, 1)
    t.equal(refused(await store.createSeat(writer(), seat('B'))), 'not refused', 'the queue is free again')
  })
}
