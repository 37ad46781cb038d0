/**
 * Messages of MCP whose header fields and body, or whose body alone, two readers could see differently: the
 * caller may use `get_weather`, and would use `delete_user`. Nothing of them may reach the server.
 */

import t from 'tap'
import { metric } from '../support/operations.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import {
  messageOf,
  requestOf,
  roundTrip,
  send,
  type Sent,
  startMcp,
  tool,
  VERSION,
} from '../pipeline/mcp/support.ts'

const META = `"_meta":{"io.modelcontextprotocol/protocolVersion":"${VERSION}"}`
const bodyOf = (top: string, params = `"name":"get_weather",${META}`) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${params}}${top}}`
const base64 = (text: string | Buffer) => `=?base64?${Buffer.from(text).toString('base64')}?=`

const BODIES: Readonly<Record<string, string>> = {
  nothing: '',
  'another name': bodyOf('', `"name":"delete_user",${META}`),
  'another method': `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"get_weather",${META}}}`,
  'no name': bodyOf('', META),
  'a name of another type': bodyOf('', `"name":["get_weather"],${META}`),
  'a batch': `[${bodyOf('')}]`,
  'a batch of two': `[${bodyOf('')},${bodyOf('', `"name":"delete_user",${META}`)}]`,
  'two messages': `${bodyOf('')}${bodyOf('', `"name":"delete_user",${META}`)}`,
  'two messages in lines': `${bodyOf('')}\n${bodyOf('', `"name":"delete_user",${META}`)}`,
  'a name twice': bodyOf('', `"name":"get_weather","name":"delete_user",${META}`),
  'a name twice, the other first': bodyOf('', `"name":"delete_user","name":"get_weather",${META}`),
  'a name twice, once with an escape': bodyOf('', `"name":"get_weather","na\\u006de":"delete_user",${META}`),
  'params twice': bodyOf(`,"params":{"name":"delete_user",${META}}`),
  'a method twice': bodyOf(',"method":"prompts/get"'),
  'an id twice': bodyOf(',"id":2'),
  'params in another case': bodyOf(`,"Params":{"name":"delete_user"}`),
  'a method in another case': bodyOf(',"METHOD":"prompts/get"'),
  'a name in another case': bodyOf('', `"name":"get_weather","Name":"delete_user",${META}`),
  'a name in another case alone': bodyOf('', `"Name":"get_weather",${META}`),
  'a uri in another case': bodyOf('', `"name":"get_weather","URI":"docs://pay",${META}`),
  'two unknown members in two cases': bodyOf(',"x":1,"X":2'),
  'a letter that folds': bodyOf(',"param\\u017f":{"name":"delete_user"}'),
  'a Kelvin sign': bodyOf('', `"name":"get_weather","\\u212a":1,"k":2,${META}`),
  'a version in another case': bodyOf(
    '',
    `"name":"get_weather","_meta":{"io.modelcontextprotocol/protocolVersion":"${VERSION}","io.modelcontextprotocol/ProtocolVersion":"1"}`,
  ),
  'another member before': `{"a":1}${bodyOf('')}`,
  'a comment': `/* */${bodyOf('')}`,
  'a comma at the end': bodyOf(','),
  'a byte order mark': `\xef\xbb\xbf${bodyOf('')}`,
  'invalid UTF-8': bodyOf('', `"name":"get_weather","x":"\xff",${META}`),
  'UTF-16': Buffer.from(bodyOf(''), 'utf16le').toString('latin1'),
  'a lone surrogate': bodyOf('', `"name":"get_weather\\ud800",${META}`),
  'another version of JSON-RPC': bodyOf('').replace('"2.0"', '"1.0"'),
  'no version of JSON-RPC': bodyOf('').replace('"jsonrpc":"2.0",', ''),
  'a response too': bodyOf(',"result":{}'),
  'an error too': bodyOf(',"error":{}'),
  'no id': bodyOf('').replace('"id":1,', ''),
  'an id of null': bodyOf('').replace('"id":1', '"id":null'),
  'an id out of range': bodyOf('').replace('"id":1', '"id":1e400'),
  'an id that is no whole number': bodyOf('').replace('"id":1', '"id":1.5'),
  'an id that is an object': bodyOf('').replace('"id":1', '"id":{}'),
  'a long id': bodyOf('').replace('"id":1', `"id":"${'x'.repeat(2000)}"`),
  'params that are a list': bodyOf('').replace(/"params":.*$/, '"params":["get_weather"]}'),
  'no version': bodyOf('', '"name":"get_weather"'),
  'another version': bodyOf('').replace(VERSION, '2025-11-25'),
  'a prototype': bodyOf('', `"__proto__":{"name":"delete_user"},${META}`),
  'nested too deeply': bodyOf(
    '',
    `"name":"get_weather","arguments":${'['.repeat(100)}${']'.repeat(100)},${META}`,
  ),
  text: '"tools/call"',
  null: 'null',
}

const FIELDS: Readonly<Record<string, NonNullable<Sent['fields']>>> = {
  'no version': { 'MCP-Protocol-Version': null },
  'no method': { 'Mcp-Method': null },
  'no name': { 'Mcp-Name': null },
  'an empty name': { 'Mcp-Name': '' },
  'another version': { 'MCP-Protocol-Version': '2025-11-25' },
  'another method': { 'Mcp-Method': 'prompts/get' },
  'a method in another case': { 'Mcp-Method': 'Tools/Call' },
  'another name': { 'Mcp-Name': 'delete_user' },
  'a name in another case': { 'Mcp-Name': 'Get_Weather' },
  'a name with a wildcard': { 'Mcp-Name': 'get_*' },
  'two names': { 'Mcp-Name': ['get_weather', 'delete_user'] },
  'the same name twice': { 'Mcp-Name': ['get_weather', 'get_weather'] },
  'names in a list': { 'Mcp-Name': 'get_weather, delete_user' },
  'two methods': { 'Mcp-Method': ['tools/call', 'tools/call'] },
  'two versions': { 'MCP-Protocol-Version': [VERSION, VERSION] },
  'another spelling beside': { Mcp_Name: 'delete_user' },
  'another spelling alone': { 'Mcp-Name': null, Mcp_Name: 'get_weather' },
  'another spelling of the method': { Mcp_Method: 'prompts/get' },
  'another name in base64': { 'Mcp-Name': base64('delete_user') },
  'base64 without padding': { 'Mcp-Name': base64('get_weather').replace('ZXI=', 'ZXI') },
  'base64 with a space': { 'Mcp-Name': base64('get_weather').replace('Z2', 'Z2 ') },
  'base64 with other last bits': { 'Mcp-Name': '=?base64?Z2V0X3dlYXRoZXJ=?=' },
  'base64 that is no UTF-8': { 'Mcp-Name': base64(Buffer.from([0xff])) },
  'the sentinel in another case': { 'Mcp-Name': base64('get_weather').replace('base64', 'BASE64') },
  'a method in base64': { 'Mcp-Method': base64('tools/call') },
  'a name that Connection removes': { Connection: 'close, Mcp-Name' },
  'a method that Connection removes': { Connection: 'mcp_method' },
  'a version that Connection removes': { Connection: 'MCP-PROTOCOL-VERSION' },
  'a type that Connection removes': { Connection: 'content-type' },
  'a name beyond ASCII': { 'Mcp-Name': 'get_weather\xa0' },
}

t.test('messages', async (t) => {
  const world = await startMcp(t)
  const token = await world.token(['main:Reader'])
  const call = tool('get_weather')
  t.equal((await send(world, call, { token, body: bodyOf('') })).status, 200, 'the plain message')
  t.equal((await send(world, call, { token, fields: { 'Mcp-Name': base64('get_weather') } })).status, 200)
  world.upstream.seen.length = 0

  for (const [name, body] of Object.entries(BODIES)) {
    const answer = await send(world, call, { token, body })
    t.match(answer, { status: 400, json: { jsonrpc: '2.0', error: { code: -32020 } } }, name)
  }
  for (const [name, fields] of Object.entries(FIELDS)) {
    const answer = await send(world, call, { token, fields })
    t.match(answer, { status: 400, json: { jsonrpc: '2.0', id: 1, error: { code: -32020 } } }, name)
  }
  const list = await send(world, { method: 'tools/list' }, { token, fields: { 'Mcp-Name': 'get_weather' } })
  t.match(list, { status: 400, json: { error: { code: -32020 } } }, 'a name where the method has none')
  for (const uris of ['docs://pay', ['docs://handbook/a', 1], [null], { a: 1 }]) {
    const listen = {
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: uris } },
    }
    t.match(await send(world, listen, { token }), { status: 400, json: { error: { code: -32020 } } })
  }
  const hidden = {
    method: 'subscriptions/listen',
    params: { notifications: { ResourceSubscriptions: ['docs://pay'] } },
  }
  t.match(await send(world, hidden, { token }), { status: 400, json: { error: { code: -32020 } } })
  t.same(world.upstream.seen, [], 'nothing is forwarded')
})

t.test('old and unknown versions', async (t) => {
  const world = await startMcp(t)
  const token = await world.token(['main:Reader'])
  for (const version of ['2025-11-25', '2024-11-05', '2027-01-01', '', '2026-07-28 ']) {
    const body = JSON.stringify(messageOf(tool('get_weather'))).replace(VERSION, version.trim())
    const answer = await send(world, tool('get_weather'), {
      token,
      body,
      fields: { 'MCP-Protocol-Version': version },
    })
    if (version.trim() === VERSION) t.equal(answer.status, 200)
    else
      t.match(answer, {
        status: 400,
        json: { id: 1, error: { code: -32022, data: { supported: [VERSION], requested: version } } },
      })
  }
  world.upstream.seen.length = 0
  // A session of an older revision.
  const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
  const old = { 'MCP-Protocol-Version': null, 'Mcp-Method': null, 'Mcp-Name': null }
  const first = await send(world, tool('x'), { token, body: initialize, fields: old })
  t.match(first, { status: 400, json: { id: 0, error: { code: -32020 } } })
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather"}}`
  const fields = { ...old, 'MCP-Protocol-Version': '2025-11-25', 'Mcp-Session-Id': 'stolen' }
  t.match(await send(world, tool('x'), { token, body, fields }), {
    status: 400,
    json: { error: { code: -32020 } },
  })
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD'])
    t.equal(
      (await world.client.send(method, '/mcp', { authorization: `Bearer ${token}` })).status,
      405,
      method,
    )
  t.same(world.upstream.seen, [])
})

t.test('media types and codings', async (t) => {
  const world = await startMcp(t)
  const token = await world.token(['main:Reader'])
  for (const fields of [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': null },
    { 'Content-Type': 'application/json; charset=utf-16' },
    { 'Content-Type': ['application/json', 'text/plain'] },
    { 'Content-Encoding': 'gzip' },
    { 'Content-Encoding': ['identity', 'br'] },
    { Content_Encoding: 'gzip' },
    { 'content.encoding': 'identity' },
    { Content_Type: 'text/plain' },
    { 'Content-Type': null, Content_Type: 'application/json' },
  ]) {
    const answer = await send(world, tool('get_weather'), { token, fields })
    t.match(answer, { status: 415, json: { id: null, error: { code: -32001 } } }, JSON.stringify(fields))
  }
  t.same(world.upstream.seen, [])
})

t.test('a token in the query never reaches the server', async (t) => {
  const world = await startMcp(t)
  const token = await world.token(['main:Reader'])
  for (const query of [
    'access_token=x',
    'a=1&access_token',
    'a;Access_Token=x',
    '%61ccess_token=x',
    '[access_token]=x',
  ]) {
    const answer = await send(world, tool('get_weather'), { token, target: `/mcp?${query}` })
    t.match(answer, { status: 400, json: { id: 1, error: { data: { code: 'request_malformed' } } } }, query)
  }
  t.same(world.upstream.seen, [])
  t.equal((await send(world, tool('get_weather'), { token, target: '/mcp?access=token' })).status, 200)
})

t.test('names of the path', async (t) => {
  const world = await startMcp(t, { table: ["routes: { 'ANY /*': public }"] })
  for (const target of [
    '/mcp#get_weather',
    '/mcp%23get_weather',
    '/MCP',
    '/mcp/',
    '/mcp;x',
    '/mcp/../mcp',
    '//mcp',
  ]) {
    const answer = await send(world, tool('delete_user'), { target })
    t.not(answer.json?.result, true)
    const reached = world.upstream.seen.splice(0).map(({ url }) => url)
    t.notOk(reached.includes('/mcp'), target)
  }
  for (const target of ['/mcp?x=1', '/%6dcp', 'http://gw.example/mcp']) {
    t.equal((await send(world, tool('delete_user'), { target })).status, 401, target)
    t.same(world.upstream.seen, [])
  }
})

t.test('a slow body ends at its time, and a large one is not read on', async (t) => {
  const world = await startMcp(t, {
    lines: ['tools: { get_weather: weather:read }', 'max_body: 2KiB', 'body_timeout: 200ms'],
  })
  const token = await world.token(['main:Reader'])
  const whole = requestOf(tool('get_weather'), { token })
  const slow = new RawClient(world.port)
  slow.send(whole.slice(0, -5))
  const [answer] = (await slow.responses(1)).all
  slow.close()
  t.equal(answer?.status, 408)
  t.match(JSON.parse(answer?.body ?? ''), {
    id: null,
    error: { code: -32001, data: { code: 'request_timeout' } },
  })
  const fields = { 'Content-Length': null, 'Transfer-Encoding': 'chunked' }
  const endless = requestOf(tool('get_weather'), { token, fields, body: `1000\r\n${'x'.repeat(4096)}\r\n` })
  t.equal((await roundTrip(world, endless)).status, 413)
  t.same(world.upstream.seen, [])
})

t.test('a client that leaves inside its message', async (t) => {
  const world = await startMcp(t)
  const token = await world.token(['main:Reader'])
  const client = new RawClient(world.port)
  client.send(requestOf(tool('get_weather'), { token, fields: { Expect: '100-continue' } }).slice(0, -5))
  await client.until('100 Continue')
  client.close()
  await until(() => world.log().some(({ aborted }) => aborted === true), 'the end was not logged')
  t.same(world.upstream.seen, [])
})

t.test('what a message allowed is not what the next one gets', async (t) => {
  const world = await startMcp(t)
  const token = await world.token(['main:Reader'])
  const client = new RawClient(world.port)
  client.send(requestOf(tool('get_weather'), { token }) + requestOf(tool('delete_user'), { token }))
  const { all } = await client.responses(2)
  client.close()
  t.same(
    all.map(({ status }) => status),
    [200, 403],
  )
  t.equal(world.upstream.seen.length, 1)
})

t.test('messages that stay incomplete take the memory of their address, not that of others', async (t) => {
  const world = await startMcp(t, { top: ['memory: { connections: 1MiB }'] })
  const token = await world.token(['main:Reader'])
  const whole = requestOf(tool('get_weather', { arguments: { a: 'x'.repeat(500_000) } }))
  const hostile = Array.from({ length: 6 }, () => new RawClient(world.port, { from: '127.0.0.2' }))
  for (const client of hostile) client.send(whole.slice(0, -5))
  const over = () => hostile.filter(({ isOver }) => isOver).length
  await until(
    () => over() >= 3,
    () => `only ${over()} connections were closed`,
  )
  const held = await metric(world, 'seatgate_connection_memory_bytes')
  t.ok(held <= 1024 * 1024, `${held} bytes`)
  t.equal((await send(world, tool('get_weather'), { token })).status, 200)
  for (const client of hostile) client.close()
})
