import { connect } from 'node:http2'
import { once } from 'node:events'
import t from 'tap'
import { acceptor, authority, certificate, openSecured } from './tls-support.ts'

const a = certificate(['a.example'])

t.test('requests with and without a body, many at once', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  const client = connect(`https://127.0.0.1:${port}`, { ca: authority.cert, servername: 'a.example' })
  t.teardown(() => client.destroy())
  const ask = async (headers: Record<string, string>, body?: Buffer) => {
    const stream = client.request(headers, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [response] = await once(stream, 'response')
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    return { status: response[':status'], text }
  }
  t.same(await ask({ ':path': '/one' }), { status: 200, text: '/one' })
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => ask({ ':path': `/${i}` })))
  t.same(
    answers.map(({ text }) => text),
    answers.map((_, i) => `/${i}`),
  )
  const big = Buffer.alloc(3_000_000, 'x')
  t.same(await ask({ ':path': '/big', ':method': 'POST' }, big), { status: 200, text: '3000000 bytes' })
})
