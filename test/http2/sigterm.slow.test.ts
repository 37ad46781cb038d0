/** HTTP/2 while a process ends by a signal, with one worker and with several. */

import t from 'tap'
import { startService } from '../operations/service.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { answerOf, ask, authority, openSession } from './support.ts'

const secure = authority.issue({ names: ['a.example', '127.0.0.1'] })

for (const workers of [1, 2])
  t.test(`SIGTERM, ${workers} workers: GOAWAY, the response is whole, exit code 0`, async (t) => {
    const held = Promise.withResolvers<() => void>()
    const { url } = await startService(t, 'main', (request, response) => {
      if (request.url !== '/docs/held') return void response.end('ok')
      response.write('first ')
      held.resolve(() => response.end('last'))
    })
    const top = ['drain: 60s', `workers: ${workers}`]
    const gateway = await startGatewayProcess(t, { target: url, secure, top })
    const port = Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.log)?.[1])
    const session = openSession(t, port)
    t.match(await ask(session, { ':path': '/docs/a' }), { status: 200, body: 'ok' })
    const answer = answerOf(session.request({ ':path': '/docs/held' }))
    const finish = await held.promise
    const goAway = new Promise<number>((resolve) => session.once('goaway', resolve))
    const closed = new Promise((resolve) => session.once('close', resolve))
    gateway.signal('SIGTERM')
    t.equal(await goAway, 0)
    t.ok(gateway.running, 'it waits for the response')
    finish()
    t.match(await answer, { status: 200, body: 'first last', code: 0 })
    await closed
    t.equal(await gateway.ended, 0)
  })
