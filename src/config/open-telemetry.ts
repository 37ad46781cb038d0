/**
 * Tracing by the standard `OTEL_*` variables (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 * and …/specs/otel/protocol/exporter/). An empty variable counts as unset, and a value that can't be read as well, with a
 * warning. No warning holds a value.
 */

import type { PemUse } from '../../seats-admin/model/pem-text.ts'
import { type Environment, setVariable } from './environment.ts'
import { InvalidValue, Undetermined } from './invalid-value.ts'
import { readPemFile } from './pem.ts'

/** An hour, in ms. */
const MAX_TIME = 3_600_000
/** Bounds the memory: a span takes at most some 8 KiB, and usually 700 bytes. */
const MAX_QUEUE = 65_536
const BATCH_SIZE = 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'
/** The default of the specification of OTLP. */
const PROTOCOL = 'http/protobuf'
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

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** A field value that can be sent (RFC 9110, section 5.5). */
const HEADER_VALUE = /^[\t -~]*$/
/** Fields of the exporter itself. */
const RESERVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export type OpenTelemetryConfig = ReturnType<typeof readOpenTelemetry>
export type TracesConfig = NonNullable<OpenTelemetryConfig['traces']>
export type BatchConfig = TracesConfig['batches']
export type SamplerConfig = TracesConfig['sampler']

/** What the `OTEL_*` variables say. @param env as the gateway sees it, `.env` included */
export function readOpenTelemetry(env: Environment) {
  const variables = new Variables(env)
  const isOff =
    variables.choice('OTEL_SDK_DISABLED', ['true', 'false'], 'false') === 'true' ||
    variables.choice('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'none'
  const traces = isOff ? null : tracesOf(variables)
  return Object.freeze({
    /** Null: no request is traced. */
    traces,
    /** For the log, at the start. */
    warnings: Object.freeze(variables.warnings as readonly string[]),
  })
}

/** Null without an endpoint, and where the exporter would not be as it is meant: without its certificates, say. */
function tracesOf(variables: Variables) {
  const endpoint = endpointOf(variables)
  if (endpoint === null) return null
  const ca = pemOf(variables, 'CERTIFICATE', 'authorities')
  const cert = pemOf(variables, 'CLIENT_CERTIFICATE', 'certificate')
  const key = pemOf(variables, 'CLIENT_KEY', 'key')
  if (ca === undefined || cert === undefined || key === undefined) return null
  checkProtocol(variables)
  return Object.freeze({
    /** Where batches are posted: an absolute URL. */
    endpoint,
    /** Name, value, … of headers with each batch; they may be secrets. */
    headers: Object.freeze(variables.headers(variables.otlp('HEADERS'))),
    /** ms, of one attempt to send a batch. */
    timeout: variables.integer(variables.otlp('TIMEOUT'), 10_000, 600_000),
    gzip: variables.choice(variables.otlp('COMPRESSION'), ['none', 'gzip'], 'none') === 'gzip',
    /** PEM texts, for an endpoint by https. */
    ca,
    cert,
    key,
    /** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. */
    resource: Object.freeze(resourceOf(variables)),
    sampler: Object.freeze(samplerOf(variables)),
    /** Whether `traceparent` is read and written; otherwise it passes as other headers do. */
    propagates: propagates(variables),
    batches: Object.freeze(bspOf(variables)),
  })
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

function checkProtocol(variables: Variables): void {
  const name = variables.otlp('PROTOCOL')
  if ((variables.get(name)?.toLowerCase() ?? PROTOCOL) !== PROTOCOL)
    variables.warn(
      name,
      `is not ${PROTOCOL}, the only one supported: it is used, at most collectors on port 4318`,
    )
}

/** @returns null without one, undefined for one that can't be read */
function pemOf(variables: Variables, name: string, use: PemUse): string | null | undefined {
  const variable = variables.otlp(name)
  const file = variables.get(variable)
  if (file === null) return null
  const pem = readPemFile(file, use)
  if (!(pem instanceof InvalidValue)) return pem
  // What names no file may be a secret that was set by mistake.
  const named = pem instanceof Undetermined ? 'a file that' : `the file ${JSON.stringify(file)}, which`
  variables.warn(variable, `names ${named} ${pem.message}. Requests are not traced`)
  return undefined
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
  const text = variables.get(name) ?? 'tracecontext,baggage'
  const names = text.split(',').map((each) => each.trim().toLowerCase())
  // Baggage passes as any header does.
  if (names.some((each) => !['tracecontext', 'baggage', 'none'].includes(each)))
    variables.warn(name, 'has others than tracecontext and none: they are ignored')
  return names.includes('tracecontext')
}

/** `OTEL_BSP_*`: the queue of spans and its batches. Times in ms. */
function bspOf(variables: Variables) {
  const queue = variables.integer('OTEL_BSP_MAX_QUEUE_SIZE', 2048, MAX_QUEUE)
  return {
    /** Spans that may wait, those being sent included. */
    queue,
    delay: variables.integer('OTEL_BSP_SCHEDULE_DELAY', 5000, MAX_TIME),
    // The default batch may be more than a small queue holds.
    size:
      variables.get(BATCH_SIZE) === null
        ? Math.min(512, queue)
        : variables.integer(BATCH_SIZE, Math.min(512, queue), queue),
    /** Of a batch with all its attempts. */
    timeout: variables.integer('OTEL_BSP_EXPORT_TIMEOUT', 30_000, MAX_TIME),
  }
}

/** `OTEL_TRACES_SAMPLER` and its argument. */
function samplerOf(variables: Variables) {
  const sampler = variables.choice(SAMPLER, SAMPLERS, 'parentbased_always_on')
  return {
    /** The decision of the caller counts where the trace is continued. */
    parentBased: sampler.startsWith('parentbased_'),
    /** Of the traces that begin here, from 0 to 1. */
    ratio: ratioOf(variables, sampler),
  }
}

function ratioOf(variables: Variables, sampler: string): number {
  if (sampler.endsWith('always_on')) return 1
  if (sampler.endsWith('always_off')) return 0
  const text = variables.get(SAMPLER_ARGUMENT)
  if (text === null) return 1
  const ratio = Number(text)
  if (/^[0-9.eE-]+$/.test(text) && ratio >= 0 && ratio <= 1) return ratio
  variables.warn(SAMPLER_ARGUMENT, 'is not a number from 0 to 1: 1 is used')
  return 1
}

/** Reads values of `OTEL_*` variables, and collects warnings about those that can't be read. */
class Variables {
  readonly #env: Environment
  readonly warnings: string[] = []

  constructor(env: Environment) {
    this.#env = env
  }

  warn(name: string, fault: string): void {
    this.warnings.push(`${name} ${fault}`)
  }

  /** Null: unset or empty. */
  get(name: string): string | null {
    return setVariable(this.#env, name)
  }

  /** The name of the variable that counts: the one for traces alone before the one for all signals. */
  otlp(name: string): string {
    const own = `OTEL_EXPORTER_OTLP_TRACES_${name}`
    return this.get(own) === null ? `OTEL_EXPORTER_OTLP_${name}` : own
  }

  /** In any case. */
  choice<C extends string>(name: string, choices: readonly C[], usual: C): C {
    const value = this.get(name)?.toLowerCase() ?? usual
    const found = choices.find((each) => each === value)
    if (found === undefined) this.warn(name, `is none of ${choices.join(', ')}: ${usual} is used`)
    return found ?? usual
  }

  /** From 1. */
  integer(name: string, usual: number, most: number): number {
    const value = this.get(name)
    if (value === null) return usual
    if (/^[1-9][0-9]{0,8}$/.test(value) && Number(value) <= most) return Number(value)
    this.warn(name, `is not a number from 1 to ${most}: ${usual} is used`)
    return usual
  }

  /**
   * `key=value,key=value`, percent-encoded. The whole value is ignored where a part of it is malformed (Resource SDK,
   * "Specifying resource information via an environment variable").
   */
  pairs(name: string): [string, string][] {
    const parts = (this.get(name) ?? '').split(',').filter((part) => part.trim() !== '')
    const pairs = parts.map(decodedPair)
    if (pairs.every((pair) => pair !== null)) return pairs
    this.warn(name, 'is not key=value,key=value with percent-encoded values: it is ignored')
    return []
  }

  /** @returns name in lower case, value, … */
  headers(name: string): string[] {
    const pairs = this.pairs(name)
    const isHeader = ([key, value]: [string, string]) =>
      HEADER_NAME.test(key) && HEADER_VALUE.test(value) && !RESERVED.has(key.toLowerCase())
    if (pairs.every(isHeader)) return pairs.flatMap(([key, value]) => [key.toLowerCase(), value])
    this.warn(name, 'has a header that cannot be sent: it is ignored')
    return []
  }
}

/** Null: malformed. */
function decodedPair(part: string): [string, string] | null {
  const equals = part.indexOf('=')
  if (equals < 0) return null
  try {
    const key = decodeURIComponent(part.slice(0, equals).trim())
    return key === '' ? null : [key, decodeURIComponent(part.slice(equals + 1).trim())]
  } catch {
    return null
  }
}
