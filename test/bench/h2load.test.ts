/** What h2load prints, as the figures of a load: whatever is not a response counts as failed. */

import t from 'tap'
import { loadedOf } from '../../bench/h2load.ts'

const printed = (requests: string, codes: string) =>
  `finished in 1.00s, 18632.00 req/s, 400.55KB/s\nrequests: ${requests}\nstatus codes: ${codes}\n`

t.test('all responses are good', async (t) => {
  const text = printed(
    '800 total, 816 started, 800 done, 800 succeeded, 0 failed, 0 errored, 0 timeout',
    '800 2xx, 0 3xx, 0 4xx, 0 5xx',
  )
  t.match(loadedOf(text, 2), { requests: 800, sent: 800, refused: 0, failed: 0, rate: 400 })
})

t.test('refusals, redirections, errors, and a response without a status', async (t) => {
  const text = printed(
    '100 total, 100 started, 100 done, 70 succeeded, 30 failed, 4 errored, 1 timeout',
    '68 2xx, 2 3xx, 20 4xx, 4 5xx',
  )
  t.match(loadedOf(text, 1), { requests: 92, sent: 100, refused: 24, failed: 8 })
})

t.test('responses that have begun are not complete', async (t) => {
  const text = printed(
    '90 total, 100 started, 90 done, 90 succeeded, 0 failed, 0 errored, 0 timeout',
    '95 2xx, 0 3xx, 0 4xx, 0 5xx',
  )
  t.match(loadedOf(text, 1), { requests: 90, sent: 90, failed: 0 })
})

t.test('nothing', async (t) => t.equal(loadedOf('', 1).requests, 0))
