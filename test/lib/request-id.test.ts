/** Ids of requests are UUIDs of version 4, and no two are the same. */

import t from 'tap'
import { requestId } from '../../src/lib/request-id.ts'

t.test('each is one, and another one', async (t) => {
  const ids = Array.from({ length: 100_000 }, requestId)
  t.same(
    ids.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
    [],
  )
  t.equal(new Set(ids).size, ids.length)
})

t.test('every bit that is not fixed takes both values, as often as the other', async (t) => {
  const count = 20_000
  const ones = Array.from({ length: 128 }, () => 0)
  for (let i = 0; i < count; i++) {
    const bits = BigInt(`0x${requestId().replaceAll('-', '')}`)
    for (let bit = 0; bit < 128; bit++)
      if ((bits >> BigInt(bit)) & 1n) ones[127 - bit] = (ones[127 - bit] ?? 0) + 1
  }
  const fixed = new Map([...'0100'].map((bit, i) => [48 + i, bit]))
  fixed.set(64, '1').set(65, '0')
  for (const [bit, times] of ones.entries()) {
    const known = fixed.get(bit)
    // Seven standard deviations: once in 10^11 of such tests.
    if (known === undefined)
      t.ok(Math.abs(times - count / 2) < 7 * Math.sqrt(count / 4), `bit ${bit}: ${times}`)
    else t.equal(times, known === '1' ? count : 0, `bit ${bit}`)
  }
})
