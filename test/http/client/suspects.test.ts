/** How long the requests of an owner go alone. */

import t from 'tap'
import { Suspects } from '../../../src/http/client/suspects.ts'
import type { RequestOwner } from '../../../src/http/client/upstream-request.ts'
import { holdTime } from '../../support/held-time.ts'

const ALICE: RequestOwner = ['acme', 'alice']
const BOB: RequestOwner = ['acme', 'bob']

t.test('ten seconds, doubled each time up to a limit, and again ten after as long', async (t) => {
  const time = holdTime(t)
  const suspects = new Suspects()
  const noted = () => {
    suspects.note([ALICE, ALICE])
    let seconds = 0
    for (; suspects.has(ALICE); seconds++) time.pass(1000)
    return seconds
  }
  t.same(Array.from({ length: 8 }, noted), [10, 20, 40, 80, 160, 320, 640, 640])
  time.pass(640_000)
  t.equal(noted(), 10)
})

t.test('of the owners that were noted, and of these alone', async (t) => {
  const time = holdTime(t)
  const suspects = new Suspects()
  t.equal(suspects.areNone, true)
  suspects.note([ALICE])
  t.same([suspects.areNone, suspects.has(ALICE), suspects.has(BOB)], [false, true, false])
  t.equal(suspects.has(['acme","alice', '']), false)
  time.pass(5000)
  suspects.note([BOB])
  time.pass(5000)
  t.same([suspects.areNone, suspects.has(ALICE), suspects.has(BOB)], [false, false, true])
  time.pass(5001)
  t.equal(suspects.areNone, true)
})

t.test('a number of owners, of which the last ones are kept', async (t) => {
  holdTime(t)
  const suspects = new Suspects()
  for (let i = 0; i < 10_001; i++) suspects.note([['acme', `user-${i}`]])
  t.equal(suspects.has(['acme', 'user-0']), false)
  t.equal(suspects.has(['acme', 'user-1']), true)
  t.equal(suspects.has(['acme', 'user-10000']), true)
})
