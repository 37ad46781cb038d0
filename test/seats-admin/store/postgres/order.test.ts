/** Concurrent writers of several stores: numbers without gaps, in commit order. */

import t from 'tap'
import type { NumberedChange, Position, Store } from '../../../../seats-admin/index.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { BEGINNING, done, numbered, writer } from '../conformance.ts'
import { emptyDatabase, open } from './support.ts'

const server = await startPostgres(t, { fsync: false })
const STORES = 4
const LANES = 4
const ROUNDS = 25

/** Follows the feed while `goesOn`; returns all changes received. */
async function follow(store: Store, continues: () => boolean): Promise<NumberedChange[]> {
  const received: NumberedChange[] = []
  let position: Position = BEGINNING
  for (let last = false; !last;) {
    last = !continues()
    const { head, changes } = await store.changesSince(position)
    if (changes === null) throw new Error(`the reader fell behind at ${position.seq}`)
    received.push(...changes)
    position = head
  }
  return received
}

t.test('readers of the feed receive every change once, in order', async (t) => {
  const url = await emptyDatabase(server)
  const stores = await Promise.all(Array.from({ length: STORES }, () => open(t, { url })))
  let writing = true
  const readers = stores.map((store) => follow(store, () => writing))
  const lane = async (store: Store, name: string) => {
    const made = done(await store.createSeat(writer(), { name, spaces: [], permissions: [] }))
    const all = numbered(made)
    for (let round = 0; round < ROUNDS; round++)
      all.push(...numbered(done(await store.updateSeat(writer(), made.value.id, { spaces: [`${round}`] }))))
    return all
  }
  const lanes = stores.flatMap((store, at) =>
    Array.from({ length: LANES }, (_, number) => lane(store, `${at}-${number}`)),
  )
  const acknowledged = (await Promise.all(lanes)).flat().toSorted((a, b) => a.seq - b.seq)
  writing = false
  t.equal(acknowledged.length, STORES * LANES * (ROUNDS + 1) * 2)
  t.same(
    acknowledged.map(({ seq }) => seq),
    acknowledged.map((_, at) => at + 1),
    'no gap and no duplicate',
  )
  for (const received of await Promise.all(readers)) t.same(received, acknowledged)
})

t.test('a write is visible to all stores at once', async (t) => {
  const url = await emptyDatabase(server)
  const [one, two] = [await open(t, { url }), await open(t, { url })]
  const { id } = done(await one.createSeat(writer(), { name: 'A', spaces: [], permissions: [] })).value
  for (let round = 0; round < 100; round++) {
    const [here, there] = round % 2 === 0 ? [one, two] : [two, one]
    const { seq } = done(await here.updateSeat(writer(), id, { spaces: [`${round}`] }))
    const read = await there.seatById('acme', id)
    t.same([read.seq, read.value?.spaces], [seq, [`${round}`]])
  }
})
