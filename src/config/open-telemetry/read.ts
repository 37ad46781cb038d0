/**
 * Tracing by the standard `OTEL_*` variables (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 * and …/specs/otel/protocol/exporter/). An empty variable counts as unset, and a value that can't be read as well, with a
 * warning. No warning holds a value.
 */

import { readFile } from 'node:fs/promises'
import type { BatchConfig, OpenTelemetryConfig, SamplerConfig, TracesConfig } from './types.ts'
import { Variables } from './variables.ts'

/** An hour, in ms. */
const MAX_TIME = 3_600_000
/** Bounds the memory: a span takes at most some 8 KiB, and usually 700 bytes. */
const MAX_QUEUE = 65_536
const BATCH_SIZE = 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'
const SAMPLER = 'OTEL_TRACES_SAMPLER'
const SAMPLER_ARGUMENT = 'OTEL_TRACES_SAMPLER_ARG'
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** @param env as the gateway sees it, `.env` included */
export async function readOpenTelemetry(
  env: Readonly<Record<string, string | undefined>>,
): Promise<OpenTelemetryConfig> {
  const variables = new Variables(env)
  const isOff = variables.flag('OTEL_SDK_DISABLED') || exporterOf(variables) === 'none'
  const traces = isOff ? null : await tracesOf(variables)
  return Object.freeze({ traces, warnings: Object.freeze(variables.warnings) })
}

/** Null without an endpoint, and where the exporter would not be as it is meant: without its certificates, say. */
async function tracesOf(variables: Variables): Promise<TracesConfig | null> {
  const endpoint = endpointOf(variables)
  if (endpoint === null) return null
  const ca = await pemOf(variables, 'CERTIFICATE')
  const cert = await pemOf(variables, 'CLIENT_CERTIFICATE')
  const key = await pemOf(variables, 'CLIENT_KEY')
  if (ca === undefined || cert === undefined || key === undefined) return null
  return Object.freeze({
    endpoint,
    protocol: protocolOf(variables),
    headers: Object.freeze(variables.headers(variables.otlp('HEADERS'))),
    timeout: variables.integer(variables.otlp('TIMEOUT'), 10_000, 600_000),
    gzip: variables.choice(variables.otlp('COMPRESSION'), ['none', 'gzip'], 'none') === 'gzip',
    ca,
    cert,
    key,
    resource: Object.freeze(resourceOf(variables)),
    sampler: Object.freeze(samplerOf(variables)),
    propagates: propagates(variables),
    batches: Object.freeze(bspOf(variables)),
  })
}

function exporterOf(variables: Variables): string {
  return variables.choice('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp')
}

/** The one for traces is taken as it is; the path of the other is that of a base. */
function endpointOf(variables: Variables): string | null {
  const name = variables.otlp('ENDPOINT')
  const text = variables.get(name)
  if (text === null) return null
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    variables.warn(name, 'is not http://host or https://host: requests are not traced')
    return null
  }
  if (!name.includes('TRACES')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return url.href
}

function protocolOf(variables: Variables): TracesConfig['protocol'] {
  const name = variables.otlp('PROTOCOL')
  if (variables.get(name) === 'grpc') {
    variables.warn(
      name,
      'is grpc, which is not supported: http/protobuf is used, at most collectors on port 4318',
    )
    return 'http/protobuf'
  }
  return variables.choice(name, ['http/protobuf', 'http/json'], 'http/protobuf')
}

/** @returns null without one, undefined for one that can't be read */
async function pemOf(variables: Variables, name: string): Promise<string | null | undefined> {
  const variable = variables.otlp(name)
  const file = variables.get(variable)
  if (file === null) return null
  try {
    return await readFile(file, 'utf8')
  } catch {
    variables.warn(variable, 'names a file that cannot be read: requests are not traced')
    return undefined
  }
}

/** Of two names for the service, its own variable counts. */
function resourceOf(variables: Variables): (readonly [string, string])[] {
  const attributes = variables.pairs('OTEL_RESOURCE_ATTRIBUTES')
  const name = variables.get('OTEL_SERVICE_NAME')
  const own = name === null ? [] : [['service.name', name] as const]
  return [...new Map([...attributes, ...own])]
}

function propagates(variables: Variables): boolean {
  const name = 'OTEL_PROPAGATORS'
  const names = variables.list(name) ?? ['tracecontext', 'baggage']
  // Baggage passes as any header does.
  if (names.some((each) => !['tracecontext', 'baggage', 'none'].includes(each)))
    variables.warn(name, 'has others than tracecontext and none: they are ignored')
  return names.includes('tracecontext')
}

/** `OTEL_BSP_*`: the queue of spans and its batches. */
function bspOf(variables: Variables): BatchConfig {
  const queue = variables.integer('OTEL_BSP_MAX_QUEUE_SIZE', 2048, MAX_QUEUE)
  return {
    queue,
    delay: variables.integer('OTEL_BSP_SCHEDULE_DELAY', 5000, MAX_TIME),
    // The default batch may be more than a small queue holds.
    size:
      variables.get(BATCH_SIZE) === null
        ? Math.min(512, queue)
        : variables.integer(BATCH_SIZE, Math.min(512, queue), queue),
    timeout: variables.integer('OTEL_BSP_EXPORT_TIMEOUT', 30_000, MAX_TIME),
  }
}

/** `OTEL_TRACES_SAMPLER` and its argument. */
function samplerOf(variables: Variables): SamplerConfig {
  const sampler = variables.choice(SAMPLER, SAMPLERS, 'parentbased_always_on')
  const parentBased = sampler.startsWith('parentbased_')
  if (sampler.endsWith('always_on')) return { parentBased, ratio: 1 }
  if (sampler.endsWith('always_off')) return { parentBased, ratio: 0 }
  return { parentBased, ratio: ratioOf(variables) }
}

function ratioOf(variables: Variables): number {
  const text = variables.get(SAMPLER_ARGUMENT)
  if (text === null) return 1
  const ratio = Number(text)
  if (/^[0-9.eE-]+$/.test(text) && ratio >= 0 && ratio <= 1) return ratio
  variables.warn(SAMPLER_ARGUMENT, 'is not a number from 0 to 1: 1 is used')
  return 1
}
