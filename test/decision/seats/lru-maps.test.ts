/** Several maps, one bound. */

import t from 'tap'
import { LruMap, MemoryBudget } from '../../../src/decision/seats/lru-maps.ts'

/** Two maps in one room, with values that weigh themselves. */
function setUp(bytes: number) {
  const room = new MemoryBudget(bytes)
  const map = () => new LruMap<number>(room, (_key, value) => value)
  return { room, a: map(), b: map() }
}

t.test('together they hold what there is room for, and no more', async (t) => {
  const { room, a, b } = setUp(1000)
  for (let i = 0; i < 500; i++) {
    if (i % 3 === 0) a.set(`${i}`, 30)
    else b.set(`${i}`, 70)
    a.get(`${i - 9}`)
    t.equal(room.bytes, 30 * a.size + 70 * b.size)
    t.ok(room.bytes <= 1000, `${room.bytes}`)
    if (i > 50) t.ok(room.bytes > 930, `${room.bytes}`)
  }
})

t.test('what was used least lately goes first, whichever map it is in', async (t) => {
  const { a, b } = setUp(1000)
  for (let i = 0; i < 5; i++) a.set(`${i}`, 100)
  for (let i = 5; i < 10; i++) b.set(`${i}`, 100)
  t.same([a.get('1')?.value, b.get('5')?.value, a.get('nothing')], [100, 100, undefined])
  for (let i = 10; i < 18; i++) b.set(`${i}`, 100)
  t.same([a.size, b.size], [1, 9])
  t.ok(a.get('1') && b.get('5'))
})

t.test('what is used stays, whoever fills the room', async (t) => {
  const { a, b } = setUp(1000)
  a.set('used', 100)
  for (let i = 0; i < 50; i++) {
    b.set(`${i}`, 100)
    t.equal(a.get('used')?.value, 100)
  }
})

t.test('what is deleted, replaced or cleared makes room, and is gone', async (t) => {
  const { room, a, b } = setUp(1000)
  a.set('stays', 100)
  for (let i = 0; i < 50; i++) {
    b.set('1', 120)
    if (i % 2 === 0) b.delete('1')
  }
  b.set('2', 50)
  b.clear()
  t.same([b.size, b.get('1'), b.get('2')], [0, undefined, undefined])
  b.delete('1')
  b.clear()
  t.equal(room.bytes, 100)
  b.set('1', 7)
  t.equal(b.get('1')?.value, 7)
  t.equal(a.get('stays')?.value, 100)
})

t.test('one that would push out too many others is not held', async (t) => {
  const { room, a, b } = setUp(800)
  for (let i = 0; i < 8; i++) a.set(`${i}`, 100)
  b.set('large', 101)
  t.same([a.size, b.size, room.bytes], [8, 0, 800])
  a.set('3', 101)
  t.equal(a.get('3'), undefined, 'nor what it has replaced')
})

t.test('another bound counts at once', async (t) => {
  const { room, a, b } = setUp(1000)
  for (let i = 0; i < 9; i++) a.set(`${i}`, 100)
  room.resize(200)
  t.same([a.size, a.get('8')?.value, a.get('7')?.value], [2, 100, 100])
  room.resize(4000)
  for (let i = 9; i < 50; i++) b.set(`${i}`, 100)
  t.equal(a.size + b.size, 40)
  room.resize(0)
  t.same([a.size, b.size, room.bytes], [0, 0, 0])
  a.set('1', 1)
  t.equal(a.size, 0)
})

t.test('whatever is done in whatever order, it holds what was set last', async (t) => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const { room, a, b } = setUp(400)
  const model = [new Map<string, number>(), new Map<string, number>()]
  for (let step = 0; step < 50_000; step++) {
    const which = random(2)
    const [map, set] = [which === 0 ? a : b, model[which]]
    const [key, weight] = [`${random(40)}`, 1 + random(60)]
    const deed = random(100)
    if (deed < 45) {
      map.set(key, weight)
      set?.set(key, weight)
    } else if (deed < 85) {
      const value = map.get(key)?.value
      if (value !== undefined && value !== set?.get(key)) t.fail(`${value} in place of ${set?.get(key)}`)
    } else if (deed < 97) {
      map.delete(key)
      set?.delete(key)
    } else if (deed < 99) room.resize(100 + random(400))
    else {
      map.clear()
      set?.clear()
    }
    if (room.bytes < 0 || room.bytes > 500) t.fail(`${room.bytes} bytes`)
    if (a.size + b.size === 0 && room.bytes !== 0) t.fail(`${room.bytes} bytes of nothing`)
  }
  a.clear()
  b.clear()
  t.equal(room.bytes, 0)
})

t.test('the tenant that holds most makes room, in the order of its own use', async (t) => {
  const { room, a, b } = setUp(1000)
  for (let i = 0; i < 3; i++) a.set(`honest\0${i}`, 100)
  for (let i = 0; i < 5000; i++) b.set(`greedy\0${i}`, 100)
  t.same([a.size, b.size, room.bytes], [3, 7, 1000])
  t.ok(b.get('greedy\x004999') && b.get('greedy\x004993') && !b.get('greedy\x004992'))
  a.set('honest\x003', 100)
  t.same([a.size, b.size], [4, 6])
})

t.test('of tenants that all want more than there is, each holds about the same', async (t) => {
  const { room, a } = setUp(10_000)
  for (let i = 0; i < 2000; i++) for (let tenant = 0; tenant < 8; tenant++) a.set(`t${tenant}\0${i}`, 10)
  for (let tenant = 0; tenant < 8; tenant++) {
    let held = 0
    for (let i = 0; i < 2000; i++) if (a.get(`t${tenant}\0${i}`)) held += 10
    t.ok(held >= 10_000 / 16 && held <= 10_000 / 4, `t${tenant} holds ${held}`)
  }
  a.clear()
  t.equal(room.bytes, 0)
})

t.test('a tenant that is gone leaves nothing behind', async (t) => {
  const { room, a } = setUp(1000)
  for (let i = 0; i < 3000; i++) {
    a.set(`t${i}\0x`, 100)
    a.delete(`t${i - 3}\0x`)
  }
  t.ok(room.tenants <= 10, `${room.tenants}`)
})
