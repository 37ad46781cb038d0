/** HTTP/2 with prior knowledge on a listener without TLS: a refusal that such clients can read. */

import { connect } from 'node:http2'
import t from 'tap'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { answerOf } from './support.ts'
import { roundTrip } from '../support/raw-client.ts'

const world = await startWorld(t)

t.test('the client reads a 400, its connection ends, and nothing is forwarded', async (t) => {
  const session = connect(`http://127.0.0.1:${world.port}`)
  session.on('error', () => {})
  // It also emits an error, for which `once` rejects.
  const closed = new Promise((resolve) => session.on('close', resolve))
  t.teardown(() => session.destroy())
  const goAway = new Promise<unknown[]>((resolve) => session.on('goaway', (...all) => resolve(all)))
  const answer = await answerOf(session.request({ ':path': '/docs/a' }))
  t.equal(answer.status, 400)
  t.match(JSON.parse(answer.body), { code: 'request_malformed', detail: /prior knowledge/ })
  t.same((await goAway).slice(0, 2), [13, 1], 'HTTP_1_1_REQUIRED')
  await closed
  await until(
    () => world.log().some(({ code, status }) => code === 'request_malformed' && status === 400),
    'the line of the log',
  )
  t.equal(world.upstream.seen.length, 0)
})

t.test('another version is refused in HTTP/1.1, as before', async (t) => {
  t.match(await roundTrip(world.port, 'GET / HTTP/2.0\r\n\r\n'), /^HTTP\/1\.1 400 /)
})
