/** Bodies that are not what they should be, each fault by its place. */

import t from 'tap'
import { readApiKeyInput, readSeatInput, readSeatPatch } from '../../../seats-admin/api/input.ts'
import { isRefusal } from '../../../seats-admin/index.ts'

const SEAT = { name: 'A', spaces: ['one'], permissions: ['a:b'] }
const KEY = { name: 'k', seats: ['A'] }

/** Where the faults are; null for none. */
function places(result: unknown): string[] | null {
  if (!isRefusal(result)) return null
  if (result.refused !== 'input_invalid') throw new Error(result.refused)
  for (const { message } of result.faults ?? []) if (message === '') throw new Error('a fault without words')
  return (result.faults ?? []).map((fault) => fault.path).toSorted()
}

const parsed = (text: string): unknown => JSON.parse(text)

t.test('what is right is let in as it is', async (t) => {
  for (const seat of [SEAT, { name: '💺'.repeat(256), spaces: [], permissions: ['*'] }]) {
    t.strictSame(readSeatInput(seat), seat)
    t.strictSame(readSeatPatch(seat), seat)
  }
  for (const patch of [{}, { name: 'B' }, { spaces: [] }, { permissions: ['*', 'a:b'] }]) {
    t.strictSame(readSeatPatch(patch), patch)
  }
  t.strictSame(readApiKeyInput(KEY, 0), { ...KEY, expiresAt: null })
  t.strictSame(readApiKeyInput({ ...KEY, expires_at: '1970-01-01T00:00:01Z' }, 0), {
    ...KEY,
    expiresAt: 1000,
  })
})

t.test('no object at all', async (t) => {
  for (const body of [undefined, null, 1, 'x', true, [], [SEAT], '{"name":"A"}']) {
    t.same(places(readSeatInput(body)), [''], JSON.stringify(body))
    t.same(places(readSeatPatch(body)), [''])
    t.same(places(readApiKeyInput(body, 0)), [''])
  }
})

t.test('fields that miss, and fields that are not known', async (t) => {
  t.same(places(readSeatInput({})), ['/name', '/permissions', '/spaces'])
  t.same(places(readApiKeyInput({}, 0)), ['/name', '/seats'])
  t.same(places(readSeatInput({ ...SEAT, id: 'x', created_by: 'x' })), ['/created_by', '/id'])
  t.same(places(readSeatPatch({ Name: 'x' })), ['/Name'], 'case counts')
  t.same(places(readSeatPatch({ 'a/b~c': 1 })), ['/a~1b~0c'], 'as a JSON Pointer')
  t.same(places(readSeatPatch({ '': 1 })), ['/'])
  t.same(places(readSeatPatch(parsed('{"__proto__": {"name": "x"}}'))), ['/__proto__'])
  t.same(places(readSeatPatch({ constructor: 1, refused: 'x' })), ['/constructor', '/refused'])
  t.same(places(readApiKeyInput({ ...KEY, key: 'sk_x' }, 0)), ['/key'])
  t.same(places(readSeatPatch({ ['x'.repeat(200)]: 1 })), [''], 'long names are not said back')
})

t.test('types', async (t) => {
  for (const wrong of [null, 1, true, {}, ['a'], Number.NaN]) {
    t.same(places(readSeatInput({ ...SEAT, name: wrong })), ['/name'], JSON.stringify(wrong))
  }
  for (const wrong of [null, 1, true, {}, 'one', { 0: 'one', length: 1 }]) {
    t.same(places(readSeatInput({ ...SEAT, spaces: wrong })), ['/spaces'], JSON.stringify(wrong))
    t.same(places(readSeatPatch({ permissions: wrong })), ['/permissions'])
    t.same(places(readApiKeyInput({ ...KEY, seats: wrong }, 0)), ['/seats'])
  }
  for (const wrong of [1, true, {}, [], '']) {
    t.same(places(readApiKeyInput({ ...KEY, expires_at: wrong }, 0)), ['/expires_at'], JSON.stringify(wrong))
  }
  t.same(places(readSeatPatch({ spaces: ['a', 1, null, ['b'], 'c'] })), [
    '/spaces/1',
    '/spaces/2',
    '/spaces/3',
  ])
})

t.test('items', async (t) => {
  t.same(places(readSeatPatch({ spaces: ['ok', '', 'a:b', ' a', '*'] })), [
    '/spaces/1',
    '/spaces/2',
    '/spaces/3',
    '/spaces/4',
  ])
  t.same(places(readSeatPatch({ permissions: ['a:*', '*', 'a'] })), ['/permissions/0', '/permissions/2'])
  t.same(places(readApiKeyInput({ ...KEY, seats: ['A', '', '\ud800'] }, 0)), ['/seats/1', '/seats/2'])
})

t.test('an item twice', async (t) => {
  t.same(places(readSeatPatch({ spaces: ['a', 'b', 'a', 'a'] })), ['/spaces/2', '/spaces/3'])
  t.same(places(readSeatPatch({ permissions: ['*', '*'] })), ['/permissions/1'])
  t.same(places(readApiKeyInput({ ...KEY, seats: ['__proto__', '__proto__'] }, 0)), ['/seats/1'])
  t.equal(places(readApiKeyInput({ ...KEY, seats: ['constructor', 'toString', 'a', 'A'] }, 0)), null)
})

t.test('faults are told all, up to a bound, and a monstrous body costs little', async (t) => {
  t.equal(places(readSeatPatch({ spaces: Array(1).fill(1), permissions: Array(40).fill(1) }))?.length, 41)
  t.equal(places(readSeatPatch({ spaces: Array(900).fill(1) }))?.length, 50)
  t.equal(places(readSeatPatch({ spaces: Array(500_000).fill(1) }))?.length, 1)
  t.equal(places(readSeatPatch({ spaces: Array(10_000).fill('a') }))?.length, 50)
  t.equal(
    places(readSeatPatch(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`f${at}`, 1]))))
      ?.length,
    1,
  )
})

t.test('no more Seats, spaces and permissions than a request can be decided by', async (t) => {
  const many = (count: number, suffix = '') => Array.from({ length: count }, (_, at) => `n${at}${suffix}`)
  t.equal(places(readApiKeyInput({ ...KEY, seats: many(1000) }, 0)), null)
  t.same(places(readApiKeyInput({ ...KEY, seats: many(1001) }, 0)), ['/seats'])
  t.equal(places(readSeatInput({ ...SEAT, spaces: many(10_000), permissions: many(10_000, ':a') })), null)
  for (const read of [readSeatInput, readSeatPatch]) {
    t.same(places(read({ ...SEAT, spaces: many(10_001) })), ['/spaces'])
    t.same(places(read({ ...SEAT, permissions: many(10_001, ':a') })), ['/permissions'])
  }
})
