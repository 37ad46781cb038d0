/** The client of commands that talk to a gateway: credentials, addresses, faults on the way, tries. */

import { readFileSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Authority } from '../../proxy/authority.ts'
import { startUpstream, startWorld } from '../../support/world.ts'
import { MAIN, outcomeOf } from '../command-line.ts'
import { afar } from './from-afar.ts'

const KEY = 'sk_a-secret-of-this-test'

async function serving(t: Test, listener: RequestListener): Promise<{ port: number }> {
  const { url } = await startUpstream(t, listener)
  return { port: Number(new URL(url).port) }
}

const empty = '{"data":[],"has_more":false,"count":0}'

t.test('bad usage', async (t) => {
  const { run } = afar(t, { port: 9 }, KEY)
  const list = ['seats', 'list']
  const wrong: [readonly string[], Record<string, string>, RegExp][] = [
    [list, { SEATGATE_URL: '' }, /--url is missing: the address of the gateway, or SEATGATE_URL/],
    [list, { SEATGATE_API_KEY: '' }, /--api-key is missing/],
    [list, { SEATGATE_URL: 'gateway' }, /SEATGATE_URL is not an address such as https/],
    [[...list, '--url', 'ftp://a'], {}, /--url is not an address/],
    [[...list, '--url', 'http://me:hush@127.0.0.1:9'], {}, /has a user or a password/],
    [[...list, '--url', 'http://127.0.0.1:9/?a=b'], {}, /--url is not an address/],
    [[...list, '--api-key', 'a\r\nb: c'], {}, /--api-key is not an API key/],
    [[...list, '--api-key', ''], {}, /--api-key is not an API key/],
    [[...list, '--space', 'a b'], {}, /--space is not a space id/],
    [[...list, '--timeout', '1'], {}, /--timeout has no unit/],
    [[...list, '--timeout', '1ms'], {}, /--timeout is too short/],
    [['seats', 'update', 'a'], {}, /nothing to change/],
    [['seats', 'update', 'a', '--in', 'x', '--add-in', 'y'], {}, /--in replaces the whole list/],
    [['keys', 'create', 'a'], {}, /--seat is required/],
    [['keys', 'create', 'a', '--seat', 'b', '--expires', 'soon'], {}, /--expires is neither a duration/],
    [['audit', 'list', '--tenant', 'acme', '--url', 'http://127.0.0.1:9'], {}, /give one/],
  ]
  for (const [args, env, err] of wrong) {
    const ran = await run(args, env)
    t.match(ran, { code: 2, out: '', err }, args.join(' '))
    t.notMatch(ran.err, /hush|a-secret/, 'no credential')
  }
})

t.test('the API key on standard input', async (t) => {
  const world = await startWorld(t)
  const child = spawn(
    process.execPath,
    [MAIN, 'seats', 'list', '--api-key', '-', '--url', `http://127.0.0.1:${world.port}`],
    { env: { ...process.env, SEATGATE_API_KEY: '' } },
  )
  child.stdin.end(`${world.keys['acme']}\n`)
  t.match(await outcomeOf(child), { code: 0, out: /\nadmin +admin +\*/ })
})

t.test('another space, another key', async (t) => {
  const world = await startWorld(t)
  const { run } = afar(t, world, world.keys['acme'] ?? '')
  t.match(await run(['seats', 'list', '--space', 'main']), {
    code: 1,
    out: '',
    err: /403 no_seat_in_space, request [0-9a-f-]{36}/,
  })
  const refused = await run(['seats', 'list'], { SEATGATE_API_KEY: KEY })
  t.match(refused, { code: 1, out: '', err: /401 api_key_invalid/ })
  t.notMatch(refused.err, KEY)
})

t.test('without --space, a command acts in the admin space of the tenant', async (t) => {
  const world = await startWorld(t)
  await world.seat('Operator', ['ops'], ['*'])
  const { key } = (await world.admin('POST', '/v1/api-keys', { name: 'k', seats: ['Operator'] })).json
  const { file } = world.config
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^ {2}acme: \{/m, '  acme: { admin_space: ops,'))
  await world.reload()
  const { done, run, folder } = afar(t, world, key)
  t.match(await done('seats', 'list'), /^Operator +ops +\* /m)
  const url = `http://127.0.0.1:${world.port}`
  t.match(
    await done('explain', 'GET', '/v1/trainings', '--space', 'ops', '--seat', 'Operator', '--url', url),
    /^allow/,
  )
  writeFileSync(
    join(folder, 'seats.yaml'),
    'tenant: acme\nseats: { A: { spaces: [ops], permissions: [] } }\n',
  )
  t.equal((await run(['seats', 'plan', 'seats.yaml', '--out', 'saved.plan'])).code, 3)
  t.match(await done('seats', 'apply', 'saved.plan'), 'applied: 1 change')
  t.match(await run(['seats', 'list', '--space', 'admin']), { code: 1, err: /403 no_seat_in_space/ })

  const questions = () => world.log().filter(({ path }) => path === '/auth/oidc/me').length
  const before = questions()
  await done('seats', 'list', '--space', 'ops')
  t.equal(questions(), before, 'nothing is asked where a space is named')
})

t.test('a gateway that does not tell the admin space', async (t) => {
  const world = await startWorld(t, { top: ['api: { prefix: /_seatgate }'] })
  const { run } = afar(t, world, world.keys['acme'] ?? '')
  const SEATGATE_URL = `http://127.0.0.1:${world.port}/_seatgate`
  t.match(await run(['seats', 'list'], { SEATGATE_URL }), { code: 0, out: /^admin +admin +\* /m })
})

t.test('there is no gateway', async (t) => {
  const { run } = afar(t, { port: 9 }, KEY)
  t.match(await run(['seats', 'list']), {
    code: 1,
    out: '',
    err: /^seatgate seats list: the request to http:\/\/127\.0\.0\.1:9 failed: no program listens there \(ECONNREFUSED\)/,
  })
  const html: RequestListener = (_, response) => response.end('<html>a portal</html>')
  t.match(await afar(t, await serving(t, html), KEY).run(['seats', 'list']), {
    code: 1,
    err: /does not answer as a Seatgate gateway: the answer has status 200/,
  })
  const odd: RequestListener = (_, response) => response.end('{"data":{}}')
  t.match(await afar(t, await serving(t, odd), KEY).run(['seats', 'list']), {
    code: 1,
    err: /does not answer as a Seatgate gateway: a list is expected/,
  })
})

t.test('a redirection is not followed: the key goes nowhere else', async (t) => {
  let reached = false
  const other = await serving(t, (_, response) => {
    reached = true
    response.end(empty)
  })
  const listener: RequestListener = (_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${other.port}/v1/seats` }).end()
  const ran = await afar(t, await serving(t, listener), KEY).run(['seats', 'list'])
  t.match(ran, { code: 1, err: /the answer has status 307/ })
  t.equal(reached, false)
})

t.test('what only reads is tried again', async (t) => {
  const seen: string[] = []
  const flaky = await serving(t, (request, response) => {
    seen.push(`${request.method}`)
    if (seen.length === 1) return response.destroy()
    if (seen.length === 2)
      return response
        .writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '0' })
        .end('{"code":"unavailable","detail":"no"}')
    return response.end(empty)
  })
  t.match(await afar(t, flaky, KEY).run(['seats', 'list', '--space', 'main']), { code: 0, out: 'no Seats\n' })
  t.same(seen, ['GET', 'GET', 'GET'])
})

t.test('what writes is sent once, and the doubt is said', async (t) => {
  const seen: string[] = []
  const flaky = await serving(t, (request, response) => {
    seen.push(`${request.method}`)
    response.destroy()
  })
  t.match(await afar(t, flaky, KEY).run(['seats', 'create', 'A', '--space', 'main']), {
    code: 1,
    err: /The change may have been made: look before you try again/,
  })
  t.same(seen, ['POST'])
})

t.test('a block ends, and the answer is lost: it is not deleted again', async (t) => {
  const world = await startWorld(t)
  const key = world.keys['acme'] ?? ''
  await world.admin('POST', '/v1/blocks', { user: 'eve' })
  const seen: string[] = []
  const lossy = await serving(t, async ({ method = '', url = '' }, response) => {
    const answer = await world.client.send(method, url, { 'x-api-key': key, space: 'admin' })
    seen.push(`${method} ${answer.status}`)
    if (method === 'DELETE') response.destroy()
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  })
  t.match(await afar(t, lossy, key).run(['users', 'unblock', 'eve']), {
    code: 1,
    err: /The change may have been made: look before you try again/,
  })
  t.same(
    seen.filter((each) => each.startsWith('DELETE')),
    ['DELETE 204'],
  )
})

t.test('a gateway that does not answer', async (t) => {
  const silent = await serving(t, () => {})
  t.match(await afar(t, silent, KEY).run(['seats', 'create', 'A', '--space', 'main', '--timeout', '200ms']), {
    code: 1,
    err: /no answer in 200 ms\. .*\. The change may have been made/,
  })
})

t.test('nothing of an answer controls the terminal', async (t) => {
  const hostile = await serving(t, (_, response) =>
    response.writeHead(409, { 'content-type': 'application/problem+json' }).end(
      JSON.stringify({
        code: 'x\u001b[2J',
        detail: 'a\u001b[31m\nb',
        request_id: '\u0007',
        errors: [{ path: '\u001b', message: '\u001b' }],
      }),
    ),
  )
  const { code, err } = await afar(t, hostile, KEY).run(['seats', 'create', 'A'])
  t.equal(code, 1)
  t.notMatch(err, /[\u0007\u001b]/)
})

t.test('a key on a way without TLS is warned of', async (t) => {
  const { run } = afar(t, { port: 9 }, KEY)
  const ran = await run(['seats', 'list', '--url', 'http://gateway.invalid', '--timeout', '2s'])
  t.match(ran, {
    code: 1,
    err: /^note: http:\/\/gateway\.invalid is not https: the API key can be read on the way\n/,
  })
})

t.test('TLS: the certificate is verified', async (t) => {
  const authority = new Authority()
  const server = createTlsServer(authority.issue({ names: ['localhost', '127.0.0.1'] }), (_, response) =>
    response.end(empty),
  ).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const { run } = afar(t, { port }, KEY, {
    'ca.pem': authority.cert,
    'other.pem': new Authority('b').cert,
    'key.pem': '-----BEGIN PRIVATE KEY-----\n',
  })
  const args = ['seats', 'list', '--url', `https://localhost:${port}`]
  t.match(await run([...args, '--ca', 'ca.pem']), { code: 0, out: 'no Seats\n', err: '' })
  t.match(await run(args), { code: 1, out: '', err: /the request to \S+ failed: .*certificate/ })
  t.match(await run([...args, '--ca', 'other.pem']), {
    code: 1,
    out: '',
    err: /the request to \S+ failed: .*certificate/,
  })
  t.match(await run([...args, '--ca', 'key.pem']), {
    code: 1,
    err: /key\.pem has a block that begins in line 1 and has no end/,
  })
  t.match(await run([...args, '--ca', 'none.pem']), { code: 1, err: /none\.pem cannot be read/ })
})
