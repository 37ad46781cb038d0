/**
 * Lists of thousands of elements, and names of thousands of characters, whose parsing costs milliseconds: refused, or
 * not read.
 */

import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { isNavigation } from '../../src/oidc/sign-in/browser.ts'
import { isAtNonCanonicalHost } from '../../src/oidc/sign-in/canonical-host.ts'
import { foldName } from '../../src/proxy/header-rules.ts'
import { fieldTable } from '../support/field-table.ts'
import { requestHeaderRules } from '../../src/proxy/request-header-rules.ts'
import { codeOf } from '../proxy/support.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { handshake, WebSocketClient, startWebSocketUpstream } from '../websocket/support.ts'
import { RawClient } from '../support/raw-client.ts'

const ALL = 31 * 1024
const get = (...lines: string[]) => ['GET /docs/a HTTP/1.1', 'Host: a', ...lines, '', ''].join('\r\n')
const list = (count: number, separator = ', ') =>
  Array.from({ length: count }, (_, i) => `a${i}`).join(separator)

const world = await startWorld(t)

async function answerTo(port: number, request: string): Promise<string> {
  const wire = new RawClient(port).send(request)
  const answer = await wire.until(/"ok":true}|"request_id":"[^"]*"}/)
  wire.socket.destroy()
  return answer
}

t.test('lists in requests that the gateway reads', async (t) => {
  const refused: Record<string, string[]> = {
    'commas only': [`Connection: ${','.repeat(ALL)}`],
    'one element too many': [`Connection: ${list(65)}`],
    'in several lines': Array.from({ length: 65 }, (_, i) => `Connection: a${i}`),
    'several lines of lists': [`Connection: ${list(33)}`, `Connection: ${list(32)}`],
    'protocols to change to': [`Upgrade: ${','.repeat(ALL)}`, 'Connection: upgrade'],
    'one protocol too many': [`Upgrade: ${list(65)}`],
    cookies: [`Cookie: ${';'.repeat(ALL)}`],
    'one cookie too many': [`Cookie: ${list(513, ';')}`],
    'several lines of cookies': [`Cookie: ${list(300, ';')}`, `Cookie: ${list(213, ';')}`],
  }
  for (const [what, lines] of Object.entries(refused)) {
    const answer = await answerTo(world.port, get(...lines))
    t.match(answer, /^HTTP\/1\.1 400 [\s\S]*\r\nConnection: close\r\n/, what)
    t.equal(codeOf(answer), 'request_malformed', what)
  }
  t.equal(world.upstream.seen.length, 0)
  const passed = [
    `Connection: ${list(64)}`,
    `Upgrade: ${list(64)}`,
    `Cookie: ${list(512, ';')}`,
    `X-Ids: ${list(2000, ',')}`,
    `If-None-Match: ${list(1000)}`,
    `Accept: ${list(1000)}`,
    `TE: ${','.repeat(ALL)}`,
    `Trailer: ${','.repeat(ALL)}`,
  ]
  for (const line of passed)
    t.match(await answerTo(world.port, get(line)), /^HTTP\/1\.1 200/, line.slice(0, 30))
})

t.test('headers that Connection names are removed, up to the last element', async (t) => {
  await answerTo(
    world.port,
    get(`Connection: ${list(64)}`, 'A0: x', 'a63: y', 'a64: z', `${'b_'.repeat(100)}: w`),
  )
  const seen = world.upstream.seen.at(-1)?.headers ?? {}
  t.notOk('a0' in seen || 'a63' in seen)
  t.match(seen, { a64: 'z', ['b_'.repeat(100)]: 'w' })
  await answerTo(world.port, get(`Connection: ${'B-'.repeat(100)}`, `${'b_'.repeat(100)}: w`))
  t.notOk(
    'b_'.repeat(100) in (world.upstream.seen.at(-1)?.headers ?? {}),
    'long names are compared completely',
  )
})

t.test('headers of a trusted proxy: of a chain that is too long, the last hops count', async (t) => {
  const world = await startWorld(t, { top: ['trusted_proxies: [127.0.0.1]'] })
  const chain = (count: number) => Array.from({ length: count }, (_, i) => `192.0.2.${i}`).join(', ')
  await answerTo(world.port, get(`X-Forwarded-For: ${chain(64)}`))
  await answerTo(world.port, get(`X-Forwarded-For: ${chain(65)}`))
  await answerTo(world.port, get(`Forwarded: ${'for=a,'.repeat(64)}for=a`))
  const forwarded = world.upstream.seen.map(({ headers }) => headers['x-forwarded-for'])
  const last = chain(65).slice('192.0.2.0, '.length)
  t.same(forwarded, [`${chain(64)}, 127.0.0.1`, `${last}, 127.0.0.1`, '127.0.0.1'])
  t.notOk('forwarded' in (world.upstream.seen[2]?.headers ?? {}))
})

t.test('handshakes', async (t) => {
  const upstream = await startWebSocketUpstream(t)
  const world = await startWorld(t, { routes: ['GET /ws: public'], target: upstream.url })
  for (const name of ['Sec-WebSocket-Protocol', 'Sec-WebSocket-Extensions']) {
    for (const [count, status] of [
      [65, 400],
      [64, 101],
    ] as const) {
      const client = new WebSocketClient(world.port).send(handshake('/ws', [`${name}: ${list(count)}`]))
      await until(() => client.status !== 0, 'an answer')
      t.equal(client.status, status, `${name} of ${count}`)
      client.socket.destroy()
    }
  }
})

/** Sends the lines of this place in response to a request for `/docs/` and the place. */
async function answering(t: Test, all: readonly (readonly string[])[]): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      const lines = all[Number(/^GET \/docs\/(\d)/.exec(bytes.toString())?.[1])] ?? []
      socket.write(['HTTP/1.1 200 OK', 'Content-Length: 11', ...lines, '', '{"ok":true}'].join('\r\n'))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

t.test('responses of an upstream', async (t) => {
  const cases: [string[], number][] = [
    [[`Connection: ${list(64)}`], 200],
    [[`Connection: ${list(65)}`], 502],
    [Array.from({ length: 1900 }, (_, i) => `Connection: a${i}`), 502],
  ]
  const target = await answering(
    t,
    cases.map(([lines]) => lines),
  )
  const world = await startWorld(t, { target })
  for (const [at, [, status]] of cases.entries())
    t.equal((await world.client.send('GET', `/docs/${at}`)).status, status)
})

t.test('Accept: a browser sends few media ranges', async (t) => {
  const navigates = (...accept: string[]) =>
    isNavigation(
      'GET',
      accept.flatMap((line) => ['Accept', line]),
    )
  t.ok(navigates('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'))
  t.ok(navigates('application/json', 'text/plain , Text/HTML ; charset=utf-8 ; q=0.05'))
  t.ok(navigates(`text/html,${list(63)}`))
  t.notOk(navigates(`text/html,${list(64)}`))
  t.notOk(navigates(...Array.from({ length: 65 }, () => 'text/html')))
  t.notOk(navigates(','.repeat(ALL)))
  for (const never of [
    'text/html;q=0',
    'text/html ; Q=0.000',
    'text/html;level=1;q=0;x=1',
    'text/htmlx',
    'x;text/html',
  ])
    t.notOk(navigates(never), never)
})

t.test('long names are distinguished from known ones, and not cached', async (t) => {
  for (const length of [1, 63, 64, 65, 1000]) {
    const tail = 'x'.repeat(length)
    t.equal(requestHeaderRules.treatment(fieldTable(`X_Seatgate.${tail}`, ''), 0), 'drop', `${length}`)
    t.equal(requestHeaderRules.treatment(fieldTable(`x-forwarded-${tail}`, ''), 0), 'proxy', `${length}`)
    t.equal(requestHeaderRules.treatment(fieldTable(`x-other-${tail}`, ''), 0), 'pass', `${length}`)
    t.equal(foldName(`A_z.9~${tail}`), `a-z-9-${tail}`)
  }
})

t.test('hosts that a proxy sends, where a sign-in compares them', async (t) => {
  const home = 'https://gw.example/auth/oidc/callback'
  const isElsewhere = (name: string, value: string) =>
    isAtNonCanonicalHost(['Host', 'other.example', name, value], home)
  t.ok(isElsewhere('X-Forwarded-Host', 'third.example'))
  t.notOk(isElsewhere('X-Forwarded-Host', 'third.example, gw.example'))
  for (const separator of [',', 'a,', 'xn--a,', '%41,'])
    t.notOk(isElsewhere('X-Forwarded-Host', separator.repeat(ALL / separator.length)), 'not compared')
  t.notOk(isElsewhere('Forwarded', ',host=a'.repeat(ALL / 7)))
  t.notOk(isElsewhere('Forwarded', ';host=a'.repeat(ALL / 7)))
})
