/** Several maps, one bound. */

import t from 'tap'
import { Recent, Room } from '../../src/seats/recent.ts'

/** Two maps in one room, with values that weigh themselves. */
function setUp(bytes: number) {
  const room = new Room(bytes)
  const map = () => new Recent<number>(room, (_key, value) => value)
  return { room, a: map(), b: map() }
}

t.test('together they hold no more than there is room for, and one value', async (t) => {
  const { room, a, b } = setUp(1000)
  for (let i = 0; i < 500; i++) {
    if (i % 3 === 0) a.set(`${i}`, 30)
    else b.set(`${i}`, 70)
    a.get(`${i - 9}`)
    const held = 30 * a.size + 70 * b.size
    t.ok(held <= 1070, `${held}`)
    t.ok(room.bytes >= held, `${room.bytes} are counted of ${held}`)
    if (i > 50) t.ok(held >= 500, `${held}`)
  }
})

t.test('the one that is used more takes what the other leaves', async (t) => {
  const { a, b } = setUp(1000)
  for (let i = 0; i < 9; i++) a.set(`${i}`, 100)
  t.ok(a.size > 4)
  for (let i = 0; i < 20; i++) b.set(`${i}`, 100)
  t.equal(a.size, 0)
  t.ok(b.size > 4)
})

t.test('what is used stays, whoever fills the room', async (t) => {
  const { a, b } = setUp(1000)
  a.set('used', 100)
  for (let i = 0; i < 50; i++) {
    b.set(`${i}`, 100)
    t.equal(a.get('used')?.value, 100)
  }
})

t.test('what is deleted, replaced or cleared makes room', async (t) => {
  const { room, a, b } = setUp(1000)
  a.set('stays', 100)
  for (let i = 0; i < 50; i++) {
    b.set('1', 300)
    if (i % 2 === 0) b.delete('1')
  }
  b.set('2', 50)
  b.clear()
  t.equal(b.size, 0)
  b.delete('1')
  b.clear()
  t.equal(room.bytes, 100)
  t.equal(a.get('stays')?.value, 100)
})

t.test('a value of more than all of the room is held until the next comes', async (t) => {
  const { a, b } = setUp(100)
  a.set('1', 1000)
  t.equal(a.size, 1)
  b.set('2', 60)
  t.same([a.size, b.size], [0, 1])
})

t.test('another bound counts from then on', async (t) => {
  const { room, a } = setUp(1000)
  for (let i = 0; i < 9; i++) a.set(`${i}`, 100)
  room.resize(4000)
  for (let i = 0; i < 9; i++) a.set(`${i}`, 100)
  room.resize(200)
  for (let i = 6; i < 9; i++) a.get(`${i}`)
  t.ok(a.size <= 3, `${a.size}`)
  room.resize(4000)
  for (let i = 12; i < 42; i++) a.set(`${i}`, 100)
  t.ok(a.size >= 20, `${a.size}`)
})
