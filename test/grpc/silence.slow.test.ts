/** `body_timeout` counts the silence of both sides: a client that goes on talking keeps its stream. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { checkSilence } from './silence.ts'
import { seatForAll, startGrpcWorld } from './world.ts'

t.test('a stream that is silent on one side goes on, for longer than body_timeout', async (t) => {
  const { world, talk, caller } = await startGrpcWorld(t, { upstream: ['body_timeout: 5s'] })
  const client = await caller(await seatForAll(world))
  await checkSilence(t, client.chat(), talk, async (say) => {
    for (let said = 0; said < 16; said++) {
      await say()
      await sleep(500)
    }
  })
  t.equal(talk.calls.length, 1)
})
