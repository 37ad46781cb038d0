/** Lists of MCP servers: what a caller sees, and bodies that are no list. */

import type { ServerResponse } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../support/until.ts'
import { agentsTable, type McpAnswer, type McpOptions, send, startMcp, valueOf } from './support.ts'

const TOOLS = [
  { name: 'get_weather', inputSchema: {} },
  { name: 'delete_user' },
  { name: 'weather2' },
  { name: 'ping' },
]
const answerOf = (result: unknown, more: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result, ...more })

let respond = (response: ServerResponse) => void response.end()

async function start(test: typeof t, options: McpOptions = {}) {
  const world = await startMcp(test, { ...options, answer: (_, response) => respond(response) })
  const token = await world.token(['main:Reader'])
  return {
    world,
    list: (method = 'tools/list', more = {}) =>
      send(world, { method, ...more }, { token, fields: { 'Accept-Encoding': 'gzip' } }),
  }
}

function json(
  body: string | Buffer,
  type = 'application/json',
  status = 200,
  more: Record<string, string> = {},
) {
  respond = (response) => void response.writeHead(status, { 'content-type': type, ...more }).end(body)
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1')

const names = (answer: McpAnswer, items = 'tools') =>
  answer.json.result[items].map(({ name, uri }: { name?: string; uri?: string }) => name ?? uri)

t.test('lists', async (t) => {
  const { world, list } = await start(t as never)

  t.test('what the caller may use', async (t) => {
    json(
      answerOf({ tools: TOOLS, cacheScope: 'public', ttlMs: 1, nextCursor: 'x' }),
      'application/json',
      200,
      {
        etag: '"1"',
        'x-own': '1',
      },
    )
    const answer = await list()
    t.same(names(answer), ['get_weather', 'ping'])
    t.match(answer.json.result, { cacheScope: 'private', ttlMs: 1, nextCursor: 'x' })
    t.equal(valueOf(answer.fields, 'etag'), undefined)
    t.equal(valueOf(answer.fields, 'x-own'), '1')
    json(
      answerOf({
        resources: [{ uri: 'docs://handbook/a' }, { uri: 'docs://pay' }, { uri: 'docs://handbook/../x' }],
      }),
    )
    t.same(names(await list('resources/list'), 'resources'), ['docs://handbook/a'])
    json(answerOf({ prompts: [{ name: 'review' }, { name: 'get_weather' }] }))
    t.same(names(await list('prompts/list'), 'prompts'), [])
  })

  t.test('a list as the caller may use it passes byte by byte', async (t) => {
    const body = `{"result": {"tools":[{"name":"get_weather","n":1.0,"big":12345678901234567890}]},"id":1,"jsonrpc":"2.0"}\n`
    json(body)
    t.equal((await list()).body, body)
    const error = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`
    json(error, 'application/json', 500)
    t.match(await list(), { status: 500, body: error })
    json('<html>', 'text/html', 503)
    t.match(await list(), { status: 503, body: '<html>' })
  })

  t.test("every byte that stays is the server's own", async (t) => {
    const item = (name: string) =>
      `{"n":[1e400, 1.0,-0 ,12345678901234567890],"name": "${name}","x":"],\\"\\u0041é"}`
    const body = (items: string, scope: string) =>
      ` {"x":1E5,"r\\u0065sult" : {"a":{"tools":[1]}, "cacheScope" :${scope} ,"tools":\t[${items}] ,"z":0.10} ,\n"id":1.0,"jsonrpc":"2.0"}\r\n`
    const all = ['delete_user', 'get_weather', 'other', 'ping', 'admin/delete'].map(item)
    const sent = body(` ${all.join(' ,\n ')}\n`, '"pub\\u006cic"')
    const kept = body(`\n ${item('get_weather')} ,\n ${item('ping')} `, '"private"')
    json(sent)
    t.equal((await list()).body, latin1(kept))
    json(body('', '"public"'))
    t.equal((await list()).body, body('', '"private"'))
    json(body(` ${item('other')}`, '"private"'))
    t.equal((await list()).body, body('', '"private"'))
    json(
      `event: message\r\n${sent.trimEnd().replaceAll(/^/gm, 'data: ')}\r\nid: 7\r\n\r\n`,
      'text/event-stream',
    )
    t.equal(
      (await list()).body,
      latin1(`event: message\nid: 7\n${kept.trimEnd().replaceAll(/^/gm, 'data: ')}\n\n`),
    )
  })

  t.test('a list with many members and elements', async (t) => {
    const schema = Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`m${n}`, 0]))
    const many = Array.from({ length: 150_000 }, () => 0)
    json(answerOf({ tools: [{ name: 'ping', schema, many }, { name: 'delete_user' }] }))
    t.same(names(await list()), ['ping'])
  })

  t.test('streams of events', async (t) => {
    const notice = `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n`
    const response = answerOf({ tools: TOOLS, cacheScope: 'private' })
    const half = response.indexOf(',"result"') + 1
    for (const [name, body] of [
      ['line feeds', `: hello\n\n${notice}data: ${response}\n\n`],
      ['carriage returns', `${notice}data: ${response}\n\n`.replaceAll('\n', '\r\n')],
      ['carriage returns alone', `${notice}data: ${response}\n\n: x\n\n`.replaceAll('\n', '\r')],
      ['two lines', `${notice}id: 7\ndata: ${response.slice(0, half)}\ndata:${response.slice(half)}\n\n`],
      [
        'another response after it',
        `${notice}data: ${response}\n\ndata: ${answerOf({ tools: [{ name: 'delete_user' }] })}\n\n`,
      ],
    ] as const) {
      json(body, 'text/event-stream')
      const answer = await list()
      const events = answer.body.split(/\r\n\r\n|\n\n|\r\r/).filter((each) => each !== '')
      const last = JSON.parse((events.at(-1) ?? '').replaceAll(/^(?:data: |id: 7\n)/gm, ''))
      t.same(
        last.result.tools.map((each: { name: string }) => each.name),
        ['get_weather', 'ping'],
        name,
      )
      t.match(answer.body, /notifications\/progress/, name)
      t.notMatch(answer.body, /delete_user/, name)
    }
    // A server that does not end its stream, and one that sends single bytes.
    respond = (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const byte of `data: ${response}\n\n`) reply.write(byte)
    }
    const endless = await list()
    t.equal(endless.status, 200)
    t.notMatch(endless.body, /delete_user/)
  })

  t.test('what is no list', async (t) => {
    const good = answerOf({ tools: TOOLS })
    const bodies: Record<string, readonly [string | Buffer, string?, Record<string, string>?, number?]> = {
      'no JSON': ['<html>'],
      'no JSON, in another type': [good, 'text/plain'],
      'a member twice': [good.replace('"id":1', '"id":1,"result":{"tools":[]}')],
      'tools twice': [
        answerOf({ tools: [] }).replace('"tools":[]', '"tools":[],"tools":[{"name":"delete_user"}]'),
      ],
      'tools in another case': [answerOf({ tools: [], Tools: TOOLS })],
      'tools in another case alone': [answerOf({ Tools: TOOLS })],
      'a result in another case': [answerOf({ tools: [] }, { Result: { tools: TOOLS } })],
      'a name in another case': [answerOf({ tools: [{ name: 'get_weather', Name: 'delete_user' }] })],
      'a name twice': [
        answerOf({ tools: [] }).replace('[]', '[{"name":"get_weather","name":"delete_user"}]'),
      ],
      'a name of another type': [answerOf({ tools: [{ name: 1 }] })],
      'an item that is no object': [answerOf({ tools: ['delete_user'] })],
      'tools that are no list': [answerOf({ tools: { name: 'delete_user' } })],
      'another id': [good.replace('"id":1', '"id":2')],
      'an id of another type': [good.replace('"id":1', '"id":"1"')],
      'a batch': [`[${good}]`],
      'two messages': [good + good],
      'too large': [answerOf({ tools: [{ name: 'get_weather', x: 'x'.repeat(1024 * 1024) }] })],
      'an encoding': [good, 'application/json', { 'content-encoding': 'gzip' }],
      'an error status with a list': ['<html>', 'application/json', {}, 500],
      'an error status with a list as text': [good, 'text/plain', {}, 404],
      'an error status with an event as text': [`: x\ndata: ${good}\n\n`, 'text/plain', {}, 500],
      'an error status with an encoding': [good, 'text/plain', { 'content-encoding': 'gzip' }, 500],
      nothing: ['', 'application/json'],
      'a stream without a response': [
        `data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n`,
        'text/event-stream',
      ],
      'a stream with an incomplete response': [`data: ${good}\n`, 'text/event-stream'],
      'a stream with another message': [`data: ${good.replace('"id":1', '"id":2')}\n\n`, 'text/event-stream'],
      'a stream that is not JSON': [`data: hello\n\ndata: ${good}\n\n`, 'text/event-stream'],
      'a line that some readers take for data': [`Data: ${good}\ndata: ${good}\n\n`, 'text/event-stream'],
      'a line with a space before data': [` data: ${good}\ndata: ${good}\n\n`, 'text/event-stream'],
      'such a line in an event before it': [`data : ${good}\n\ndata: ${good}\n\n`, 'text/event-stream'],
      'a notification with a result': [
        `data: {"method":"x","result":{"tools":[{"name":"delete_user"}]},"id":1}\n\n`,
        'text/event-stream',
      ],
    }
    for (const [name, [body, type, fields, status]] of Object.entries(bodies)) {
      json(body, type, status, fields)
      const answer = await list()
      t.match(
        answer,
        { status: 502, json: { id: 1, error: { code: -32001, data: { code: 'upstream_protocol_error' } } } },
        name,
      )
      t.notMatch(answer.body, /delete_user/, name)
    }
    const sent = world.upstream.seen.at(-1)?.rawHeaders ?? []
    t.notOk(sent.some((each) => /^accept-encoding$/i.test(each)))
  })
})

t.test('a whole list', async (t) => {
  const { list } = await start(t as never, { lines: ['tools: { ping: public }', 'list: whole'] })
  json(answerOf({ tools: TOOLS, cacheScope: 'public' }))
  const answer = await list()
  t.equal(names(answer).length, 4)
  t.equal(answer.json.result.cacheScope, 'public')
})

t.test('a list in flight shows what the tables allow when it arrives', async (t) => {
  const { world, list } = await start(t as never)
  let answered: ServerResponse | null = null
  respond = (response) => void (answered = response)
  const waiting = list()
  await until(() => answered !== null, 'the list was not forwarded')
  const lines = ['tools: { get_weather: other:read, delete_user: weather:read, ping: public }']
  writeFileSync(join(world.folder, 'routes/agents.yaml'), agentsTable({ lines }))
  await world.reload()
  json(answerOf({ tools: TOOLS }))
  if (answered !== null) respond(answered)
  t.same(names(await waiting), ['delete_user', 'ping'])
})

t.test('a server that goes on without an end', async (t) => {
  const { list } = await start(t as never, { upstream: ['body_timeout: 300ms'] })
  for (const [type, piece] of [
    ['text/event-stream', ': alive\n\n'],
    ['application/json', ' '],
  ] as const) {
    let isClosed = false
    respond = (response) => {
      response.writeHead(200, { 'content-type': type })
      const alive = setInterval(() => response.write(piece), 20)
      response.on('close', () => {
        clearInterval(alive)
        isClosed = true
      })
    }
    t.match(
      await list(),
      { status: 504, json: { id: 1, error: { data: { code: 'upstream_timeout' } } } },
      type,
    )
    await until(() => isClosed, 'the server was not told')
  }
})
