/** Several maps with one bound. */

import t from 'tap'
import { LruMap, LruBudget } from '../../src/lib/lru-maps.ts'

/** Takes `tenant NUL id` as one string. */
class KeyedMap {
  readonly #map: LruMap<number>

  constructor(map: LruMap<number>) {
    this.#map = map
  }

  get size(): number {
    return this.#map.size
  }

  get(key: string) {
    return this.#map.get(...fieldsOf(key))
  }

  set(key: string, value: number): void {
    this.#map.set(...fieldsOf(key), value)
  }

  delete(key: string): void {
    this.#map.delete(...fieldsOf(key))
  }

  clear(): void {
    this.#map.clear()
  }
}

function fieldsOf(key: string): [tenant: string, id: string] {
  const [tenant = '', id] = key.split('\0')
  return id === undefined ? ['', tenant] : [tenant, id]
}

/** Two maps with one shared bound, and values that are their own weight. */
function setUp(bytes: number) {
  const maps = new LruBudget(bytes)
  const map = () => new KeyedMap(new LruMap<number>(maps, (_tenant, _id, value) => value))
  return { maps, a: map(), b: map() }
}

t.test('together they hold no more than the bound', async (t) => {
  const { maps, a, b } = setUp(1000)
  for (let i = 0; i < 500; i++) {
    if (i % 3 === 0) a.set(`${i}`, 30)
    else b.set(`${i}`, 70)
    a.get(`${i - 9}`)
    t.equal(maps.weight, 30 * a.size + 70 * b.size)
    t.ok(maps.weight <= 1000, `${maps.weight}`)
    if (i > 50) t.ok(maps.weight > 930, `${maps.weight}`)
  }
})

t.test('the least recently used entry is evicted first, from either map', async (t) => {
  const { a, b } = setUp(1000)
  for (let i = 0; i < 5; i++) a.set(`${i}`, 100)
  for (let i = 5; i < 10; i++) b.set(`${i}`, 100)
  t.same([a.get('1')?.value, b.get('5')?.value, a.get('nothing')], [100, 100, undefined])
  for (let i = 10; i < 18; i++) b.set(`${i}`, 100)
  t.same([a.size, b.size], [1, 9])
  t.ok(a.get('1') && b.get('5'))
})

t.test('entries in use stay, whichever map fills up', async (t) => {
  const { a, b } = setUp(1000)
  a.set('used', 100)
  for (let i = 0; i < 50; i++) {
    b.set(`${i}`, 100)
    t.equal(a.get('used')?.value, 100)
  }
})

t.test('deleting, replacing and clearing free memory', async (t) => {
  const { maps, a, b } = setUp(1000)
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
  t.equal(maps.weight, 100)
  b.set('1', 7)
  t.equal(b.get('1')?.value, 7)
  t.equal(a.get('stays')?.value, 100)
})

t.test('an entry that would evict too many others is not held', async (t) => {
  const { maps, a, b } = setUp(800)
  for (let i = 0; i < 8; i++) a.set(`${i}`, 100)
  b.set('large', 101)
  t.same([a.size, b.size, maps.weight], [8, 0, 800])
  a.set('3', 101)
  t.equal(a.get('3'), undefined, 'nor is the value it replaces')
})

t.test('a new bound applies at once', async (t) => {
  const { maps, a, b } = setUp(1000)
  for (let i = 0; i < 9; i++) a.set(`${i}`, 100)
  maps.resize(200)
  t.same([a.size, a.get('8')?.value, a.get('7')?.value], [2, 100, 100])
  maps.resize(4000)
  for (let i = 9; i < 50; i++) b.set(`${i}`, 100)
  t.equal(a.size + b.size, 40)
  maps.resize(0)
  t.same([a.size, b.size, maps.weight], [0, 0, 0])
  a.set('1', 1)
  t.equal(a.size, 0)
})

t.test('after any operations, it holds the latest value', async (t) => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const { maps, a, b } = setUp(400)
  const model = [new Map<string, number>(), new Map<string, number>()]
  for (let step = 0; step < 50_000; step++) {
    const which = random(2)
    const [map, set] = [which === 0 ? a : b, model[which]]
    const [key, weight] = [`${random(40)}`, 1 + random(60)]
    const operation = random(100)
    if (operation < 45) {
      map.set(key, weight)
      set?.set(key, weight)
    } else if (operation < 85) {
      const value = map.get(key)?.value
      if (value !== undefined && value !== set?.get(key)) t.fail(`${value} in place of ${set?.get(key)}`)
    } else if (operation < 97) {
      map.delete(key)
      set?.delete(key)
    } else if (operation < 99) maps.resize(100 + random(400))
    else {
      map.clear()
      set?.clear()
    }
    if (maps.weight < 0 || maps.weight > 500) t.fail(`${maps.weight} bytes`)
    if (a.size + b.size === 0 && maps.weight !== 0) t.fail(`${maps.weight} bytes when empty`)
  }
  a.clear()
  b.clear()
  t.equal(maps.weight, 0)
})

t.test('the tenant that holds the most is evicted from, least recently used first', async (t) => {
  const { maps, a, b } = setUp(1000)
  for (let i = 0; i < 3; i++) a.set(`honest\0${i}`, 100)
  for (let i = 0; i < 5000; i++) b.set(`greedy\0${i}`, 100)
  t.same([a.size, b.size, maps.weight], [3, 7, 1000])
  t.ok(b.get('greedy\x004999') && b.get('greedy\x004993') && !b.get('greedy\x004992'))
  a.set('honest\x003', 100)
  t.same([a.size, b.size], [4, 6])
})

t.test('tenants that all exceed the bound hold about the same', async (t) => {
  const { maps, a } = setUp(10_000)
  for (let i = 0; i < 2000; i++) for (let tenant = 0; tenant < 8; tenant++) a.set(`t${tenant}\0${i}`, 10)
  for (let tenant = 0; tenant < 8; tenant++) {
    let held = 0
    for (let i = 0; i < 2000; i++) if (a.get(`t${tenant}\0${i}`)) held += 10
    t.ok(held >= 10_000 / 16 && held <= 10_000 / 4, `t${tenant} holds ${held}`)
  }
  a.clear()
  t.equal(maps.weight, 0)
})

t.test('a removed tenant leaves nothing behind', async (t) => {
  const { maps, a } = setUp(1000)
  for (let i = 0; i < 3000; i++) {
    a.set(`t${i}\0x`, 100)
    a.delete(`t${i - 3}\0x`)
  }
  t.ok(maps.owners <= 10, `${maps.owners}`)
})

t.test('the entries of one owner are deleted together, and no others', async (t) => {
  const budget = new LruBudget(1000, 1)
  const map = () => new LruMap<number>(budget, (_owner, _key, weight) => weight)
  const [a, b] = [map(), map()]
  for (let i = 0; i < 10; i++) for (const owner of ['acme', 'globex']) a.set(owner, `${i}`, 20)
  b.set('acme', '0', 50)
  a.deleteAll('acme')
  a.deleteAll('acme')
  a.deleteAll('initech')
  t.same([a.size, b.size, budget.weight, budget.owners], [10, 1, 250, 2])
  t.equal(a.get('acme', '0'), undefined)
  t.match(a.get('globex', '0'), { value: 20 })
  a.set('acme', '0', 750)
  t.same([a.size, budget.weight], [11, 1000], 'there is room for it')
})
