import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { crockford, isUlid, nextUlidTime, ulid } from '../../../seats-admin/model/ulid.ts'

const random = fc.uint8Array({ minLength: 16, maxLength: 16 })
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

t.test('known values', async (t) => {
  t.equal(ulid(0, new Uint8Array(16)), '00000000000000000000000000')
  t.equal(ulid(2 ** 48 - 1, new Uint8Array(16).fill(255)), '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'the largest')
  t.equal(
    ulid(1469918176385, new Uint8Array(16)).slice(0, 10),
    '01ARYZ6S41',
    'the example of the specification',
  )
})

t.test('every id is valid and sorts by its time', async () => {
  fc.assert(
    fc.property(time, random, time, random, (timeA, randomA, timeB, randomB) => {
      const [a, b] = [ulid(timeA, randomA), ulid(timeB, randomB)]
      return isUlid(a) && isUlid(b) && (timeA === timeB || timeA < timeB === a < b)
    }),
  )
})

t.test('ids sort in order of creation, even if the clock steps back', async () => {
  fc.assert(
    fc.property(fc.array(time, { minLength: 2, maxLength: 50 }), (clock) => {
      let last = 0
      let newest = ''
      for (const now of clock.map((each) => Math.min(each, 2 ** 48 - 100))) {
        last = nextUlidTime(now, last)
        const id = ulid(last, randomBytes(16))
        if (id <= newest) return false
        newest = id
      }
      return true
    }),
  )
})

t.test('invalid ids', async (t) => {
  const id = ulid(1, randomBytes(16))
  for (const no of [
    '',
    id.slice(1),
    `${id}0`,
    id.toLowerCase(),
    `8${id.slice(1)}`,
    `${id.slice(1)}I`,
    `${id.slice(1)}\n`,
  ]) {
    if (no !== id) t.equal(isUlid(no), false, JSON.stringify(no))
  }
  for (const letter of 'ILOU') t.equal(isUlid(id.slice(0, 25) + letter), false, letter)
})

t.test('invalid input throws', async (t) => {
  for (const no of [-1, 2 ** 48, Number.NaN, 1.5]) t.throws(() => ulid(no, new Uint8Array(16)), RangeError)
  t.throws(() => ulid(0, new Uint8Array(15)), RangeError)
})

t.test('all characters are equally likely', async (t) => {
  const counts = new Map<string, number>()
  for (const letter of crockford(Uint8Array.from({ length: 256 }, (_, at) => at))) {
    counts.set(letter, (counts.get(letter) ?? 0) + 1)
  }
  t.equal(counts.size, 32)
  t.same([...new Set(counts.values())], [8])
})
