/** Over TLS a response costs one write: each further one is a system call, and a turn of the event loop before the next request. */

import { once } from 'node:events'
import { connect } from 'node:http2'
import t from 'tap'
import { acceptor, answer, authority, certificate, openSecured, secure } from './tls-support.ts'

const a = certificate(['a.example'])
const REQUESTS = 20

/** A handler that answers, and counts the writes of the first connection that it sees. */
function counting() {
  const count = { writes: 0 }
  const seen = new WeakSet<object>()
  const handle: typeof answer = (request, response) => {
    const { socket } = request
    if (!seen.has(socket)) {
      seen.add(socket)
      const write = socket._write.bind(socket)
      socket._write = (chunk, encoding, done) => {
        count.writes++
        write(chunk, encoding, done)
      }
    }
    return answer(request, response)
  }
  return { count, handle }
}

t.test('HTTP/1.1: one write a response', async (t) => {
  const { count, handle } = counting()
  const { port } = await openSecured(t, acceptor([a]), { handle })
  const socket = await secure(port)
  t.teardown(() => socket.destroy())
  for (let i = 0; i < REQUESTS; i++) {
    socket.write(`GET /${i} HTTP/1.1\r\nHost: a.example\r\n\r\n`)
    let text = ''
    while (!text.endsWith(`/${i}`)) text += String((await once(socket, 'data'))[0])
  }
  t.equal(count.writes, REQUESTS)
})

t.test('HTTP/2: one write for each turn with responses', async (t) => {
  const { count, handle } = counting()
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  const client = connect(`https://127.0.0.1:${port}`, { ca: authority.cert, servername: 'a.example' })
  t.teardown(() => client.destroy())
  for (let i = 0; i < REQUESTS; i++) {
    const stream = client.request({ ':path': `/${i}` })
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    t.equal(text, `/${i}`)
  }
  t.ok(count.writes <= REQUESTS + 1, `${count.writes} writes, one of them of settings`)
})
