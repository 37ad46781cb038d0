/** The line of a request has an end, whatever its credential names. */

import t from 'tap'
import { type Decision, Exchange, PathParams } from '../../src/exchange.ts'
import { fieldLines } from '../../src/http1/field-line.ts'
import { ResponseFields } from '../../src/http1/response-fields.ts'
import { accessLine } from '../../src/telemetry/access-log.ts'
import { firstExchange } from '../support/listener.ts'

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
      seats,
      source: null,
      timings: { match: 0, authenticate: 0, resolve: 0, decide: 0, total: 0 },
    }
    exchange.judgement = { decision, refusal: null, params: PathParams.none, query: '', grants: null }
    return JSON.parse(`{${accessLine(exchange)}}`)['seats'] as string[] | undefined
  }
  t.equal(seatsOf(0), undefined)
  t.same(seatsOf(1), ['S0:unknown'])
  t.equal(seatsOf(20)?.at(-1), 'S19:unknown')
  const many = seatsOf(5000) ?? []
  t.equal(many.length, 21)
  t.equal(many.at(-1), '+4980 more')
  response.writeHead(200, new ResponseFields(fieldLines(['content-length', '0'])))
  response.end()
  t.equal((await answer).status, 200)
})
