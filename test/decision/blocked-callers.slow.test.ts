/** A block ends by itself on a running gateway, in real time. */

import t from 'tap'
import { until } from '../support/until.ts'
import { startBlocking } from './blocking.ts'

t.test('a block that ends', async (t) => {
  const { bearer, ask, block, blockedUsers } = await startBlocking(t)
  // A machine on which it ends before the first answer gets another, longer one.
  for (let lasts = 6000; ; lasts *= 4) {
    const user = `blocked for ${lasts} ms`
    const headers = await bearer(user)
    const end = Date.now() + lasts
    await block(user, { until: new Date(end).toISOString() })
    const answer = await ask('/me', headers)
    if (Date.now() >= end) continue
    t.equal(answer, '403 caller_blocked')
    await until(async () => (await ask('/me', headers)) === 'allow', 'the end of the block', {
      pause: 200,
      patience: lasts + 30_000,
    })
    t.ok(Date.now() >= end, 'not early')
    t.notOk((await blockedUsers()).includes(user))
    return
  }
})
