/** Reads the JSON body of a request to a built-in endpoint. */

import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { parseJson } from '../lib/json.ts'
import { type BodyLimits, readBody } from './whole-body.ts'

/** Methods whose body is parsed. The body of other methods is read up to the limit and ignored. */
export const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

const notJson = new Refusal('media_type_unsupported', 'The body must be application/json, in UTF-8.')
const coded = new Refusal('media_type_unsupported', 'The body must not have a Content-Encoding.')

/** `application/json`, with no charset other than UTF-8 (RFC 8259, section 8.1). */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

/** @param value of Content-Type; several, joined by commas, are none */
export function isJsonType(value: string): boolean {
  return JSON_TYPE.test(value)
}

/** Reads the whole body; undefined: there is none. Never resolves when the client disconnects first. */
export async function readJson(
  exchange: Exchange,
  limits: BodyLimits,
): Promise<{ value: unknown } | Refusal> {
  const { rawHeaders, length } = exchange.request
  if (length === 0) return { value: undefined }
  if (!isJsonType(joined(rawHeaders, 'content-type'))) return notJson
  if (!/^(?:identity)?$/i.test(joined(rawHeaders, 'content-encoding'))) return coded
  const bytes = await readBody(exchange, limits)
  return bytes instanceof Refusal ? bytes : parse(bytes ?? Buffer.alloc(0))
}

/** The values of all field lines with the name, joined; '' without one. */
function joined(rawHeaders: readonly string[], wanted: string): string {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === wanted).join(', ')
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
