/** `seatgate start` with variables of `.env` and of the environment: warnings at the start, and spans at the end. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeConfiguration } from '../../support/configuration.ts'
import { startGatewayProcess } from '../../support/gateway-process.ts'
import { inTime } from '../../support/in-time.ts'
import { serverFolder } from '../../support/servers/folder.ts'
import { LAST_WAIT } from './exporting.ts'
import { startReceiver } from './receiver.ts'

/** A gateway that has received a request, and has ended. */
async function end(t: Test) {
  const receiver = await startReceiver(t)
  const folder = serverFolder(t, 'tracing')
  writeConfiguration(folder)
  const variables = `OTEL_EXPORTER_OTLP_ENDPOINT=${receiver.url}\nOTEL_SERVICE_NAME=from-env-file\n`
  writeFileSync(join(folder, '.env'), variables)
  const env = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_TRACES_SAMPLER: 'secret-value',
    // Only the end of the process sends.
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
  }
  const gateway = await startGatewayProcess(t, { folder, env })
  t.equal((await fetch(`${gateway.origin}/v1/trainings`)).status, 401)
  t.equal(receiver.requests, 0, 'the batch waits')
  const ending = performance.now()
  t.equal(await gateway.end(), 0)
  return { value: { receiver, gateway }, took: performance.now() - ending }
}

t.test('a process', async (t) => {
  const { receiver, gateway } = await inTime(
    LAST_WAIT,
    (ended) => ended.receiver.spans.length > 0,
    () => end(t),
  )
  t.match(receiver.spans, [{ name: 'GET /v1/trainings' }])
  t.match(receiver.batches[0]?.resource, { 'service.name': 'from-env-file' })
  const warnings = gateway.lines().filter(({ level }) => level === 'warn')
  const messages = warnings.map(({ msg }) => String(msg)).filter((msg) => msg.startsWith('OTEL_'))
  t.equal(messages.length, 2)
  t.match(messages, [/^OTEL_EXPORTER_OTLP_PROTOCOL is not /, /^OTEL_TRACES_SAMPLER is none of /])
  t.notMatch(gateway.log, 'secret-value')
  t.equal(gateway.lines('requests')[0]?.['trace_id'], receiver.spans[0]?.traceId)
})
