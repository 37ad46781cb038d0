/** The trace of a question of Envoy is that of its call, not of the request that it asks about. */

import { Metadata } from '@grpc/grpc-js'
import t from 'tap'
import { startReceiver } from '../../telemetry/tracing/receiver.ts'
import { startEnvoy } from './envoy.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

t.test('the tracestate of the client is dropped where the trace of Envoy continues', async (t) => {
  const receiver = await startReceiver(t)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '1' }
  const { envoy } = await startEnvoy(t, { env, top: ['trusted_proxies: [127.0.0.1]'] })
  const metadata = new Metadata()
  metadata.set('traceparent', `00-${TRACE}-${SPAN}-01`)
  const spanOf = async (id: string) => {
    const headers = [['tracestate', 'client=1'] as const, ['x-request-id', id] as const]
    await envoy.check({ path: '/docs/a', headers }, true, metadata)
    return receiver.spanWhere(({ attributes }) => attributes['seatgate.request_id'] === id)
  }
  t.match(await spanOf('without'), { traceId: TRACE, parentSpanId: SPAN, traceState: '' })
  metadata.set('tracestate', 'envoy=2')
  t.match(await spanOf('with'), { traceId: TRACE, parentSpanId: SPAN, traceState: 'envoy=2' })
})
