/** Slow loris: an endless header section is cut off, and other clients are served. */

import t from 'tap'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { startWorld } from '../../support/world.ts'
import { metric } from '../../support/operations.ts'

t.test('400 trickling connections get 408 and are closed; other clients are served meanwhile', async (t) => {
  const world = await startWorld(t)
  const time = holdTime(t)
  const slow = Array.from({ length: 400 }, () =>
    new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\nHost: a\r\n'),
  )
  await until(
    async () => (await metric(world, 'seatgate_connections{state="opening"}')) === 400,
    'the connections',
  )
  const dribble = setInterval(
    () => slow.forEach(({ socket }) => socket.writable && socket.write('X-A: a\r\n')),
    1000,
  )
  t.teardown(() => clearInterval(dribble))
  const served = async () => t.equal((await world.client.send('GET', '/docs/a')).status, 200)
  for (let passed = 0; passed < 5000; passed += 100) {
    time.pass(100)
    await served()
  }
  t.ok(
    slow.every(({ received }) => received === ''),
    'they trickle',
  )
  await untilStepped(time, () => slow.every(({ socket }) => socket.closed))
  for (const { received } of slow)
    if (!/^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/.test(received)) t.fail(received)
  await served()
})
