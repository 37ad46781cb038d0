/** The traces of programs that ask by AuthZEN. */

import t, { type Test } from 'tap'
import { startReceiver } from '../../telemetry/tracing/receiver.ts'
import { onRoute, startPep } from './support.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const SERVER = 2

/** The span of one question, which says that it belongs to a trace. */
async function spanOf(t: Test, top: readonly string[]) {
  const receiver = await startReceiver(t)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '1' }
  const pep = await startPep(t, { env, top })
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, 'x-request-id': 'of-the-pep' }
  const answer = await pep.ask('/access/v1/evaluation', onRoute('seat:pep', 'GET', '/v1/me'), headers)
  t.match(answer, { status: 200, headers: { 'x-request-id': 'of-the-pep' } })
  const span = await receiver.spanWhere(
    ({ attributes }) => attributes['seatgate.request_id'] === 'of-the-pep',
  )
  t.match(span, { kind: SERVER, name: 'POST /access/v1/evaluation' })
  return span
}

t.test('a trusted proxy continues its trace', async (t) => {
  t.match(await spanOf(t, ['trusted_proxies: [127.0.0.1]']), {
    traceId: TRACE,
    parentSpanId: SPAN,
    links: [],
  })
})

t.test('the trace of any other program is linked, although its request id is echoed', async (t) => {
  const span = await spanOf(t, [])
  t.not(span?.traceId, TRACE)
  t.match(span, { parentSpanId: '', links: [{ traceId: TRACE, spanId: SPAN }] })
})
