/** Several processes on one port: once a change has been acknowledged, none of them decides on the old state. */

import t from 'tap'
import { staleDecisions } from './stale-decisions.ts'

t.test('a hundred updates, and requests on many connections to three workers', async (t) => {
  t.equal(await staleDecisions(t, { workers: 3, rounds: 100 }), 0)
})
