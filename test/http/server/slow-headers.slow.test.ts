/** Slow loris: an endless header section is cut off, and other clients are served. */

import { connect } from 'node:net'
import t from 'tap'
import { startWorld } from '../../support/world.ts'

t.test('400 trickling connections get 408 and are closed; other clients are served meanwhile', async (t) => {
  const world = await startWorld(t)
  const slow = Array.from({ length: 400 }, () => {
    const socket = connect(world.port, '127.0.0.1')
    socket.write('GET /docs/a HTTP/1.1\r\nHost: a\r\n')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    return new Promise<string>((resolve) => {
      const dribble = setInterval(() => socket.write('X-A: a\r\n'), 1000)
      const end = () => {
        clearInterval(dribble)
        resolve(text)
      }
      socket.on('error', end)
      socket.on('close', end)
    })
  })
  let answered = 0
  const all = Promise.all(slow).then((texts) => {
    answered = texts.filter((text) => /^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/.test(text)).length
  })
  for (let i = 0; i < 200; i++) t.equal((await world.client.send('GET', '/docs/a')).status, 200)
  await all
  t.equal(answered, 400)
})
