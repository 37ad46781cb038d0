/** Invalid bodies; each fault has its path. */

import t from 'tap'
import { apiKeyBody, apiKeyInput } from '../../../seats-admin/api/api-key-endpoints.ts'
import { blockBody } from '../../../seats-admin/api/block-endpoints.ts'
import { seatBody, seatPatchBody } from '../../../seats-admin/api/seat-endpoints.ts'
import { isRefusal } from '../../../seats-admin/index.ts'

const SEAT = { name: 'A', spaces: ['one'], permissions: ['a:b'] }
const KEY = { name: 'k', seats: ['A'] }

function readApiKeyInput(body: unknown, now: number) {
  const read = apiKeyBody(body)
  return isRefusal(read) ? read : apiKeyInput(read, now)
}

/** The paths of the faults; null for none. */
function faultPaths(result: unknown): string[] | null {
  if (!isRefusal(result)) return null
  if (result.refused !== 'input_invalid') throw new Error(result.refused)
  for (const { message } of result.faults ?? [])
    if (message === '') throw new Error('a fault without a message')
  return (result.faults ?? []).map((fault) => fault.path).toSorted()
}

const parsed = (text: string): unknown => JSON.parse(text)

t.test('valid input is unchanged', async (t) => {
  for (const seat of [SEAT, { name: '💺'.repeat(256), spaces: [], permissions: ['*'] }]) {
    t.strictSame(seatBody(seat), seat)
    t.strictSame(seatPatchBody(seat), seat)
  }
  for (const patch of [{}, { name: 'B' }, { spaces: [] }, { permissions: ['*', 'a:b'] }]) {
    t.strictSame(seatPatchBody(patch), patch)
  }
  t.strictSame(readApiKeyInput(KEY, 0), { ...KEY, expiresAt: null, owner: null })
  t.strictSame(readApiKeyInput({ ...KEY, expires_at: '1970-01-01T00:00:01Z' }, 0), {
    ...KEY,
    expiresAt: 1000,
    owner: null,
  })
})

t.test('bodies that are not objects', async (t) => {
  for (const body of [undefined, null, 1, 'x', true, [], [SEAT], '{"name":"A"}']) {
    t.same(faultPaths(seatBody(body)), [''], JSON.stringify(body))
    t.same(faultPaths(seatPatchBody(body)), [''])
    t.same(faultPaths(readApiKeyInput(body, 0)), [''])
  }
})

t.test('missing and unknown fields', async (t) => {
  t.same(faultPaths(seatBody({})), ['/name', '/permissions', '/spaces'])
  t.same(faultPaths(readApiKeyInput({}, 0)), ['/name', '/seats'])
  t.same(faultPaths(seatBody({ ...SEAT, id: 'x', created_by: 'x' })), ['/created_by', '/id'])
  t.same(faultPaths(seatPatchBody({ Name: 'x' })), ['/Name'], 'names are case-sensitive')
  t.same(faultPaths(seatPatchBody({ 'a/b~c': 1 })), ['/a~1b~0c'], 'as a JSON Pointer')
  t.same(faultPaths(seatPatchBody({ '': 1 })), ['/'])
  t.same(faultPaths(seatPatchBody(parsed('{"__proto__": {"name": "x"}}'))), ['/__proto__'])
  t.same(faultPaths(seatPatchBody({ constructor: 1, refused: 'x' })), ['/constructor', '/refused'])
  t.same(faultPaths(readApiKeyInput({ ...KEY, key: 'sk_x' }, 0)), ['/key'])
  t.same(faultPaths(seatPatchBody({ ['x'.repeat(200)]: 1 })), [''], 'long names are not repeated')
})

t.test('types', async (t) => {
  for (const wrong of [null, 1, true, {}, ['a'], Number.NaN]) {
    t.same(faultPaths(seatBody({ ...SEAT, name: wrong })), ['/name'], JSON.stringify(wrong))
  }
  for (const wrong of [null, 1, true, {}, 'one', { 0: 'one', length: 1 }]) {
    t.same(faultPaths(seatBody({ ...SEAT, spaces: wrong })), ['/spaces'], JSON.stringify(wrong))
    t.same(faultPaths(seatPatchBody({ permissions: wrong })), ['/permissions'])
    t.same(faultPaths(readApiKeyInput({ ...KEY, seats: wrong }, 0)), ['/seats'])
  }
  for (const wrong of [1, true, {}, [], '']) {
    t.same(
      faultPaths(readApiKeyInput({ ...KEY, expires_at: wrong }, 0)),
      ['/expires_at'],
      JSON.stringify(wrong),
    )
  }
  t.same(faultPaths(seatPatchBody({ spaces: ['a', 1, null, ['b'], 'c'] })), [
    '/spaces/1',
    '/spaces/2',
    '/spaces/3',
  ])
})

t.test('items', async (t) => {
  t.same(faultPaths(seatPatchBody({ spaces: ['ok', '', 'a:b', ' a', '*'] })), [
    '/spaces/1',
    '/spaces/2',
    '/spaces/3',
    '/spaces/4',
  ])
  t.same(faultPaths(seatPatchBody({ permissions: ['a:*', '*', 'a'] })), ['/permissions/0', '/permissions/2'])
  t.same(faultPaths(readApiKeyInput({ ...KEY, seats: ['A', '', '\ud800'] }, 0)), ['/seats/1', '/seats/2'])
})

t.test('the messages of sizes', async (t) => {
  const messageOf = (result: unknown) => (isRefusal(result) ? result.faults?.[0]?.message : result)
  t.equal(messageOf(seatBody({ ...SEAT, spaces: Array(10_001).fill('a') })), 'must have at most 10000 items')
  t.equal(messageOf(blockBody({ user: '' })), 'must not be empty')
  const reason = 'x'.repeat(1025)
  t.equal(messageOf(blockBody({ user: 'eve', reason })), 'must have at most 1024 characters')
})

t.test('duplicate items', async (t) => {
  t.same(faultPaths(seatPatchBody({ spaces: ['a', 'b', 'a', 'a'] })), ['/spaces/2', '/spaces/3'])
  t.same(faultPaths(seatPatchBody({ permissions: ['*', '*'] })), ['/permissions/1'])
  t.same(faultPaths(readApiKeyInput({ ...KEY, seats: ['__proto__', '__proto__'] }, 0)), ['/seats/1'])
  t.equal(faultPaths(readApiKeyInput({ ...KEY, seats: ['constructor', 'toString', 'a', 'A'] }, 0)), null)
})

t.test('reports all faults up to a bound, and a huge body costs little', async (t) => {
  t.equal(faultPaths(seatPatchBody({ spaces: Array(1).fill(1), permissions: Array(40).fill(1) }))?.length, 41)
  t.equal(faultPaths(seatPatchBody({ spaces: Array(900).fill(1) }))?.length, 50)
  t.equal(faultPaths(seatPatchBody({ spaces: Array(500_000).fill(1) }))?.length, 1)
  t.equal(faultPaths(seatPatchBody({ spaces: Array(10_000).fill('a') }))?.length, 50)
  t.equal(
    faultPaths(seatPatchBody(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`f${at}`, 1]))))
      ?.length,
    1,
  )
})

t.test('no more Seats, spaces and permissions than a decision supports', async (t) => {
  const many = (count: number, suffix = '') => Array.from({ length: count }, (_, at) => `n${at}${suffix}`)
  t.equal(faultPaths(readApiKeyInput({ ...KEY, seats: many(1000) }, 0)), null)
  t.same(faultPaths(readApiKeyInput({ ...KEY, seats: many(1001) }, 0)), ['/seats'])
  t.equal(faultPaths(seatBody({ ...SEAT, spaces: many(10_000), permissions: many(10_000, ':a') })), null)
  for (const read of [seatBody, seatPatchBody]) {
    t.same(faultPaths(read({ ...SEAT, spaces: many(10_001) })), ['/spaces'])
    t.same(faultPaths(read({ ...SEAT, permissions: many(10_001, ':a') })), ['/permissions'])
  }
})
