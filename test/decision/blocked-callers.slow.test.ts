/** A block ends by itself on a running gateway, in real time. */

import t from 'tap'
import { until } from '../support/servers/wait.ts'
import { startBlocking } from './blocking.ts'

/** ms: ten times what the first request takes on a busy machine. */
const LASTS = 20_000

t.test('a block that ends', async (t) => {
  const { bearer, ask, block, blockedUsers } = await startBlocking(t)
  const frank = await bearer('frank')
  const end = Date.now() + LASTS
  await block('frank', { until: new Date(end).toISOString() })
  t.equal(await ask('/me', frank), '403 caller_blocked')
  await until(
    async () => (await ask('/me', frank)) === 'allow',
    () => 'the block does not end',
    200,
    LASTS + 30_000,
  )
  t.ok(Date.now() >= end, 'not early')
  t.notOk((await blockedUsers()).includes('frank'))
})
