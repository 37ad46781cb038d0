/** The `OTEL_*` variables: what counts, and what is warned of. */

import { join } from 'node:path'
import t from 'tap'
import { readOpenTelemetry } from '../../src/config/open-telemetry.ts'
import { pack, unpack } from '../../src/config/worker-copy.ts'

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const ON = { [ENDPOINT]: 'http://collector:4318' }
const read = (env: Record<string, string>) => readOpenTelemetry({ ...ON, ...env })

t.test('off', async (t) => {
  const cases: Record<string, string>[] = [
    { [ENDPOINT]: '' },
    { OTEL_SDK_DISABLED: 'TRUE' },
    { OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: 'unknown' },
    { OTEL_TRACES_EXPORTER: 'none' },
  ]
  for (const env of cases) t.same(await read(env), { traces: null, warnings: [] }, JSON.stringify(env))
  t.same(await readOpenTelemetry({ OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), {
    traces: null,
    warnings: [],
  })
})

t.test('defaults', async (t) => {
  const { traces, warnings } = await read({ OTEL_SDK_DISABLED: 'false', OTEL_TRACES_SAMPLER: ' ' })
  t.same(warnings, [])
  t.same(traces, {
    endpoint: 'http://collector:4318/v1/traces',
    headers: [],
    timeout: 10_000,
    gzip: false,
    ca: null,
    cert: null,
    key: null,
    resource: [],
    sampler: { parentBased: true, ratio: 1 },
    propagates: true,
    batches: { queue: 2048, delay: 5000, size: 512, timeout: 30_000 },
  })
  t.same(unpack(structuredClone(pack(traces))), traces, 'workers get a copy')
})

t.test('the endpoint', async (t) => {
  const cases: Record<string, string> = {
    'http://a:4318': 'http://a:4318/v1/traces',
    'http://a:4318/': 'http://a:4318/v1/traces',
    'https://a/otel/': 'https://a/otel/v1/traces',
    'https://a/otel?key=1': 'https://a/otel/v1/traces?key=1',
  }
  for (const [endpoint, expected] of Object.entries(cases))
    t.equal((await read({ [ENDPOINT]: endpoint })).traces?.endpoint, expected)
  const own = await read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b/as/it/is' })
  t.equal(own.traces?.endpoint, 'https://b/as/it/is')
})

t.test('a value for traces counts before the one for all signals', async (t) => {
  const env = {
    OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'B=2,c=%20x%2C',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'HTTP/Protobuf',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  }
  const { traces, warnings } = await read(env)
  t.match(traces, { timeout: 2, headers: ['b', '2', 'c', ' x,'], gzip: true })
  t.same(warnings, [])
})

t.test('samplers', async (t) => {
  const cases: [sampler: string, argument: string, parentBased: boolean, ratio: number][] = [
    ['always_on', '0.5', false, 1],
    ['always_off', '', false, 0],
    ['traceidratio', '0.25', false, 0.25],
    ['traceidratio', '', false, 1],
    ['parentbased_always_on', '', true, 1],
    ['parentbased_always_off', '', true, 0],
    ['parentbased_traceidratio', '1e-3', true, 0.001],
  ]
  for (const [sampler, argument, parentBased, ratio] of cases) {
    const { traces, warnings } = await read({
      OTEL_TRACES_SAMPLER: sampler,
      OTEL_TRACES_SAMPLER_ARG: argument,
    })
    t.same(traces?.sampler, { parentBased, ratio }, sampler)
    t.same(warnings, [])
  }
})

t.test('what cannot be read gets its default, and a warning without the value', async (t) => {
  const ratio = { OTEL_TRACES_SAMPLER: 'traceidratio' }
  const cases: [env: Record<string, string>, variable: string][] = [
    [{ OTEL_SDK_DISABLED: 'v4lue' }, 'OTEL_SDK_DISABLED'],
    [{ OTEL_TRACES_EXPORTER: 'v4lue' }, 'OTEL_TRACES_EXPORTER'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'v4lue' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'v4lue' }, 'OTEL_EXPORTER_OTLP_COMPRESSION'],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: '-1' }, 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: '1e3' }, 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'v4lue' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=v4lue%0d%0ab:c' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'content-length=v4lue' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'a=1,b=v4lue%zz' }, 'OTEL_RESOURCE_ATTRIBUTES'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'a=1,v4lue' }, 'OTEL_RESOURCE_ATTRIBUTES'],
    [{ OTEL_TRACES_SAMPLER: 'v4lue' }, 'OTEL_TRACES_SAMPLER'],
    [{ ...ratio, OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG'],
    [{ ...ratio, OTEL_TRACES_SAMPLER_ARG: 'v4lue' }, 'OTEL_TRACES_SAMPLER_ARG'],
    [{ OTEL_PROPAGATORS: 'tracecontext,v4lue' }, 'OTEL_PROPAGATORS'],
    [{ OTEL_BSP_MAX_QUEUE_SIZE: '0' }, 'OTEL_BSP_MAX_QUEUE_SIZE'],
    [{ OTEL_BSP_MAX_QUEUE_SIZE: '99999999' }, 'OTEL_BSP_MAX_QUEUE_SIZE'],
    [{ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4096' }, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'],
    [{ OTEL_BSP_SCHEDULE_DELAY: 'v4lue' }, 'OTEL_BSP_SCHEDULE_DELAY'],
    [{ OTEL_BSP_EXPORT_TIMEOUT: '1.5' }, 'OTEL_BSP_EXPORT_TIMEOUT'],
  ]
  const usual = (await read({})).traces
  for (const [env, variable] of cases) {
    const { traces, warnings } = await read(env)
    t.equal(warnings.length, 1, JSON.stringify(env))
    t.match(warnings[0], new RegExp(`^${variable} `))
    t.notMatch(warnings[0], 'v4lue')
    const expected = {
      ...usual,
      sampler: { parentBased: env['OTEL_TRACES_SAMPLER'] !== 'traceidratio', ratio: 1 },
    }
    t.same(traces, expected, JSON.stringify(env))
  }
})

t.test('without what the exporter needs, nothing is traced', async (t) => {
  const missing = join(t.testdir(), 'missing.pem')
  const cases: Record<string, string>[] = [
    { [ENDPOINT]: 'collector:4318' },
    { [ENDPOINT]: 'ftp://collector' },
    { [ENDPOINT]: 'http://user:v4lue@collector' },
    { OTEL_EXPORTER_OTLP_CERTIFICATE: missing },
    { OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: missing },
  ]
  for (const env of cases) {
    const { traces, warnings } = await read(env)
    t.equal(traces, null)
    t.match(warnings, [/[Rr]equests are not traced$/])
    t.notMatch(warnings, [/v4lue/])
  }
})

t.test('the resource and the propagators', async (t) => {
  const env = { OTEL_SERVICE_NAME: 'edge', OTEL_RESOURCE_ATTRIBUTES: 'service.name=x, a.b=caf%C3%A9 ,' }
  t.same((await read(env)).traces?.resource, [
    ['service.name', 'edge'],
    ['a.b', 'café'],
  ])
  t.equal((await read({ OTEL_PROPAGATORS: 'none' })).traces?.propagates, false)
  t.equal((await read({ OTEL_PROPAGATORS: 'baggage, tracecontext' })).traces?.propagates, true)
  t.equal((await read({ OTEL_BSP_MAX_QUEUE_SIZE: '100' })).traces?.batches.size, 100)
})
