/** The JSON body of a request to a built-in endpoint. Used by `local.ts`. */

import { Refusal } from '../errors.ts'
import type { Exchange } from '../exchange.ts'
import { parseJson } from '../json.ts'
import { announcedLength, type BodyOwner, bodyTooLarge, bodyTooSlow, RequestBody } from './request-body.ts'

/** Bytes. */
const LIMIT = 1024 * 1024
/** Milliseconds that the client may stay silent in the midst of it. */
const STALL = 30_000
/** Milliseconds for the whole of it. */
const WHOLE = 60_000

const notJson = new Refusal('media_type_unsupported', 'The body must be application/json, in UTF-8.')
const coded = new Refusal('media_type_unsupported', 'The body must not have a Content-Encoding.')

/** `application/json`, and no charset but the one JSON has (RFC 8259, section 11). */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

/** Reads the whole of it. Never resolves when the client goes away first. */
export function readJson(exchange: Exchange): Promise<{ value: unknown } | Refusal> {
  const { rawHeaders } = exchange.request
  const length = announcedLength(rawHeaders)
  if (length === 0) return Promise.resolve({ value: undefined })
  if (!JSON_TYPE.test(joined(rawHeaders, 'content-type'))) return Promise.resolve(notJson)
  if (!/^(?:identity)?$/i.test(joined(rawHeaders, 'content-encoding'))) return Promise.resolve(coded)
  if (length !== Infinity && length > LIMIT) return Promise.resolve(bodyTooLarge)
  return new Promise((resolve) => new Collector(exchange, resolve))
}

/** All lines of the name, joined; '' without one. Node's own view keeps the first Content-Type of several. */
function joined(rawHeaders: readonly string[], wanted: string): string {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === wanted).join(', ')
}

class Collector implements BodyOwner {
  readonly #body: RequestBody
  readonly #resolve: (result: { value: unknown } | Refusal) => void
  readonly #chunks: Buffer[] = []
  readonly #timer: NodeJS.Timeout

  constructor(exchange: Exchange, resolve: (result: { value: unknown } | Refusal) => void) {
    this.#resolve = resolve
    this.#body = new RequestBody(exchange, LIMIT, STALL, this)
    this.#body.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
    this.#body.on('end', () => resolve(parse(Buffer.concat(this.#chunks))))
    this.#body.once('close', () => clearTimeout(this.#timer))
    this.#timer = setTimeout(() => this.bodyRefused(bodyTooSlow), WHOLE)
  }

  bodyRefused(refusal: Refusal): void {
    this.#body.destroy()
    this.#resolve(refusal)
  }
}

function parse(bytes: Buffer): { value: unknown } | Refusal {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return invalid('not valid UTF-8')
  }
  const parsed = parseJson(text)
  return 'fault' in parsed ? invalid(parsed.fault) : parsed
}

function invalid(message: string): Refusal {
  return new Refusal('input_invalid', 'The body is not valid JSON.', { faults: [{ path: '', message }] })
}
