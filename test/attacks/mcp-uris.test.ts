/**
 * URIs that a server reads as another one. The official server parses each with `new URL`, which drops tabs
 * and line ends, and serves the resource of the result.
 */

import { createServer } from 'node:http'
import t from 'tap'
import { send, startMcp, VERSION } from '../pipeline/mcp/support.ts'
import { listen } from '../support/listen.ts'
import { sampleServer } from '../support/mcp-server.ts'

const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

t.test('a URI that the server reads as one with a line of its own', async (t) => {
  const { listener } = sampleServer()
  const world = await startMcp(t, {
    lines: ['resources: { "docs://handbook/*": docs:read, "docs://handbook/start": pay:read }'],
    target: `http://127.0.0.1:${await listen(t, createServer(listener))}`,
  })
  await world.seat('Payer', ['main'], ['pay:read'])
  const [reader, payer] = [await world.token(['main:Reader']), await world.token(['main:Payer'])]
  const read = (uri: string, token: string) =>
    send(
      world,
      { method: 'resources/read', params: { uri, _meta: META } },
      { token, fields: { 'Mcp-Name': base64(uri) } },
    )
  t.match((await read('docs://handbook/start', payer)).body, 'Welcome', 'the server has it')
  t.equal((await read('docs://handbook/start', reader)).status, 403)
  for (const uri of [
    'docs://handbook/st\tart',
    'docs://handbook/star\r\nt',
    'docs://handbook/start ',
    'docs://handbook/start\0',
    'docs://handbook/a/.\t./start',
    'docs://handbook/a/.. ',
    'docs://handbook/st%61rt',
    'docs://handbook/st%2561rt',
    'docs://handbook/\uff53tart',
    'docs://handbook/a/\uff0e\u2024/start',
    'docs://handbook/a\uff0f%EF%BC%8E./start',
    'docs://handbook//start',
    'docs://handbook\\start',
    'docs://handbook/start?x',
    'docs://handbook/start#x',
  ]) {
    const answer = await read(uri, reader)
    t.equal(answer.status, 404, JSON.stringify(uri))
    t.match(answer.json, { error: { code: -32602, data: { code: 'route_not_found' } } })
  }
})
