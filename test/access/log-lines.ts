/** Lines of the access log for decisions that a test makes, as the gateway writes them. */

import type { Test } from 'tap'
import { Exchange } from '../../src/http/server/exchange.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import type { Evaluation } from '../../src/model/decision.ts'
import { type ErrorCode, Refusal } from '../../src/model/errors.ts'
import { accessLine } from '../../src/telemetry/access-log.ts'
import { firstExchange } from '../support/listener.ts'

type LineOf = (evaluation: Evaluation | null, method: string, later?: ErrorCode | null) => string

/** @returns makes a line; `later` is the code of a refusal behind the decision */
export async function logLines(t: Test): Promise<LineOf> {
  const { port, asked } = await firstExchange(t)
  const answer = fetch(`http://127.0.0.1:${port}/`)
  const { request, response } = await asked
  t.teardown(async () => {
    response.writeHead(200, ResponseFields.of(['content-length', '0']))
    response.end()
    await answer
  })
  return (evaluation, method, later = null) => {
    Object.defineProperty(request, 'method', { value: method, configurable: true })
    const exchange = new Exchange(request, response, 'an-id', 0)
    exchange.evaluation = evaluation
    exchange.refusal = evaluation?.refusal ?? (later === null ? null : new Refusal(later, ''))
    const time = '2026-01-05T00:00:00.003Z'
    return `{"level":"info","time":"${time}",${accessLine(exchange)},"msg":"request"}`
  }
}
