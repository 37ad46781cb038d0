/** Reads the whole body of a request to a built-in endpoint: its bytes, or the value of its JSON. */

import type { Exchange } from '../http/server/exchange.ts'
import type { JsonLimits } from '../../seats-admin/model/json-limits.ts'
import { inShares } from '../../seats-admin/model/time-share.ts'
import { jsonSteps } from '../lib/large-json.ts'
import { inTurn } from './in-turn.ts'
import { Refusal } from '../model/errors.ts'
import { type BodyOwner, bodyTooLarge, bodyTooSlow, RequestBody } from '../proxy/request-body.ts'

export interface BodyLimits {
  readonly bytes: number
  /** Milliseconds for the whole body: bodies of built-in endpoints are small. */
  readonly time: number
}

/** Reads the body; null if there is none. Never resolves if the client disconnects first. */
export function readBody(exchange: Exchange, limits: BodyLimits): Promise<Buffer | null | Refusal> {
  const { length } = exchange.request
  if (length === 0) return Promise.resolve(null)
  if (length !== Infinity && length > limits.bytes) return Promise.resolve(bodyTooLarge)
  return new Promise((resolve) => new Collector(exchange, limits, resolve))
}

class Collector implements BodyOwner {
  readonly #body: RequestBody
  readonly #resolve: (result: Buffer | Refusal) => void
  /** One growing buffer: a client may send single bytes. */
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  readonly #timer: NodeJS.Timeout

  constructor(exchange: Exchange, limits: BodyLimits, resolve: (result: Buffer | Refusal) => void) {
    this.#resolve = resolve
    this.#body = new RequestBody(exchange, limits.bytes, limits.time, this)
    this.#body.on('data', (chunk: Buffer) => this.#add(chunk))
    this.#body.on('end', () => resolve(this.#bytes.subarray(0, this.#length)))
    this.#body.once('close', () => clearTimeout(this.#timer))
    this.#timer = setTimeout(() => this.bodyRefused(bodyTooSlow), limits.time)
  }

  #add(chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(length, 2 * this.#bytes.length, 1024))
      this.#bytes.copy(larger)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.#length)
    this.#length = length
  }

  bodyRefused(refusal: Refusal): void {
    this.#body.destroy()
    this.#resolve(refusal)
  }
}

/** Methods whose body is parsed. The body of other methods is read up to the limit and ignored. */
export const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

export const notJson = new Refusal('media_type_unsupported', 'The body must be application/json, in UTF-8.')
export const coded = new Refusal('media_type_unsupported', 'The body must not have a Content-Encoding.')

/** `application/json`, with no charset other than UTF-8 (RFC 8259, section 8.1). */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

/** @param value of Content-Type; several, joined by commas, are none */
export function isJsonType(value: string): boolean {
  return JSON_TYPE.test(value)
}

/** Reads the whole body as JSON; undefined without one. Never resolves if the client disconnects first. */
export async function readJson(
  exchange: Exchange,
  limits: BodyLimits,
  json?: JsonLimits,
): Promise<{ value: unknown } | Refusal> {
  const { rawHeaders, length } = exchange.request
  if (length === 0) return { value: undefined }
  if (!isJsonType(joined(rawHeaders, 'content-type'))) return notJson
  if (!/^(?:identity)?$/i.test(joined(rawHeaders, 'content-encoding'))) return coded
  const bytes = await readBody(exchange, limits)
  if (bytes instanceof Refusal) return bytes
  const steps = jsonSteps(bytes ?? Buffer.alloc(0), json)
  const isGone = () => exchange.response.destroyed
  // The usual limits bound the value to some 4 MB.
  const parsed = await (json === undefined ? inShares(steps) : inTurn(() => inShares(steps), isGone))
  return 'fault' in parsed ? invalid(parsed.fault) : parsed
}

/** The values of all field lines with the name, joined; '' without one. */
export function joined(rawHeaders: readonly string[], wanted: string): string {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === wanted).join(', ')
}

function invalid(message: string): Refusal {
  return new Refusal('input_invalid', 'The body is not valid JSON.', { faults: [{ path: '', message }] })
}
