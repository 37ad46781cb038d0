/** Calls of an MCP server: what is forwarded, and each refusal. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { startWorld } from '../../support/world.ts'
import {
  agentsTable,
  type Message,
  requestOf,
  roundTrip,
  send,
  startMcp,
  tool,
  valueOf,
  VERSION,
} from './support.ts'

t.test('calls', async (t) => {
  const world = await startMcp(t, {
    answer: (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end('{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}')
    },
  })
  const token = await world.token(['main:Reader'])
  const { seen } = world.upstream

  t.test('an allowed call: the very bytes are forwarded', async (t) => {
    const body = `{ "params":{"arguments":{"city":"K\\u00f6ln","n":1.0},"name":"get_weather",\t"_meta":{"io.modelcontextprotocol/protocolVersion":"${VERSION}"}},"id":"a", "jsonrpc":"2.0","method":"tools/call"}\n`
    const answer = await send(world, tool('get_weather'), { body, token })
    t.equal(answer.status, 200)
    const [request] = seen.splice(0)
    t.equal(request?.body, body)
    t.match(request, {
      method: 'POST',
      url: '/mcp',
      headers: {
        'content-length': String(body.length),
        'mcp-method': 'tools/call',
        'mcp-name': 'get_weather',
        'x-seatgate-user': 'alice',
        'x-seatgate-permission': 'weather:read',
      },
    })
    t.equal(request?.headers.authorization, undefined)
  })

  t.test('a chunked body', async (t) => {
    const plain = requestOf(tool('get_weather'), {
      token,
      fields: { 'Content-Length': null, 'Transfer-Encoding': 'chunked' },
    })
    const [head = '', body = ''] = plain.split('\r\n\r\n')
    const chunks = [body.slice(0, 7), body.slice(7)].map(
      (each) => `${each.length.toString(16)}\r\n${each}\r\n`,
    )
    t.equal((await roundTrip(world, `${head}\r\n\r\n${chunks.join('')}0\r\n\r\n`)).status, 200)
    t.equal(seen.splice(0)[0]?.body, body)
  })

  t.test('prompts, resources, methods and names beyond ASCII', async (t) => {
    const encoded = `=?base64?${Buffer.from('grün').toString('base64')}?=`
    const answers = [
      await send(world, { method: 'resources/read', params: { uri: 'docs://handbook/a?b' } }, { token }),
      await send(world, { method: 'tools/list' }, { token }),
      await send(world, { method: 'server/discover' }, { token }),
      await send(world, tool('grün'), { token, fields: { 'Mcp-Name': encoded } }),
      await send(world, tool('ping')),
    ]
    t.same(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
    seen.splice(0)
    t.match(
      world
        .log()
        .filter(({ mcp_method: method }) => method !== undefined)
        .slice(-5),
      [
        {
          mcp_method: 'resources/read',
          mcp_name: 'docs://handbook/a',
          route: 'resource /mcp#docs://handbook/*',
        },
        { mcp_method: 'tools/list', route: 'method /mcp#tools/list' },
        { mcp_method: 'server/discover' },
        {
          mcp_method: 'tools/call',
          mcp_name: 'grün',
          route: 'tool /mcp#gr%C3%BCn',
          permission: 'weather:read',
        },
        { mcp_method: 'tools/call', mcp_name: 'ping', code: 'allow', method: 'POST', path: '/mcp' },
      ],
    )
  })

  t.test('the log has no secret of a URI', async (t) => {
    const uri = 'pg://u:pass@word@h/x?token=secret#secret'
    await send(world, { method: 'resources/read', params: { uri } }, { token })
    const line = () => world.log().find(({ mcp_name: name }) => String(name).startsWith('pg:'))
    await until(() => line() !== undefined, 'the call was not logged')
    t.equal(line()?.['mcp_name'], 'pg://u@h/x')
    t.notMatch(JSON.stringify(line()), /word|secret/)
  })

  t.test('refusals', async (t) => {
    const metadata = 'resource_metadata="https://gw.example/.well-known/oauth-protected-resource/mcp"'
    const none = await send(world, { ...tool('get_weather'), id: 'x' })
    t.equal(none.status, 401)
    t.match(none.json, {
      jsonrpc: '2.0',
      id: 'x',
      error: { code: -32001, data: { code: 'credentials_missing' } },
    })
    t.equal(none.json.error.data.request_id, valueOf(none.fields, 'x-request-id'))
    t.equal(valueOf(none.fields, 'www-authenticate'), `Bearer ${metadata}, scope="weather:read"`)
    t.equal(valueOf(none.fields, 'content-type'), 'application/json')
    const invalid = await send(world, tool('get_weather'), { token: 'x' })
    t.equal(
      valueOf(invalid.fields, 'www-authenticate'),
      `Bearer error="invalid_token", ${metadata}, scope="weather:read"`,
    )
    const list = await send(world, { method: 'tools/list' })
    t.equal(list.status, 401)
    t.equal(valueOf(list.fields, 'www-authenticate'), `Bearer ${metadata}`)
    const denied = await send(world, tool('delete_user'), { token })
    t.equal(denied.status, 403)
    t.match(denied.json, { id: 1, error: { code: -32001, data: { code: 'permission_denied' } } })
    t.equal(
      valueOf(denied.fields, 'www-authenticate'),
      `Bearer error="insufficient_scope", ${metadata}, scope="users:delete"`,
    )
    t.equal(
      (await send(world, tool('get_weather'), { token, fields: { Space: null } })).json.error.data.code,
      'space_required',
    )
    for (const [message, code] of [
      [tool('other'), -32602],
      [{ method: 'resources/read', params: { uri: 'docs://other' } }, -32602],
      [{ method: 'prompts/get', params: { name: 'get_weather' } }, -32602],
      [{ method: 'initialize' }, -32601],
      [{ method: 'resources/templates/list' }, -32601],
      [{ method: 'completion/complete' }, -32601],
      [{ method: 'tasks/get' }, -32601],
      [{ method: 'logging/setLevel' }, -32601],
      [{ method: 'notifications/cancelled', id: undefined }, -32601],
    ] as const) {
      const answer = await send(world, message, { token })
      t.equal(answer.status, 404, message.method)
      t.match(answer.json.error, { code, data: { code: 'route_not_found' } }, message.method)
    }
    const get = await roundTrip(world, 'GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n')
    t.equal(get.status, 405)
    t.equal(valueOf(get.fields, 'allow'), 'POST')
    t.equal(seen.length, 0)
  })

  t.test('the metadata of the resource', async (t) => {
    const answer = await roundTrip(
      world,
      'GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: a\r\n\r\n',
    )
    t.match(answer, {
      status: 200,
      json: { resource: 'https://gw.example/mcp', authorization_servers: ['https://login.acme.example'] },
    })
    t.equal(valueOf(answer.fields, 'access-control-allow-origin'), '*')
  })

  t.test('limits of time and size', async (t) => {
    const large = await send(world, tool('get_weather', { arguments: { a: 'x'.repeat(1024 * 1024) } }), {
      token,
    })
    t.equal(large.status, 413)
    t.match(large.json, { id: null, error: { code: -32001, data: { code: 'body_too_large' } } })
    const zeros = (count: number) => Array.from({ length: count }, () => 0)
    for (const [argument, limit] of [
      [Object.fromEntries(zeros(40_000).map((zero, at) => [`m${at}`, zero])), 'more than 32768 members'],
      [zeros(70_000), 'more than 65536 elements'],
    ] as const) {
      const answer = await send(world, tool('get_weather', { arguments: { a: argument } }), { token })
      t.match(answer, {
        status: 413,
        json: { id: null, error: { code: -32001, message: limit, data: { code: 'body_too_large' } } },
      })
    }
    t.equal(seen.length, 0)
  })

  t.test('subscriptions: each URI is decided', async (t) => {
    const listen = (...uris: readonly string[]) =>
      send(
        world,
        { method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: uris } } },
        { token },
      )
    t.equal((await listen()).status, 200)
    t.equal((await listen('docs://handbook/a', 'docs://handbook/b')).status, 200)
    const denied = await listen('docs://handbook/a', 'docs://pay')
    t.equal(denied.status, 403)
    t.match(valueOf(denied.fields, 'www-authenticate'), /scope="pay:read"/)
    const unknown = await listen('docs://handbook/a', 'docs://other')
    t.match(unknown, { status: 404, json: { error: { code: -32602 } } })
    t.equal(seen.splice(0).length, 2)
  })
})

t.test('origins', async (t) => {
  const world = await startMcp(t, { table: ['cors: { origins: [https://app.example] }'] })
  const from = async (...origins: readonly string[]) =>
    (await send(world, tool('ping'), { fields: { Origin: origins } })).status
  t.equal(await from('https://gw.example'), 200)
  t.equal(await from('https://app.example'), 200)
  t.equal(await from('https://evil.example'), 403)
  t.equal(await from('null'), 403)
  t.equal(await from('https://gw.example', 'https://app.example'), 403)
  const rebound = await send(world, tool('ping'), {
    fields: { Host: 'evil.example', Origin: 'http://evil.example' },
  })
  t.match(rebound, {
    status: 403,
    json: { id: 1, error: { code: -32001, data: { code: 'origin_refused' } } },
  })
})

t.test('spaces', async (t) => {
  const sources = ['{ fixed: main }', '{ header: X-Org }', '{ query: org }', '{ host_label: 1 }']
  const tables = sources.map((source, at) => [
    `t${at}.yaml`,
    agentsTable({ table: [`space: ${source}`] }).replaceAll('/mcp', `/mcp${at}`),
  ])
  const world = await startWorld(t, { tables: Object.fromEntries(tables) })
  await world.seat('Reader', ['main'], ['weather:read'])
  const authorization = `Bearer ${await world.token(['main:Reader'])}`
  const status = async (target: string, fields: Record<string, string> = {}) =>
    (await send(world, tool('get_weather'), { target, fields: { Authorization: authorization, ...fields } }))
      .status
  t.equal(await status('/mcp0'), 200)
  t.equal(await status('/mcp0', { Space: 'other' }), 400)
  t.equal(await status('/mcp1', { 'X-Org': 'main' }), 200)
  t.equal(await status('/mcp1'), 400)
  t.equal(await status('/mcp2?org=main'), 200)
  t.equal(await status('/mcp2?org=other'), 403)
  t.equal(await status('/mcp3', { Host: 'main.gw.example' }), 200)
})

t.test('a string that is longer than is read, in a table with a large max_body', async (t) => {
  const world = await startMcp(t, { lines: ['tools: { get_weather: weather:read }', 'max_body: 4MiB'] })
  const token = await world.token(['main:Reader'])
  const call = (length: number) =>
    send(world, tool('get_weather', { arguments: { a: 'x'.repeat(length), b: 'x'.repeat(length) } }), {
      token,
    })
  t.equal((await call(1_000_000)).status, 200)
  t.match(await call(1_100_000), {
    status: 413,
    json: { error: { message: 'more than 1048576 bytes in a string', data: { code: 'body_too_large' } } },
  })
})

t.test('tables that change while a message arrives', async (t) => {
  const list = '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"delete_user"}]}}'
  const world = await startMcp(t, {
    lines: ['tools: { get_weather: weather:read }', 'list: whole'],
    answer: (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(list),
  })
  const token = await world.token(['main:Reader'])
  const large = tool('get_weather', { arguments: { a: 'x'.repeat(2000) } })
  const during = async (table: string, message: Message = tool('get_weather')) => {
    const bytes = requestOf(message, { token, fields: { Expect: '100-continue' } })
    const client = new RawClient(world.port)
    client.send(bytes.slice(0, -5))
    await client.until('100 Continue')
    writeFileSync(join(world.folder, 'routes/agents.yaml'), table)
    await world.reload()
    client.send(bytes.slice(-5))
    const [answer] = (await client.responses(1)).all
    client.close()
    return { status: answer?.status, body: JSON.parse(answer?.body ?? '') }
  }
  const linesAlone = (...lines: string[]) => agentsTable({ lines })
  const routeAlone = (permission: string) =>
    `upstream: main\nroutes: { POST /mcp: { permission: ${permission}, max_body: 3KiB } }\n`
  const filtered = await during(linesAlone('tools: { get_weather: other:read }'), { method: 'tools/list' })
  t.same(filtered.body.result.tools, [], 'by the tables that decided')
  t.equal((await during(linesAlone('tools: { get_weather: weather:read }'))).status, 200)
  t.equal((await during(linesAlone('tools: { get_weather: other:read }'))).status, 403)
  t.equal((await during(linesAlone('tools: { other: weather:read }'))).status, 404)
  t.equal((await during(linesAlone('tools: { get_weather: weather:read }'), large)).status, 200)
  t.match(JSON.parse(world.upstream.seen.at(-1)?.body ?? ''), { params: { name: 'get_weather' } })
  t.equal((await during(routeAlone('weather:read'), large)).status, 200, 'the body counts once')
  await during(agentsTable())
  t.match(await during(routeAlone('other:read')), { status: 403, body: { code: 'permission_denied' } })
  t.equal(world.upstream.seen.length, 5)
  t.notMatch(world.logText(), /mcp_method.*mcp_method.*\n/, 'noted once a line')
})

t.test('a table of a host has its metadata on that host alone', async (t) => {
  const world = await startMcp(t, { table: ['host: gw.example'] })
  const path = '/.well-known/oauth-protected-resource/mcp'
  const own = await roundTrip(world, `GET ${path} HTTP/1.1\r\nHost: gw.example\r\n\r\n`)
  t.match(own, { status: 200, json: { resource: 'https://gw.example/mcp' } })
  const other = await roundTrip(world, `GET ${path} HTTP/1.1\r\nHost: other.example\r\n\r\n`)
  t.match(other, { status: 404, json: { code: 'route_not_found' } })
})
