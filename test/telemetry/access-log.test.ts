/** The line of a request has an end, whatever its credential names. */

import t from 'tap'
import { Exchange } from '../../src/http/server/exchange.ts'
import { type Decision, type Evaluation, PathParams } from '../../src/model/decision.ts'
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
    ...more,
  }
  return { decision, refusal: null, params: PathParams.none, query: '', resolved: null }
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
