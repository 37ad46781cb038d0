/** `seatgate start` with variables of `.env` and of the environment: warnings at the start, and spans at the end. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET } from '../../cli/command-line.ts'
import { startReceiver } from './receiver.ts'

t.test('a process', async (t) => {
  const receiver = await startReceiver(t)
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/trainings.yaml': ROUTES,
    '.env': `OTEL_EXPORTER_OTLP_ENDPOINT=${receiver.url}\nOTEL_SERVICE_NAME=from-env-file\n`,
  })
  const env = {
    ...process.env,
    ACME_SECRET: SECRET,
    TRAININGS_URL: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_TRACES_SAMPLER: 'secret-value',
    // Only the end of the process sends.
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
  }
  const child = spawn(process.execPath, [MAIN, 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const closed = once(child, 'close')
  const lines: Record<string, unknown>[] = []
  let front = ''
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line))
    const [, url] = /listening on (http:\/\/\S+) \(front/.exec(line) ?? []
    front = url ?? front
    if (!line.includes('(/livez')) continue
    t.equal((await fetch(`${front}/v1/trainings`)).status, 401)
    t.equal(receiver.requests, 0, 'the batch waits')
    child.kill('SIGTERM')
  }
  t.same(await closed, [0, null])
  t.match(receiver.spans, [{ name: 'GET /v1/trainings' }])
  t.match(receiver.batches[0]?.resource, { 'service.name': 'from-env-file' })
  const warnings = lines.filter(({ level }) => level === 'warn').map(({ msg }) => String(msg))
  const ofVariables = warnings.filter((each) => each.startsWith('OTEL_'))
  t.equal(ofVariables.length, 2)
  t.match(ofVariables, [/^OTEL_EXPORTER_OTLP_PROTOCOL is grpc, /, /^OTEL_TRACES_SAMPLER is none of /])
  t.notMatch(warnings.join(), 'secret-value')
  const request = lines.find(({ msg }) => msg === 'request')
  t.equal(request?.['trace_id'], receiver.spans[0]?.traceId)
})
