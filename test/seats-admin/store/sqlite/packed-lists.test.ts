/** Lists between the threads: no list holds the event loop, and each arrives as it was. */

import t from 'tap'
import { buffersIn, pack, unpack } from '../../../../seats-admin/store/sqlite/packed-lists.ts'

const texts = (count: number) => Array.from({ length: count }, (_, at) => `${at}:\u00e9`)
const seats = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `${at}`, spaces: texts(99), permissions: texts(99) }))

t.test('they arrive as they were', async (t) => {
  const cases = [
    [],
    texts(3),
    texts(1000),
    seats(1),
    seats(200),
    { few: texts(2), seats: seats(2), was: null },
  ]
  for (const value of cases) t.same(await unpack(structuredClone(await pack(value))), value)
  const versions = new Map([['pieces', 'x']])
  t.same(await unpack(structuredClone(await pack(versions))), versions)
})

t.test('a list of few records is packed too: with their lists, they are many values', async (t) => {
  const packed = await pack({ seats: seats(99), prune: false })
  t.ok(buffersIn(packed).length > 1, 'in pieces, between which the event loop goes on')
  t.equal(buffersIn(await pack({ names: texts(20) })).length, 0)
})
