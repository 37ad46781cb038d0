/**
 * Tracing by the standard `OTEL_*` variables
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ and
 * …/specs/otel/protocol/exporter/). An empty variable has the same effect as an unset one, and so has an
 * invalid value, with a warning. No warning contains a value.
 */

import type { PemUse } from '../../seats-admin/model/pem-text.ts'
import { type Environment, setVariable } from './environment.ts'
import { InvalidValue, Undetermined } from './invalid-value.ts'
import { readPemFile } from './pem.ts'

/** The longest time in ms: an hour. */
const MAX_TIME = 3_600_000
/** The maximum number of spans that wait. A span takes 700 bytes on average and at most about 8 KiB. */
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
/** A valid field value (RFC 9110, section 5.5). */
const HEADER_VALUE = /^[\t -~]*$/
/** The fields that the exporter writes itself. */
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

/**
 * Reads the `OTEL_*` variables.
 *
 * @param env the variables of the process and of `.env`
 */
export function readOpenTelemetry(env: Environment) {
  const variables = new Variables(env)
  const isOff =
    variables.choice('OTEL_SDK_DISABLED', ['true', 'false'], 'false') === 'true' ||
    variables.choice('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'none'
  const traces = isOff ? null : tracesOf(variables)
  return Object.freeze({
    /** The settings of traces; null: no request is traced. */
    traces,
    /** The warnings that the gateway logs when it starts. */
    warnings: Object.freeze(variables.warnings as readonly string[]),
  })
}

/** @returns null without an endpoint, and if the exporter could not use its certificates */
function tracesOf(variables: Variables) {
  const endpoint = endpointOf(variables)
  if (endpoint === null) return null
  const ca = pemOf(variables, 'CERTIFICATE', 'authorities')
  const cert = pemOf(variables, 'CLIENT_CERTIFICATE', 'certificate')
  const key = pemOf(variables, 'CLIENT_KEY', 'key')
  if (ca === undefined || cert === undefined || key === undefined) return null
  checkProtocol(variables)
  return Object.freeze({
    /** The absolute URL that batches are sent to. */
    endpoint,
    /** The headers of each batch as name, value, …. They may contain secrets. */
    headers: Object.freeze(variables.headers(variables.otlp('HEADERS'))),
    /** The time limit of one attempt to send a batch, in ms. */
    timeout: variables.integer(variables.otlp('TIMEOUT'), 10_000, 600_000),
    gzip: variables.choice(variables.otlp('COMPRESSION'), ['none', 'gzip'], 'none') === 'gzip',
    /** The PEM texts for an https endpoint. */
    ca,
    cert,
    key,
    /** The attributes in `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. */
    resource: Object.freeze(resourceOf(variables)),
    sampler: Object.freeze(samplerOf(variables)),
    /** Whether the gateway reads and writes `traceparent`; otherwise it forwards it like other headers. */
    propagates: propagates(variables),
    batches: Object.freeze(bspOf(variables)),
  })
}

/**
 * The endpoint for traces is the whole URL; the endpoint for all signals is a base, which the path
 * `/v1/traces` follows.
 */
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

/** @returns null: the variable is not set; undefined: the file cannot be read */
function pemOf(variables: Variables, name: string, use: PemUse): string | null | undefined {
  const variable = variables.otlp(name)
  const file = variables.get(variable)
  if (file === null) return null
  const pem = readPemFile(file, use)
  if (!(pem instanceof InvalidValue)) return pem
  // A value that names no file may be a secret that was set by mistake: the warning does not show it.
  const named = pem instanceof Undetermined ? 'a file that' : `the file ${JSON.stringify(file)}, which`
  variables.warn(variable, `names ${named} ${pem.message}. Requests are not traced`)
  return undefined
}

/** The attributes of the resource. `OTEL_SERVICE_NAME` replaces a name in `OTEL_RESOURCE_ATTRIBUTES`. */
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
  // Baggage is forwarded like other headers.
  if (names.some((each) => !['tracecontext', 'baggage', 'none'].includes(each)))
    variables.warn(name, 'has others than tracecontext and none: they are ignored')
  return names.includes('tracecontext')
}

/** `OTEL_BSP_*`: the queue of spans and its batches. Times are in ms. */
function bspOf(variables: Variables) {
  const queue = variables.integer('OTEL_BSP_MAX_QUEUE_SIZE', 2048, MAX_QUEUE)
  return {
    /** The maximum number of spans that wait, including those of the current batch. */
    queue,
    delay: variables.integer('OTEL_BSP_SCHEDULE_DELAY', 5000, MAX_TIME),
    // A small queue holds fewer spans than the default batch.
    size:
      variables.get(BATCH_SIZE) === null
        ? Math.min(512, queue)
        : variables.integer(BATCH_SIZE, Math.min(512, queue), queue),
    /** The time limit of a batch with all its attempts. */
    timeout: variables.integer('OTEL_BSP_EXPORT_TIMEOUT', 30_000, MAX_TIME),
  }
}

/** The sampler in `OTEL_TRACES_SAMPLER` and its argument. */
function samplerOf(variables: Variables) {
  const sampler = variables.choice(SAMPLER, SAMPLERS, 'parentbased_always_on')
  return {
    /** Whether the caller decides about traces that the gateway continues. */
    parentBased: sampler.startsWith('parentbased_'),
    /** The share of the traces that begin here, from 0 to 1. */
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

/** Reads the values of `OTEL_*` variables, and collects warnings about invalid ones. */
class Variables {
  readonly #env: Environment
  readonly warnings: string[] = []

  constructor(env: Environment) {
    this.#env = env
  }

  warn(name: string, fault: string): void {
    this.warnings.push(`${name} ${fault}`)
  }

  /** The value of a variable; null: it is unset or empty. */
  get(name: string): string | null {
    return setVariable(this.#env, name)
  }

  /** The name of the variable for traces if it is set, otherwise of the variable for all signals. */
  otlp(name: string): string {
    const own = `OTEL_EXPORTER_OTLP_TRACES_${name}`
    return this.get(own) === null ? `OTEL_EXPORTER_OTLP_${name}` : own
  }

  /** One of these words, in upper or lower case; the usual one if the value is invalid. */
  choice<C extends string>(name: string, choices: readonly C[], usual: C): C {
    const value = this.get(name)?.toLowerCase() ?? usual
    const choice = choices.find((each) => each === value)
    if (choice === undefined) this.warn(name, `is none of ${choices.join(', ')}: ${usual} is used`)
    return choice ?? usual
  }

  /** A number from 1 to `most`; the usual one if the value is invalid. */
  integer(name: string, usual: number, most: number): number {
    const value = this.get(name)
    if (value === null) return usual
    if (/^[1-9][0-9]{0,8}$/.test(value) && Number(value) <= most) return Number(value)
    this.warn(name, `is not a number from 1 to ${most}: ${usual} is used`)
    return usual
  }

  /**
   * Pairs such as `key=value,key=value`, percent-encoded. If a part is malformed, the whole value is ignored
   * (Resource SDK, "Specifying resource information via an environment variable").
   */
  pairs(name: string): [string, string][] {
    const parts = (this.get(name) ?? '').split(',').filter((part) => part.trim() !== '')
    const pairs = parts.map(decodedPair)
    if (pairs.every((pair) => pair !== null)) return pairs
    this.warn(name, 'is not key=value,key=value with percent-encoded values: it is ignored')
    return []
  }

  /** @returns the name in lower case, the value, … of each header */
  headers(name: string): string[] {
    const pairs = this.pairs(name)
    const isHeader = ([key, value]: [string, string]) =>
      HEADER_NAME.test(key) && HEADER_VALUE.test(value) && !RESERVED.has(key.toLowerCase())
    if (pairs.every(isHeader)) return pairs.flatMap(([key, value]) => [key.toLowerCase(), value])
    this.warn(name, 'has a header that cannot be sent: it is ignored')
    return []
  }
}

/** @returns null for a malformed pair */
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
