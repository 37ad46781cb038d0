/** More of the quick test's random sequences of requests to a fleet. */

import t from 'tap'
import { givesAsOneBucket, holdsWhileLenderIsAway } from './fleet-properties.ts'

t.test('no less than 99 % of what one bucket gives, under uneven load', () => givesAsOneBucket(10))

for (const lost of [false, true])
  t.test(`lender away${lost ? ' and back empty' : ''}: the bound holds`, () =>
    holdsWhileLenderIsAway(lost, 10),
  )
