/** Several processes on one port: once a change has been acknowledged, none of them decides on the old state. */

import t from 'tap'
import { staleDecisions } from './stale-decisions.ts'

t.test('updates and requests on many connections to two workers, without a stale decision', async (t) => {
  t.equal(await staleDecisions(t, { workers: 2, rounds: 20 }), 0)
})
