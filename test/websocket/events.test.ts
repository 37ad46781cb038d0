/** Server-sent events and other long streams pass unbuffered; silence ends them. */

import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { holdTime } from '../support/held-time.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { get } from './held.ts'
import { startWebSocketUpstream } from './support.ts'

async function setUp(t: Test, lines: readonly string[] = []) {
  const open: ServerResponse[] = []
  const gone: ServerResponse[] = []
  const upstream = await startWebSocketUpstream(t, {
    serve: (_request, response) => {
      open.push(response)
      response.on('close', () => gone.push(response))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    },
  })
  const options = { routes: ['GET /sse: public'], target: upstream.url, upstream: lines }
  return { world: await startWorld(t, options), open, gone }
}

t.test('the header section passes at once, and each event before the next one is written', async (t) => {
  const { world, open } = await setUp(t)
  const client = get(world.port, '/sse', [])
  await until(() => client.http.includes('text/event-stream'), 'the head')
  for (let i = 0; i < 20; i++) {
    open[0]?.write(`data: ${i}\n\n`)
    await until(() => client.http.includes(`data: ${i}\n\n`), `event ${i}`)
  }
  open[0]?.end()
  await until(() => client.http.endsWith('\r\n0\r\n\r\n'), 'the end')
  client.socket.destroy()
})

t.test('comments keep it open beyond body_timeout; without them it is cut', async (t) => {
  const { world, open, gone } = await setUp(t, ['body_timeout: 400ms'])
  const time = holdTime(t)
  const client = get(world.port, '/sse', [])
  await until(() => open.length === 1, 'the request')
  for (let i = 0; i < 4; i++) {
    open[0]?.write(`: ${i}\n\n`)
    await until(() => client.http.includes(`: ${i}\n\n`), `comment ${i}`)
    time.pass(300)
  }
  t.notOk(client.closed)
  t.equal(gone.length, 0)
  time.pass(200)
  await client.gone()
  t.notMatch(client.http, /\r\n0\r\n/, 'it does not look complete')
  await until(() => gone.length === 1, 'the end at the upstream')
})

t.test('a client that disconnects closes the stream', async (t) => {
  const { world, open, gone } = await setUp(t)
  const client = get(world.port, '/sse', [])
  await until(() => open.length === 1, 'the request')
  client.socket.destroy()
  await until(() => gone.length === 1, 'the end at the upstream')
})
