/** Concurrent writers of several stores: numbers without gaps, in commit order. */

import type { Test } from 'tap'
import type { NumberedChange, Position, Store } from '../../../../seats-admin/index.ts'
import type { PostgresServer } from '../../../support/servers/postgres.ts'
import { BEGINNING, column, done, NOTHING, numbered, seat, writer } from '../conformance.ts'
import { emptyDatabase, open } from './support.ts'

type Reading = Awaited<ReturnType<Store['changesSince']>>

const STORES = 4
const LANES = 4

/**
 * Follows the feed while `continues`; returns all changes received.
 * @param read reads the feed from a position, in call 1, 2 and so on; null: the call failed
 */
export async function follow(
  read: (from: Position, call: number) => Promise<Reading | null>,
  continues: () => boolean,
): Promise<NumberedChange[]> {
  const received: NumberedChange[] = []
  let position: Position = BEGINNING
  for (let call = 1, last = false; !last; call++) {
    const writing = continues()
    const found = await read(position, call)
    if (found === null) continue
    if (found.changes === null) throw new Error(`the reader fell behind at ${position.seq}`)
    received.push(...found.changes)
    position = found.head
    last = !writing
  }
  return received
}

/** Readers of the feed receive every change once, in order, while each lane updates its Seat `rounds` times. */
export async function followWriters(t: Test, server: PostgresServer, rounds: number): Promise<void> {
  const url = await emptyDatabase(server)
  const stores = await Promise.all(Array.from({ length: STORES }, () => open(t, { url })))
  let writing = true
  const readers = stores.map((store) => follow(store.changesSince, () => writing))
  const lane = async (store: Store, name: string) => {
    const made = done(await store.createSeat(writer(), { name, ...NOTHING }))
    const all = numbered(made)
    for (let round = 0; round < rounds; round++)
      all.push(...numbered(done(await store.updateSeat(writer(), made.value.id, { spaces: [`${round}`] }))))
    return all
  }
  const lanes = stores.flatMap((store, at) =>
    Array.from({ length: LANES }, (_, number) => lane(store, `${at}-${number}`)),
  )
  const acknowledged = (await Promise.all(lanes)).flat().toSorted((a, b) => a.seq - b.seq)
  writing = false
  t.equal(acknowledged.length, STORES * LANES * (rounds + 1) * 2)
  t.same(
    column(acknowledged, 'seq'),
    acknowledged.map((_, at) => at + 1),
    'no gap and no duplicate',
  )
  for (const received of await Promise.all(readers)) t.same(received, acknowledged)
}

/** A write is visible to all stores at once. */
export async function readElsewhere(t: Test, server: PostgresServer, rounds: number): Promise<void> {
  const url = await emptyDatabase(server)
  const [one, two] = [await open(t, { url }), await open(t, { url })]
  const { id } = await seat(one, 'A')
  for (let round = 0; round < rounds; round++) {
    const [here, there] = round % 2 === 0 ? [one, two] : [two, one]
    const { seq } = done(await here.updateSeat(writer(), id, { spaces: [`${round}`] }))
    const read = await there.seatById('acme', id)
    t.same([read.seq, read.value?.spaces], [seq, [`${round}`]])
  }
}
