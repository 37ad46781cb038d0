/** Calls of an MCP server over HTTP/2. */

import t from 'tap'
import { authority, openSession } from '../../http2/support.ts'
import { type Message, messageOf, startMcp, tool, VERSION } from './support.ts'

const secure = authority.issue({ names: ['a.example', '127.0.0.1'] })
const world = await startMcp(t, {
  secure,
  answer: (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (request.headers['x-lasts'] === undefined) response.end('data: {}\n\n')
    else response.write(': begun\n\n')
  },
})
const key = (await world.admin('POST', '/v1/api-keys', { name: 'agent', seats: ['Reader'] })).json
const session = openSession(t, world.securePort)

function call(message: Message, more: Record<string, string> = {}, parts = 1) {
  const { name } = message.params ?? {}
  const stream = session.request({
    ':method': 'POST',
    ':path': '/mcp',
    ':authority': 'a.example',
    'content-type': 'application/json',
    'x-api-key': key.key,
    space: 'main',
    'mcp-protocol-version': VERSION,
    'mcp-method': message.method,
    'mcp-name': String(name),
    ...more,
  })
  const body = JSON.stringify(messageOf(message))
  const size = Math.ceil(body.length / parts)
  for (let at = 0; at < body.length; at += size) stream.write(body.slice(at, at + size))
  stream.end()
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => (text += chunk))
  const status = new Promise<number>((resolve) =>
    stream.once('response', (headers) => resolve(Number(headers[':status']))),
  )
  const ended = new Promise<string>((resolve, reject) => {
    stream.once('end', () => resolve(text))
    stream.once('error', reject)
  })
  return { status, ended }
}

t.test('calls', async (t) => {
  for (const parts of [1, 50]) {
    const allowed = call(tool('get_weather', { arguments: { a: 'x'.repeat(100_000) } }), {}, parts)
    t.equal(await allowed.status, 200)
    t.equal(await allowed.ended, 'data: {}\n\n')
    t.equal(JSON.parse(world.upstream.seen.at(-1)?.body ?? '').params.name, 'get_weather')
  }
  const denied = call(tool('delete_user'))
  t.equal(await denied.status, 403)
  t.match(JSON.parse(await denied.ended), { id: 1, error: { code: -32001 } })
  const other = call(tool('get_weather'), { 'mcp-name': 'delete_user' })
  t.equal(await other.status, 400)
  t.match(JSON.parse(await other.ended), { error: { code: -32020 } })
})

t.test('a revoked key ends a stream with an error', async (t) => {
  const lasting = call(tool('get_weather'), { 'x-lasts': '1' })
  t.equal(await lasting.status, 200)
  t.equal((await world.admin('DELETE', `/v1/api-keys/${key.id}`)).status, 204)
  const [begun, last] = (await lasting.ended).split('data: ')
  t.equal(begun, ': begun\n\n')
  t.match(JSON.parse(last ?? ''), { id: 1, error: { code: -32001, data: { code: 'api_key_revoked' } } })
})
