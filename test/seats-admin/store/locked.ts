/**
 * Another process holds the write lock: reads continue, writes wait or fail after the timeout, and all works again once
 * the lock is released. For each driver.
 */

import type { Test } from 'tap'
import { type Store, StoreUnavailable } from '../../../seats-admin/index.ts'
import type { StoreFault } from '../../../seats-admin/store/store.ts'
import { until } from '../../support/until.ts'
import { ADMIN, allNames, done, NOTHING, refused, seat, signedIn, writer } from './conformance.ts'

/** An empty store, and another process that can lock it. */
interface Lockable {
  open(timeout: number): Promise<Store>
  /** Returns a function that releases the lock. */
  lock(): Promise<() => Promise<void>>
  /** Resolves once a write waits for the lock. */
  waiting(store: Store): Promise<void>
}

/** Null: the call succeeded, or was refused. */
function faultOf(call: Promise<unknown>): Promise<StoreFault | 'none' | null> {
  return call.then(
    () => null,
    (cause: StoreUnavailable) => cause.fault ?? 'none',
  )
}

/** Longer than any test. */
const NEVER = 60_000

export function locked(t: Test, fresh: (t: Test) => Promise<Lockable>): void {
  t.test('a write waits for the lock, and reads do not', async (t) => {
    const place = await fresh(t)
    const store = await place.open(NEVER)
    const { id } = await seat(store, 'A')
    const before = await store.changesSince(null)
    await store.registry?.register('a', 'a')
    const release = await place.lock()

    const now = 1_000_000
    const write = seat(store, 'B', [], [], writer(ADMIN, now))
    let settled = false
    void write.finally(() => {
      settled = true
    })
    await place.waiting(store)
    for (let reads = 0; reads < 5; reads++) {
      t.equal((await store.seatById('acme', id)).value?.name, 'A')
      t.same(await store.changesSince(null), before)
      t.same(await allNames(store), ['A'])
      await store.registry?.follow('a', reads + 1, before.head, before.head.seq)
    }
    const second = await place.open(NEVER)
    t.equal((await second.seatById('acme', id)).value?.name, 'A', 'a new gateway can start')
    t.equal(settled, false, 'meanwhile')

    await release()
    t.equal((await write).createdAt, now)
  })

  t.test('writes that waited too long are refused, and not applied later', async (t) => {
    const place = await fresh(t)
    const [patient, store] = [await place.open(NEVER), await place.open(1000)]
    const { id } = await seat(patient, 'A')
    const release = await place.lock()
    // On a slow machine the call may end before the wait for the lock does.
    const outcome = async (name: string) => faultOf(seat(store, name))
    await until(async () => (await outcome('B')) === 'locked', 'a write that waited for the lock')
    const many: Promise<unknown>[] = [
      ...Array.from({ length: 200 }, (_, at) => seat(store, `C${at}`)),
      store.updateSeat(writer(), id, {}),
      store.revokeApiKey(writer(), id),
      store.recordSignIn('acme', signedIn('ann'), [id]),
    ]
    for (const each of await Promise.allSettled(many))
      if (each.status === 'fulfilled' || !(each.reason instanceof StoreUnavailable))
        t.fail(JSON.stringify(each))

    await release()
    await until(async () => (await outcome('D')) === null, 'a write after the release')
    t.same(await allNames(patient), ['A', 'D'])
  })

  t.test('a name is given up when the deletion is committed, not when it was requested', async (t) => {
    const place = await fresh(t)
    const store = await place.open(NEVER)
    // Ahead of the store's clock, so that the writer's time counts.
    const now = (Math.floor(Date.now() / 1000) + 3600) * 1000
    const { id } = await seat(store, 'A', [], [], writer(ADMIN, now))
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
    const store = await place.open(NEVER)
    const release = await place.lock()
    const make = () => store.createSeat(writer(), { name: 'A', ...NOTHING })
    const first = make()
    await place.waiting(store)
    // As many as may wait, and some more that have a connection.
    const rest = Promise.allSettled([first, ...Array.from({ length: 10_010 }, make)])
    t.equal(await faultOf(make()), 'overloaded')
    let fault: Awaited<ReturnType<typeof faultOf>> = null
    // A slow machine may need several calls.
    await until(async () => {
      fault = await faultOf(store.seatByName('acme', 'A'))
      return fault !== 'timeout'
    }, 'the outcome of a read')
    t.equal(fault, null, 'reads have their own queue')
    await release()
    const made = (await rest).filter(
      (each) => each.status === 'fulfilled' && refused(each.value) === 'not refused',
    )
    t.ok(made.length <= 1)
    await until(async () => (await faultOf(seat(store, 'B'))) === null, 'a free queue')
  })
}
