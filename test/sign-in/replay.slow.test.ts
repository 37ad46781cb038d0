/**
 * The log of a real gateway under a varied load, decided again: by the same tables and Seats each answer stays, and by
 * edited ones exactly those requests change that the gateway answers differently once it has them.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Replay, type ReplayGroup, type ReplayResult } from '../../src/access/replay/replayed-log.ts'
import { withSubject } from '../../src/cli/replay/subject.ts'
import { NAVIGATION } from './visitor.ts'
import { NO_TERMINAL, seatgateHere } from '../cli/in-process.ts'
import { env } from '../support/world.ts'
import { until } from '../support/until.ts'
import { idTokenOf } from './id-token.ts'
import { startSignIn } from './world.ts'
import { roundTrip } from '../support/raw-client.ts'

const ROUTES = [
  'GET /v1/trainings: trainings:list',
  'POST /v1/trainings: trainings:create',
  'GET /v1/trainings/{id}: trainings:read',
  'DELETE /v1/trainings/{id}: trainings:delete',
  'PUT /v1/files/{id}: { permission: files:write, max_body: 1KiB }',
  'GET /v1/files/*: files:read',
  'GET /v1/me: authenticated',
  'GET /v1/broken: authenticated',
  'GET /pages/*: { permission: authenticated, sign_in: acme }',
  'GET /docs/*: public',
]
const EDITED = [
  'GET /v1/trainings: authenticated',
  'POST /v1/trainings: trainings:create',
  'GET /v1/trainings/{id}: public',
  'DELETE /v1/trainings/{id}: trainings:read',
  'PUT /v1/files/{id}: { permission: files:write, max_body: 1KiB }',
  'POST /v1/files/{id}: files:write',
  'GET /v1/me: trainings:list',
  'GET /v1/broken: trainings:list',
  'GET /pages/*: { permission: authenticated, sign_in: acme }',
  'GET /docs/public/*: public',
  'GET /docs/private/*: authenticated',
  'GET /nowhere: public',
]
const PROVIDER = { acme: { acceptProviderTokens: true } }

const world = await startSignIn(t, {
  ...PROVIDER,
  routes: ROUTES,
  answer: (request, response) => {
    if (request.url === '/v1/broken') response.destroy()
    else response.end('{}')
  },
})
const { gateway } = world

const seats: Record<string, string> = {}
const MANY = Array.from({ length: 25 }, (_, index) => `Many ${index}`)
seats['Viewer'] = await gateway.seat('Viewer', ['main', 'other'], ['trainings:list', 'trainings:read'])
seats['ns:Editor'] = await gateway.seat('ns:Editor', ['main'], ['trainings:create', 'files:write'])
seats['Gone'] = await gateway.seat('Gone', ['main'], ['files:read'])
for (const name of MANY) seats[name] = await gateway.seat(name, ['main'], ['x:y'])

async function keyOf(...names: string[]) {
  const answer = await gateway.admin('POST', '/v1/api-keys', { name: 'a key', seats: names })
  if (answer.status !== 200) throw new Error(answer.body)
  return { id: answer.json.id, headers: { 'x-api-key': answer.json.key } }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const viewerKey = await keyOf('Viewer')
const goneKey = await keyOf('Gone', 'ns:Editor')
const manyKey = await keyOf(...MANY)
const revokedKey = await keyOf('Viewer')
await gateway.admin('DELETE', `/v1/api-keys/${revokedKey.id}`)
world.user('alice', { memberOf: ['Viewer', 'Gone'] })
const visitor = world.visitor()
const providerToken = await idTokenOf(visitor, world.acme)
await visitor.page('/pages/a')

const CALLERS: Readonly<Record<string, Record<string, string>>> = {
  administrator: { 'x-api-key': gateway.keys['acme'] ?? '' },
  'another tenant': { 'x-api-key': gateway.keys['globex'] ?? '' },
  'a key': viewerKey.headers,
  'a key of two Seats': goneKey.headers,
  'a key of many Seats': manyKey.headers,
  'a revoked key': revokedKey.headers,
  'a token': bearer(
    await gateway.token(['main:Viewer', 'other:ns:Editor', 'main:Nobody'], { sub: 'bob "b"' }),
  ),
  'a token of many Seats': bearer(await gateway.token(MANY.map((name) => `main:${name}`))),
  'a token of a Seat that will go': bearer(await gateway.token(['main:Gone'])),
  'a token of an hour ago': bearer(
    await gateway.token(['main:Gone', 'main:Viewer'], { now: Date.now() - 3_000_000 }),
  ),
  'an expired token': bearer(await gateway.token(['main:Viewer'], { now: 0 })),
  'a token of the provider': bearer(providerToken),
  'no token': bearer('nonsense'),
  nobody: {},
}
const SPACES: readonly Record<string, string>[] = [
  {},
  { space: 'main' },
  { space: 'other' },
  { space: 'admin' },
  { space: 'no id!' },
  { space: 'main,other' },
]
const REQUESTS = [
  'GET /v1/trainings',
  'HEAD /v1/trainings',
  'POST /v1/trainings',
  'GET /v1/trainings/7',
  'DELETE /v1/trainings/7',
  'PUT /v1/files/7',
  'GET /v1/files/a/b',
  'GET /v1/me',
  'GET /v1/broken',
  'GET /docs/public/a',
  'GET /docs/private/a',
  'GET /nowhere',
  'PATCH /v1/trainings',
  'GET /v1/seats?limit=none',
  'GET /v1/seats/unknown',
  'POST /auth/oidc/validate',
]

/** Bytes of requests that the client would not send. */
const RAW = [
  'GET /v1//trainings HTTP/1.1\r\nHost: a\r\n',
  'GET /v1/trainings;x HTTP/1.1\r\nHost: a\r\n',
  'GET /v1/trainings/a%2Fb HTTP/1.1\r\nHost: a\r\n',
  'GET /v1/me#fragment HTTP/1.1\r\nHost: a\r\n',
  'GET /docs/public/\x1b[2J HTTP/1.1\r\nHost: a\r\n',
  'GET /docs/public/%1b HTTP/1.1\r\nHost: a\r\n',
  'GET /docs/public/\xe9 HTTP/1.1\r\nHost: a\r\n',
  'GET http://other/docs/public/a HTTP/1.1\r\nHost: a\r\n',
  'GET http://a/docs/public/a HTTP/1.1\r\nHost: a\r\n',
  `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: a\r\n`,
  `GET /v1/me?${'a'.repeat(9000)} HTTP/1.1\r\nHost: a\r\n`,
  'TRACE /docs/public/a HTTP/1.1\r\nHost: a\r\n',
  'PURGE /docs/public/a HTTP/1.1\r\nHost: a\r\n',
  'GET /docs/public/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n',
  'GET /docs/public/a HTTP/1.1\r\nHost: a\r\nSpace: a\r\nSpace: b\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n',
  'nonsense\r\n',
]

/** Sends the load in turn: each request has one line, in this order. */
async function load(): Promise<string[]> {
  const before = requestLines().length
  let sent = 0
  const send = async (request: Promise<unknown>) => {
    await request
    sent++
  }
  for (const asked of REQUESTS) {
    const [method = '', path = ''] = asked.split(' ')
    const body = method === 'PUT' || method === 'POST' ? '{}' : undefined
    for (const caller of Object.values(CALLERS))
      // The line of a request without a route does not say that its Space is repeated: this one would become public.
      for (const space of path === '/nowhere' ? SPACES.slice(0, -1) : SPACES)
        await send(gateway.client.send(method, path, { ...caller, ...space }, body))
  }
  for (const headers of [...SPACES, {}]) await send(visitor.ask('/v1/trainings', { headers }))
  for (const path of ['/v1/me', '/v1/trainings/7', '/pages/a'])
    await send(visitor.ask(path, { space: 'main', headers: NAVIGATION }))
  await send(gateway.client.send('GET', '/pages/a', NAVIGATION))
  const large = { ...goneKey.headers, space: 'main' }
  await send(gateway.client.send('PUT', '/v1/files/7', large, 'x'.repeat(5000)))
  for (const bytes of RAW) await send(roundTrip(gateway.port, `${bytes}Connection: close\r\n\r\n`))
  await until(
    async () => requestLines().length >= before + sent,
    () => 'a request has no line',
    { pause: 50 },
  )
  return requestLines().slice(before)
}

function requestLines(): string[] {
  return gateway
    .logText()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
}

/** The decision of a line; null: none is known. */
function decisionOf(line: string): string | null {
  const { decision, code, path = null } = JSON.parse(line)
  return path === null ? null : (decision ?? code)
}

function replayed(log: string, ...more: string[]) {
  const file = join(gateway.folder, 'replayed.log')
  writeFileSync(file, log)
  return seatgateHere(
    gateway.folder,
    ['replay', file, '--json', '--config', gateway.config.file, ...more],
    env,
  )
}

/** Each line of the log by itself. */
async function eachReplayed(lines: readonly string[]): Promise<ReplayResult[]> {
  const terminal = { ...NO_TERMINAL, env }
  return withSubject({ config: gateway.config.file }, terminal, async (subject) => {
    const results: ReplayResult[] = []
    for (const line of lines) {
      const replay = new Replay(subject)
      await replay.add(line)
      results.push(replay.result())
    }
    return results
  })
}

const first = await load()

t.test('the load is varied', async (t) => {
  const codes = new Set(first.map((line) => JSON.parse(line).code))
  for (const code of [
    'allow',
    'permission_denied',
    'no_seat_in_space',
    'space_required',
    'credentials_missing',
    'token_expired',
    'token_invalid',
    'api_key_revoked',
    'request_malformed',
    'path_ambiguous',
    'uri_too_long',
    'route_not_found',
    'method_not_allowed',
    'upstream_protocol_error',
    'body_too_large',
    'seat_not_found',
    'input_invalid',
  ])
    t.ok(codes.has(code), code)
  const auth = new Set(first.map((line) => JSON.parse(line).auth))
  t.same(auth, new Set(['api-key', 'bearer', 'session', undefined]))
  t.ok(first.length > 1100, `${first.length} requests`)
})

t.test('the same tables and Seats: no answer changes', async (t) => {
  const { code, out, err } = await replayed(gateway.logText())
  t.equal(err, '')
  const result: ReplayResult = JSON.parse(out)
  t.same(result.groups, [])
  t.equal(result.changed, 0)
  t.equal(code, 0)
  const {
    not_decided: early = 0,
    target_not_logged: long = 0,
    seats_truncated: cut = 0,
    other_line: other = 0,
  } = result.unjudged
  t.equal(early + long + cut + other + result.same, result.requests, `for no other reason: ${out}`)
  const lines = gateway.log()
  t.equal(early, lines.filter(({ path = null, msg }) => path === null && msg === 'request').length)
  t.equal(long, lines.filter(({ code: of, path }) => of === 'uri_too_long' && path === '/v1/me').length)
  t.equal(long, 1)
  t.equal(other, lines.filter((line) => line['msg'] !== 'request').length)
  t.ok(cut > 0 && cut < first.length / 10)
})

/** Sends the load again: each line of the first that is judged has got the answer that the gateway gives now. */
async function compared(t: Test, reasons: readonly string[]): Promise<void> {
  const second = await load()
  t.equal(second.length, first.length)
  const results = await eachReplayed(first)
  const unjudged = new Map<string, number>()
  const expected = new Map<string, number>()
  for (const [at, line] of first.entries()) {
    const [was, is] = [decisionOf(line), decisionOf(second[at] ?? '')]
    const { same, groups, unjudged: why } = results[at] ?? { same: 0, groups: [], unjudged: {} }
    const [reason] = Object.keys(why)
    if (reason !== undefined) {
      unjudged.set(reason, (unjudged.get(reason) ?? 0) + 1)
      if (reason === 'not_decided') t.equal(was, null)
      continue
    }
    const to = same === 1 ? was : groups[0]?.to
    if (to !== is) t.fail(`${to} is not ${is}: ${line} ${second[at]}`)
    if (was === is) continue
    const route = JSON.parse(second[at] ?? '').route ?? null
    const key = `${was} → ${is} ${JSON.parse(line).method} ${route}`
    expected.set(key, (expected.get(key) ?? 0) + 1)
  }
  for (const reason of unjudged.keys()) t.ok(reasons.includes(reason), reason)
  t.comment(Object.fromEntries([...unjudged, ...expected]))
  const { code, out } = await replayed(`${first.join('\n')}\n`)
  const { groups, ...counts }: ReplayResult = JSON.parse(out)
  const keyOfGroup = ({ from, to, method, route }: ReplayGroup) => `${from} → ${to} ${method} ${route}`
  t.same(
    Object.fromEntries(groups.map((group) => [keyOfGroup(group), group.count])),
    Object.fromEntries(expected),
  )
  t.same(counts.unjudged, Object.fromEntries(unjudged))
  t.equal(
    counts.same + counts.changed + [...unjudged.values()].reduce((sum, each) => sum + each, 0),
    first.length,
  )
  t.ok(expected.size > 2)
  t.equal(code, 3)
}

const STATED = ['not_decided', 'target_not_logged', 'seats_truncated', 'credential_not_read']

t.test('edited tables: what changes is what the gateway answers differently', async (t) => {
  await world.configure({ ...PROVIDER, routes: EDITED })
  await compared(t, STATED)
})

t.test('edited Seats', async (t) => {
  await world.configure({ ...PROVIDER, routes: ROUTES })
  const put = (name: string, body: object) => gateway.admin('PUT', `/v1/seats/${seats[name]}`, body)
  t.equal(
    (await put('Viewer', { permissions: ['trainings:read', 'trainings:delete'], spaces: ['other', 'main'] }))
      .status,
    200,
  )
  t.equal(
    (await put('ns:Editor', { name: 'Author', permissions: ['files:write'] })).status,
    200,
    'a key means it by its id',
  )
  t.equal((await gateway.admin('DELETE', `/v1/seats/${seats['Gone']}`)).status, 204)
  await gateway.seat('Gone', ['main'], ['files:read', 'trainings:list'])
  t.equal((await put('Many 24', { permissions: ['trainings:list'] })).status, 200)
  await compared(t, STATED.slice(0, 3))
})
