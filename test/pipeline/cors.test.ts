/** Responses and refusals for pages of other origins (WHATWG Fetch, section 3.3) on a whole gateway. */

import type { ServerResponse } from 'node:http'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { serveRaw } from '../proxy/support.ts'
import { APP, corsOf, preflight, useTables } from '../support/cors.ts'
import { roundTrip } from '../support/raw-client.ts'
import { startWorld, type World } from '../support/world.ts'

const GRANT = {
  'allow-origin': APP,
  'allow-credentials': 'true',
  'expose-headers': 'retry-after, www-authenticate, x-request-id, etag',
}
const POLICY = `{ origins: [${APP}], credentials: true, expose: [ETag] }`
/** What an upstream with a policy of its own says. */
const THEIRS = {
  'access-control-allow-origin': 'https://evil.example',
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
  'access-control-max-age': '86400',
  'access-control-allow-private-network': 'true',
  access_control_allow_origin: '*',
}

/** What the upstream says in `Vary`. */
let vary: readonly string[] = []

async function start(t: Test): Promise<World> {
  const world = await startWorld(t, {
    answer: (request, response) => {
      if (request.url === '/hints') return withHints(response)
      for (const [name, value] of Object.entries(THEIRS)) response.setHeader(name, value)
      if (vary.length > 0) response.setHeader('vary', [...vary])
      if (request.url === '/cut') return void request.socket.destroy()
      response.end(request.url)
    },
  })
  await useTables(world, {
    main: {
      cors: POLICY,
      routes: [
        'GET /v1/items: items:list',
        'GET /me: authenticated',
        'ANY /doc: public',
        'GET /get: public',
        'POST /small: { permission: public, max_body: 4B }',
        'GET /cut: public',
        'GET /hints: public',
        'GET /ids/{id}: public',
      ],
    },
    open: { cors: '{ origins: ["*"], expose: [etag] }', routes: ['GET /open: public'] },
    plain: { cors: '', routes: ['GET /plain: public', 'GET /two: public'] },
    mixed: { cors: '{ origins: ["*"] }', routes: ['POST /two: public'] },
  })
  return world
}

/** An interim response, a response, and trailers, each with a policy of the upstream. */
function withHints(response: ServerResponse): void {
  response.writeEarlyHints({ link: '</a>; rel=preload', 'access-control-allow-origin': '*' })
  response.writeHead(200, {
    trailer: 'x-end, access-control-allow-origin',
    'transfer-encoding': 'chunked',
  })
  response.write('hello')
  response.addTrailers({ 'x-end': '1', 'access-control-allow-origin': '*' })
  response.end()
}

const world = await start(t)
const { client, upstream } = world

t.test('responses', async (t) => {
  const get = (path: string, origin?: string | string[]) =>
    client.send('GET', path, origin === undefined ? {} : { origin })

  await t.test('a listed origin gets the headers of the gateway in place of the upstream', async (t) => {
    const answer = await get('/doc', APP)
    t.equal(answer.status, 200)
    t.same(corsOf(answer), GRANT)
    t.equal(answer.headers['access_control_allow_origin'], undefined, 'nor under another spelling')
    t.equal(answer.headers.vary, 'Origin')
    t.equal(upstream.seen.at(-1)?.headers.origin, APP, 'the upstream sees the origin')
  })

  await t.test('an origin that is not listed is forwarded, and gets none', async (t) => {
    const before = upstream.seen.length
    const others = [
      'https://evil.example',
      'null',
      '',
      '*',
      `${APP}/`,
      `${APP}:443`,
      APP.toUpperCase(),
      `${APP}.evil.example`,
      `${APP}, https://evil.example`,
      APP.replace('https', 'http'),
      `https://x.${APP.slice(8)}`,
      `${APP} https://evil.example`,
    ]
    for (const origin of others) {
      const answer = await get('/doc', origin)
      t.equal(answer.status, 200, origin)
      t.same(corsOf(answer), {}, origin)
      t.equal(answer.headers.vary, 'Origin', origin)
    }
    t.equal(upstream.seen.length - before, others.length)
  })

  await t.test('no Origin: none, and Vary all the same', async (t) => {
    const answer = await get('/doc')
    t.same(corsOf(answer), {})
    t.equal(answer.headers.vary, 'Origin')
  })

  await t.test('two of Origin are refused', async (t) => {
    const before = upstream.seen.length
    for (const origin of [
      [APP, APP],
      [APP, 'https://evil.example'],
    ]) {
      const answer = await get('/doc', origin)
      t.match(answer.json, { status: 400, code: 'request_malformed' })
      t.same(corsOf(answer), {})
      t.equal(answer.headers.vary, 'Origin')
    }
    t.equal(upstream.seen.length, before)
    t.equal((await get('/plain', [APP, APP])).status, 200, 'a table without cors forwards them as before')
  })

  await t.test('* is every origin but null', async (t) => {
    const answer = await get('/open', 'https://anyone.example')
    t.same(corsOf(answer), { 'allow-origin': '*', 'expose-headers': GRANT['expose-headers'] })
    t.equal(answer.headers.vary, 'Origin')
    t.same(corsOf(await get('/open', 'null')), {})
    t.same(corsOf(await get('/open')), {})
  })

  await t.test('a table without cors forwards what the upstream says', async (t) => {
    const answer = await get('/plain', APP)
    t.equal(answer.headers['access-control-allow-origin'], THEIRS['access-control-allow-origin'])
    t.equal(answer.headers['access_control_allow_origin'], '*')
    t.equal(answer.headers.vary, undefined)
  })
})

t.test('Vary of the upstream is kept', async (t) => {
  t.teardown(() => {
    vary = []
  })
  for (const [theirs, merged] of [
    [['Accept-Encoding'], 'Accept-Encoding, Origin'],
    [['Accept-Encoding', 'Cookie'], 'Accept-Encoding, Cookie, Origin'],
    [['accept, ORIGIN'], 'accept, ORIGIN'],
    [['*'], '*'],
    [['Accept', '*'], 'Accept, *'],
    [['X-Origin'], 'X-Origin, Origin'],
  ] as const)
    await t.test(theirs.join(' | '), async (t) => {
      vary = theirs
      const answer = await client.send('GET', '/doc', { origin: APP })
      const lines = answer.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'vary')
      t.equal(lines.length, 1, 'caches that read one line read all')
      t.equal(answer.headers.vary, merged)
      t.equal((await client.send('GET', '/plain')).headers.vary, theirs.join(', '), 'no cors: as it came')
    })
})

t.test('refusals can be read by the page', async (t) => {
  await world.seat('Other', ['main'], ['other:thing'])
  const bearer = { authorization: `Bearer ${await world.token(['main:Other'])}`, space: 'main' }
  const cases: readonly [number, string, string, string, Record<string, string>, string?][] = [
    [401, 'credentials_missing', 'GET', '/v1/items', {}],
    [401, 'token_invalid', 'GET', '/v1/items', { authorization: 'Bearer x.y.z' }],
    [400, 'space_required', 'GET', '/v1/items', { authorization: bearer.authorization }],
    [403, 'permission_denied', 'GET', '/v1/items', bearer],
    [403, 'no_seat_in_space', 'GET', '/v1/items', { ...bearer, space: 'elsewhere' }],
    [405, 'method_not_allowed', 'POST', '/get', {}],
    [400, 'path_ambiguous', 'GET', '/ids/a%2Fb', {}],
    [400, 'path_ambiguous', 'GET', '/ids/a;b', {}],
    [413, 'body_too_large', 'POST', '/small', {}, 'hello'],
    [502, 'upstream_protocol_error', 'GET', '/cut', {}],
  ]
  for (const [status, code, method, path, headers, body] of cases) {
    const answer = await client.send(method, path, { ...headers, origin: APP }, body)
    t.match(answer.json, { status, code }, code)
    t.same(corsOf(answer), GRANT, code)
    t.equal(answer.headers.vary, 'Origin', code)
    const evil = await client.send(method, path, { ...headers, origin: 'https://evil.example' }, body)
    t.same(corsOf(evil), {}, `${code}: not by another page`)
    t.equal(evil.headers.vary, 'Origin', code)
  }

  await t.test('where no table is known, none', async (t) => {
    for (const [status, method, path] of [
      [404, 'GET', '/nowhere'],
      [405, 'PUT', '/two'],
      [400, 'GET', '/doc/..'],
      [401, 'GET', '/v1/seats'],
      [405, 'POST', '/plain'],
    ] as const) {
      const answer = await client.send(method, path, { origin: APP })
      t.equal(answer.status, status, path)
      t.same(corsOf(answer), {}, path)
      t.equal(answer.headers.vary, undefined, path)
    }
  })

  await t.test('a body that turns out to be malformed', async (t) => {
    const head = `POST /doc HTTP/1.1\r\nHost: a\r\nOrigin: ${APP}\r\nTransfer-Encoding: chunked\r\n`
    const socket = connect(world.port, '127.0.0.1')
    socket.write(`${head}Expect: 100-continue\r\n\r\n`)
    let answer = ''
    for await (const chunk of socket) {
      // The request is decided, and its body awaited.
      if (answer === '') socket.write('nonsense\r\n')
      answer += String(chunk)
    }
    t.match(answer, /^HTTP\/1\.1 100 [\s\S]*HTTP\/1\.1 400 /)
    t.match(answer, `Access-Control-Allow-Origin: ${APP}\r\n`)
  })
})

t.test('interim responses and trailers have no CORS headers of the upstream', async (t) => {
  const head = 'GET /hints HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close\r\n\r\n'
  const answer = await roundTrip(world.port, head)
  t.match(answer, /^HTTP\/1\.1 103 [\s\S]*link: [\s\S]*HTTP\/1\.1 200 [\s\S]*x-end: 1\r\n/i)
  t.notMatch(answer, /^access-control-allow-origin:/im)
})

t.test('a timeout, and an upstream that is away', async (t) => {
  const port = await serveRaw(t, () => {})
  const text = readFileSync(world.config.file, 'utf8')
  const target = `targets: ["http://127.0.0.1:${port}"]\n    response_timeout: 50ms`
  writeFileSync(world.config.file, text.replace(/targets: .*/, target))
  await world.reload()
  const late = await world.client.send('GET', '/doc', { origin: APP })
  t.match(late.json, { status: 504, code: 'upstream_timeout' })
  t.same(corsOf(late), GRANT)
  writeFileSync(world.config.file, text.replace(/targets: .*/, 'targets: ["http://127.0.0.1:1"]'))
  await world.reload()
  const gone = await world.client.send('GET', '/doc', { origin: APP })
  t.match(gone.json, { status: 502, code: 'upstream_unreachable' })
  t.same(corsOf(gone), GRANT)
  writeFileSync(world.config.file, text)
  await world.reload()
})

t.test('the store cannot be asked: the page can read that too', async (t) => {
  await world.seat('Unread', ['main'], ['items:list'])
  const authorization = `Bearer ${await world.token(['main:Unread'])}`
  const database = new DatabaseSync(world.storeFile)
  database.exec('ALTER TABLE seats RENAME TO gone')
  database.close()
  const ask = (origin: string) =>
    world.client.send('GET', '/v1/items', { authorization, space: 'main', origin })
  const answer = await ask(APP)
  t.match(answer.json, { status: 503, code: 'unavailable' })
  t.same(corsOf(answer), GRANT)
  t.equal(answer.headers.vary, 'Origin')
  t.same(corsOf(await ask('https://evil.example')), {})
})

t.test('pages of apps and extensions', async (t) => {
  const origins = [
    'capacitor://localhost',
    'tauri://localhost',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  ]
  const world = await startWorld(t)
  const cors = `{ origins: ${JSON.stringify(origins.slice(0, 2))}, credentials: true }`
  await useTables(world, { main: { cors, routes: ['GET /doc: public'] } })
  for (const [at, origin] of origins.entries()) {
    const isListed = at < 2
    const granted = isListed ? { 'allow-origin': origin, 'allow-credentials': 'true' } : {}
    const asked = await preflight(world.client, '/doc', 'GET', { origin })
    t.equal(asked.status, isListed ? 204 : 403, origin)
    const { 'expose-headers': _names, ...found } = corsOf(await world.client.send('GET', '/doc', { origin }))
    t.same(found, granted, origin)
  }
})
