/** `body_timeout` counts the silence of both sides: a client that goes on talking keeps its stream. */

import t from 'tap'
import { holdTime } from '../support/held-time.ts'
import { checkSilence } from './calls.ts'
import { seatForAll, startGrpcWorld } from './world.ts'

t.test('a stream that is silent on one side goes on, for longer than body_timeout', async (t) => {
  const { world, talk, caller } = await startGrpcWorld(t, { upstream: ['body_timeout: 5s'] })
  const client = await caller(await seatForAll(world))
  // Opens the connection, for which grpc-js needs timers.
  await client.unary('hello')
  const time = holdTime(t)
  await checkSilence(t, client.chat(), talk, async (say) => {
    for (let said = 0; said < 4; said++) {
      await say()
      time.pass(4000)
    }
    await say()
    // The gateway checks a millisecond behind the deadline.
    time.pass(5001)
  })
  t.equal(talk.calls.length, 2)
})
