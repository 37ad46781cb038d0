/** SIGTERM's work: what is in flight ends well, nothing new begins. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Client, raw } from '../support/client.ts'
import { startWorld } from '../support/world.ts'

t.test('requests in flight finish, with Connection: close; then nobody listens', async (t) => {
  const world = await startWorld(t, {
    answer: (_request, response) => void setTimeout(() => response.end('done'), 400),
  })
  const clients = Array.from({ length: 20 }, () => new Client(world.port))
  const answers = clients.map((client) => client.send('GET', '/docs/a'))
  while (world.upstream.seen.length < 20) await sleep(10)
  const closed = world.gateway.close(10_000)
  t.equal((await fetch(`${world.ops}/readyz`)).status, 503)
  t.equal((await fetch(`${world.ops}/livez`)).status, 200)
  await t.rejects(raw(world.port, 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n'), { code: 'ECONNREFUSED' })
  for (const answer of await Promise.all(answers)) t.match(answer, { status: 200, body: 'done' })
  await closed
})

t.test(
  'an answer in flight says that it is the last, and the end does not wait for its connection',
  async (t) => {
    const world = await startWorld(t, {
      answer: (_request, response) => void setTimeout(() => response.end('done'), 300),
    })
    const answer = world.client.send('GET', '/docs/a')
    while (world.upstream.seen.length < 1) await sleep(10)
    const closed = world.gateway.close(60_000)
    t.match(await answer, { status: 200, headers: { connection: 'close' } })
    await closed
  },
)

t.test('what is not done in time is cut', async (t) => {
  const world = await startWorld(t, { answer: () => {} })
  const answer = world.client.send('GET', '/docs/a').catch((error: Error) => error)
  while (world.upstream.seen.length < 1) await sleep(10)
  await world.gateway.close(50)
  t.type(await answer, Error)
})
