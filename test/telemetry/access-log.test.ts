/** The line of a request has an end, whatever its credential names. */

import t from 'tap'
import { Exchange } from '../../src/http/server/exchange.ts'
import { type Decision, type Evaluation, PathParams } from '../../src/model/decision.ts'
import { type ErrorCode, Refusal } from '../../src/model/errors.ts'
import type { Principal, SeatClaims } from '../../src/model/principal.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { accessLine } from '../../src/telemetry/access-log.ts'
import { firstExchange } from '../support/listener.ts'

function evaluationOf(more: Partial<Decision>): Evaluation {
  const decision: Decision = {
    answer: 'deny',
    code: 'permission_denied',
    reason: '',
    method: 'GET',
    path: '/',
    route: null,
    permission: null,
    principal: null,
    space: null,
    seats: [],
    grantedIn: [],
    source: null,
    timings: { match: 0, authenticate: 0, resolve: 0, decide: 0, total: 0 },
    config: null,
    ...more,
  }
  return {
    decision,
    refusal: null,
    grants: null,
    caller: null,
    params: PathParams.none,
    query: '',
    cors: null,
    preflight: null,
  }
}

t.test('the first twenty Seats are named', async (t) => {
  const { port, asked } = await firstExchange(t)
  const answer = fetch(`http://127.0.0.1:${port}/`)
  const { request, response } = await asked
  const seatsOf = (count: number) => {
    const exchange = new Exchange(request, response, 'id', 0)
    const seats = Array.from({ length: count }, (_, i) => ({
      name: `S${i}`,
      id: null,
      verdict: 'unknown' as const,
    }))
    exchange.evaluation = evaluationOf({ seats })
    return JSON.parse(`{${accessLine(exchange)}}`)['seats'] as string[] | undefined
  }
  t.equal(seatsOf(0), undefined)
  t.same(seatsOf(1), ['S0:unknown'])
  t.equal(seatsOf(20)?.at(-1), 'S19:unknown')
  const many = seatsOf(5000) ?? []
  t.equal(many.length, 21)
  t.equal(many.at(-1), '+4980 more')
  response.writeHead(200, ResponseFields.of(['content-length', '0']))
  response.end()
  t.equal((await answer).status, 200)
})

const principalOf = (claims: SeatClaims): Principal => ({
  method: claims.by === 'id' ? 'api-key' : 'bearer',
  tenant: 'acme',
  user: 'alice',
  email: null,
  claims,
  owner: 'alice',
  issuedAt: 17,
  session: null,
  validUntil: null,
})
const manyNames = Array.from({ length: 25 }, (_, i) => `S${i}`)

t.test('what a credential names is in the line, on routes of each kind', async (t) => {
  const { port, asked } = await firstExchange(t)
  const answer = fetch(`http://127.0.0.1:${port}/`)
  const { request, response } = await asked
  const lineOf = (more: Partial<Decision>) => {
    const exchange = new Exchange(request, response, 'id', 0)
    exchange.evaluation = evaluationOf(more)
    return JSON.parse(`{${accessLine(exchange)}}`)
  }
  const token = principalOf({ by: 'name', entries: new Map([['main', ['A', 'b:c']]]), issuedAt: 17 })
  const authenticated = { permission: 'authenticated', space: 'main' }
  t.match(lineOf({ ...authenticated, principal: token }), {
    space: 'main',
    issued_at: 17,
    seats: ['A:named', 'b:c:named'],
  })
  const elsewhere = lineOf({ ...authenticated, principal: token, space: 'other' })
  t.match(elsewhere, { space: 'other', issued_at: 17, seats: undefined, any_space: undefined })
  const spaceless = lineOf({ ...authenticated, principal: token, space: null })
  t.match(spaceless, { issued_at: 17, seats: undefined, space: undefined })

  const ofProvider = principalOf({ by: 'any-space', names: manyNames, issuedAt: -Infinity })
  const provided = lineOf({ ...authenticated, principal: ofProvider })
  t.match(provided, { issued_at: null, any_space: true })
  t.same(provided.seats, [...manyNames.slice(0, 20).map((name) => `${name}:named`), '+5 more'])

  const key = principalOf({ by: 'id', seats: manyNames })
  const ofKey = lineOf({ ...authenticated, principal: key })
  t.same(ofKey.seat_ids, [...manyNames.slice(0, 20), '+5 more'])
  t.match(ofKey, { seats: undefined, issued_at: undefined })
  const seats = [{ name: 'A', id: 'S0', verdict: 'grants' as const }]
  const one = lineOf({
    permission: 'p:q',
    space: 'main',
    principal: principalOf({ by: 'id', seats: ['S0'] }),
    seats,
  })
  t.match(one, { seat_ids: ['S0'], seats: ['A:grants'] })
  t.same(lineOf({ ...authenticated, principal: principalOf({ by: 'id', seats: [] }) }).seat_ids, [])
  response.writeHead(200, ResponseFields.of(['content-length', '0']))
  response.end()
  t.equal((await answer).status, 200)
})

t.test('a refusal behind the decision does not hide it', async (t) => {
  const { port, asked } = await firstExchange(t)
  const answer = fetch(`http://127.0.0.1:${port}/`)
  const { request, response } = await asked
  const lineOf = (decided: Decision['code'], refused: ErrorCode | null) => {
    const exchange = new Exchange(request, response, 'id', 0)
    exchange.evaluation = evaluationOf({ code: decided })
    exchange.refusal = refused === null ? null : new Refusal(refused, '')
    return JSON.parse(`{${accessLine(exchange)}}`)
  }
  t.match(lineOf('allow', 'upstream_timeout'), { code: 'upstream_timeout', decision: 'allow' })
  t.match(lineOf('allow', 'permission_denied'), { code: 'permission_denied', decision: 'allow' })
  t.match(lineOf('allow', null), { code: 'allow', decision: undefined })
  t.match(lineOf('permission_denied', 'permission_denied'), {
    code: 'permission_denied',
    decision: undefined,
  })
  response.writeHead(200, ResponseFields.of(['content-length', '0']))
  response.end()
  t.equal((await answer).status, 200)
})

t.test('the host is in lower case, without port, and cut', async (t) => {
  const { port, asked } = await firstExchange(t)
  const answer = fetch(`http://127.0.0.1:${port}/`)
  const { request, response } = await asked
  const cases: [host: string | null, name: string | null][] = [
    ['A.example:8080', 'a.example'],
    ['a.example', 'a.example'],
    ['[::1]:80', '[::1]'],
    ['[::1]', '[::1]'],
    [`${'x'.repeat(300)}:1`, 'x'.repeat(255)],
    ['\u00e9.example', '\u00e9.example'],
    ['', ''],
    [null, null],
  ]
  // Each after another one, and after itself.
  for (const [host, name] of cases.flatMap((each) => [each, each])) {
    Object.defineProperty(request, 'host', { value: host, configurable: true })
    t.equal(JSON.parse(`{${accessLine(new Exchange(request, response, 'id', 0))}}`).host, name)
  }
  response.writeHead(200, ResponseFields.of(['content-length', '0']))
  response.end()
  t.equal((await answer).status, 200)
})

t.test('of the same headers from many places, for many routes, each line is of its own', async (t) => {
  const { port, asked } = await firstExchange(t)
  const answer = fetch(`http://127.0.0.1:${port}/`)
  const { request, response } = await asked
  const line = (permission: string) => {
    const exchange = new Exchange(request, response, 'id', 0)
    exchange.evaluation = evaluationOf({ permission, space: `of ${permission}` })
    return JSON.parse(`{${accessLine(exchange)}}`) as Record<string, unknown>
  }
  for (const routes of [1, 2, 8, 9, 20])
    for (let turn = 0; turn < 3 * routes; turn++) {
      const permission = `p:${turn % routes}`
      t.match(line(permission), { permission, space: `of ${permission}` })
    }
  for (let turn = 0; turn < 2000; turn++) {
    const client = `10.0.0.${turn % 190}`
    Object.defineProperty(request.socket, 'remoteAddress', { value: client, configurable: true })
    const permission = `p:${turn % 3}`
    t.match(line(permission), { client, permission })
  }
  response.writeHead(200, ResponseFields.of(['content-length', '0']))
  response.end()
  t.equal((await answer).status, 200)
})
