/** The body of a request to one of the endpoints: JSON from programs, a form from HTML pages. Fields are texts. */

import { Refusal } from '../../model/errors.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { headerLines } from './browser.ts'
import type { SignInRequest } from '../ports.ts'

export interface Fields {
  readonly form: boolean
  /** Null for one that isn't there. */
  get(name: string): string | null
}

/** Bytes: an ID token, and something around it. */
const MAX = 128 * 1024
/** No charset but UTF-8. */
const TYPE =
  /^(application\/json|application\/x-www-form-urlencoded)[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

const unsupported = new Refusal(
  'media_type_unsupported',
  'The body must be application/json or application/x-www-form-urlencoded, in UTF-8.',
)
const tooLarge = new Refusal('body_too_large', `The body may have ${MAX} bytes.`)

/** @param known fields that may be there; `required` ones must be, and may not be empty */
export function readFields(
  { rawHeaders, body }: SignInRequest,
  known: { readonly required: readonly string[]; readonly optional: readonly string[] },
): Fields | Refusal {
  const type = contentType(rawHeaders)
  // A logout by cookie needs no body.
  if (body === null || body.length === 0) return checked(type === 'form', {}, known)
  if (type === null) return unsupported
  if (body.length > MAX) return tooLarge
  const text = utf8(body)
  if (text === null) return invalid('', 'not valid UTF-8')
  const fields = type === 'form' ? readForm(text) : readJson(text)
  return fields instanceof Refusal ? fields : checked(type === 'form', fields, known)
}

function contentType(rawHeaders: readonly string[]): 'json' | 'form' | null {
  const match = TYPE.exec(headerLines(rawHeaders, 'content-type').join(', '))
  if (match === null || headerLines(rawHeaders, 'content-encoding').some((each) => !/^identity$/i.test(each)))
    return null
  return match[1]?.toLowerCase() === 'application/json' ? 'json' : 'form'
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

type Raw = Readonly<Record<string, unknown>>

function readForm(text: string): Raw | Refusal {
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in fields) return invalid(pointer(name), 'is there more than once')
    fields[name] = value
  }
  return fields
}

function readJson(text: string): Raw | Refusal {
  const parsed = parseJson(text)
  if ('fault' in parsed) return invalid('', parsed.fault)
  return isJsonObject(parsed.value) ? parsed.value : invalid('', 'must be an object')
}

function checked(
  form: boolean,
  fields: Raw,
  { required, optional }: { readonly required: readonly string[]; readonly optional: readonly string[] },
): Fields | Refusal {
  for (const [name, value] of Object.entries(fields)) {
    if (!required.includes(name) && !optional.includes(name))
      return invalid(pointer(name), 'is not known here')
    if (typeof value !== 'string' || !value.isWellFormed()) return invalid(pointer(name), 'must be a text')
  }
  const missing = required.find((name) => !Object.hasOwn(fields, name) || fields[name] === '')
  if (missing !== undefined) return invalid(`/${missing}`, 'is required')
  return { form, get: (name) => (Object.hasOwn(fields, name) ? (fields[name] as string) : null) }
}

/** Names come from outside: bounded, and on one line. */
function pointer(name: string): string {
  const escaped = name.slice(0, 64).replace(/~/g, '~0').replace(/\//g, '~1')
  return `/${escaped.replace(/[^\x20-\x7e]/g, '?')}`
}

export function invalid(path: string, message: string): Refusal {
  return new Refusal('input_invalid', 'The body is not valid.', { faults: [{ path, message }] })
}
