/** A table whose entries are full or not. */

import t from 'tap'
import { BoundedTable } from '../../../src/decision/limits/bounded-table.ts'

interface Entry {
  readonly key: string | null
  full: boolean
}

function tableOf(bound: number) {
  return new BoundedTable<Entry>({
    bound,
    create: (key, _owner, like) => ({ key, full: like?.full ?? true }),
    isForgettable: ({ full }) => full,
    poorer: (one, other) => (one.full ? other : one),
  })
}

t.test('a full table forgets full entries only', async (t) => {
  const table = tableOf(3)
  for (const key of ['a', 'b', 'c']) table.get(key, 'acme').full = key === 'b'
  t.equal(table.get('d', 'acme').key, 'd', 'in the place of b')
  t.equal(table.get('a', 'acme').full, false)
  t.equal(table.get('c', 'acme').full, false)
})

t.test('without a free place, new keys share entries, and a flood of them is bounded', async (t) => {
  const table = tableOf(10)
  for (let i = 0; i < 10; i++) table.get(`spent ${i}`, 'acme').full = false
  for (let i = 0; i < 20_000; i++) table.get(`flood ${i}`, 'acme').full = false
  t.ok(table.size <= 10 + 1024, `${table.size} entries`)
  for (let i = 0; i < 10; i++)
    t.equal(table.get(`spent ${i}`, 'acme').full, false, 'no spent entry came back full')
})

t.test('a key that gets its own entry keeps what the shared one had', async (t) => {
  const table = tableOf(1)
  const first = table.get('first', 'acme')
  first.full = false
  const shared = table.get('second', 'acme')
  t.equal(shared.key, null)
  shared.full = false
  first.full = true
  const own = table.get('second', 'acme')
  t.equal(own.key, 'second')
  t.equal(own.full, false, 'not a fresh burst')
})

t.test('a flood of keys of one owner takes no place of another, also where it was first', async (t) => {
  const table = tableOf(10)
  for (let i = 0; i < 5; i++) table.get(`early ${i}`, 'calm').full = false
  for (let i = 0; i < 5000; i++) table.get(`flood ${i}`, 'greedy').full = false
  for (let i = 0; i < 5; i++) {
    t.equal(table.get(`early ${i}`, 'calm').full, false, 'it keeps what it has used')
    t.equal(
      table.get(`late ${i}`, 'late').key,
      `late ${i}`,
      'a new key of another owner has an entry of its own',
    )
  }
  t.ok(table.size <= 10 + 1024)
})

t.test('keys that made room come back with no more than they had', async (t) => {
  const table = tableOf(4)
  for (let i = 0; i < 4; i++) table.get(`used ${i}`, 'greedy').full = false
  for (let i = 0; i < 2; i++) table.get(`new ${i}`, 'calm').full = false
  for (let i = 0; i < 4; i++) t.equal(table.get(`used ${i}`, 'greedy').full, false, `${i}`)
  t.equal(table.get('new 0', 'calm').key, 'new 0')
})

t.test('owners end with equal numbers of entries', async (t) => {
  const table = tableOf(9)
  const owners = ['a', 'b', 'c']
  const isOwn = (owner: string, i: number) => table.get(`${owner} ${i}`, owner).key !== null
  for (let i = 0; i < 100; i++) for (const owner of owners) table.get(`${owner} ${i}`, owner).full = false
  for (const owner of owners)
    t.equal(Array.from({ length: 100 }, (_, i) => isOwn(owner, i)).filter(Boolean).length, 3, owner)
})
