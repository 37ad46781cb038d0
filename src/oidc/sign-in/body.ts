/** Parses the body of a request to a sign-in endpoint: JSON or an HTML form. All fields are strings. */

import { isUtf8 } from 'node:buffer'
import type { JsonSchema } from '../../../seats-admin/model/json-schema.ts'
import { Refusal } from '../../model/errors.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { headerLines } from './browser.ts'
import type { PublicRequest } from '../../model/route.ts'

export interface Fields {
  readonly form: boolean
  /** Null if absent. */
  get(name: string): string | null
}

/** The most bytes: enough for an ID token and the other fields. */
const MAX_BODY = 128 * 1024
/** The most fields. No endpoint has more than a few. They are counted before anything is parsed. */
const MAX_FIELDS = 64
/** The only accepted charset is UTF-8. */
const TYPE =
  /^(application\/json|application\/x-www-form-urlencoded)[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

const unsupported = new Refusal(
  'media_type_unsupported',
  'The body must be application/json or application/x-www-form-urlencoded, in UTF-8.',
)
const tooLarge = new Refusal('body_too_large', `The body must have at most ${MAX_BODY} bytes.`)

/** @param schema the allowed fields; `required` ones must be present and not empty */
export function readFields({ rawHeaders, body }: PublicRequest, schema: JsonSchema): Fields | Refusal {
  const type = contentType(rawHeaders)
  // A logout by cookie needs no body.
  if (body === null || body.length === 0) return checked(type === 'form', {}, schema)
  if (type === null) return unsupported
  if (body.length > MAX_BODY) return tooLarge
  if (!isUtf8(body)) return invalid('', 'not valid UTF-8')
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  const fields = type === 'form' ? readForm(text) : readJson(text)
  return fields instanceof Refusal ? fields : checked(type === 'form', fields, schema)
}

/** Whether the body is an HTML form, in UTF-8 and without a content coding. */
export function isForm(rawHeaders: readonly string[]): boolean {
  return contentType(rawHeaders) === 'form'
}

/** Whether the body is JSON, in UTF-8 and without a content coding. */
export function isJson(rawHeaders: readonly string[]): boolean {
  return contentType(rawHeaders) === 'json'
}

function contentType(rawHeaders: readonly string[]): 'json' | 'form' | null {
  const match = TYPE.exec(headerLines(rawHeaders, 'content-type').join(', '))
  if (match === null || headerLines(rawHeaders, 'content-encoding').some((each) => !/^identity$/i.test(each)))
    return null
  return match[1]?.toLowerCase() === 'application/json' ? 'json' : 'form'
}

type RawFields = Readonly<Record<string, unknown>>

/** What `curl -d` makes of JSON without a header: no name of a field begins with a brace. */
const jsonAsForm = invalid('', 'is JSON, and Content-Type says a form: send Content-Type: application/json')

function readForm(text: string): RawFields | Refusal {
  if (/^\s*\{/.test(text)) return jsonAsForm
  if (hasMore(text)) return invalid('', `has more than ${MAX_FIELDS} fields`)
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in fields) return invalid(pointer(name), 'must not occur more than once')
    fields[name] = value
  }
  return fields
}

function hasMore(form: string): boolean {
  let at = -1
  for (let fields = 0; fields < MAX_FIELDS; fields++) {
    at = form.indexOf('&', at + 1)
    if (at === -1) return false
  }
  return true
}

function readJson(text: string): RawFields | Refusal {
  const parsed = parseJson(text, { members: MAX_FIELDS, elements: MAX_FIELDS })
  if ('fault' in parsed) return invalid('', parsed.fault)
  return isJsonObject(parsed.value) ? parsed.value : invalid('', 'must be an object')
}

function checked(
  form: boolean,
  fields: RawFields,
  { required = [], properties = {} }: JsonSchema,
): Fields | Refusal {
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(properties, name)) return invalid(pointer(name), 'is not a known field')
    if (typeof value !== 'string' || !value.isWellFormed()) return invalid(pointer(name), 'must be a string')
    const { enum: values } = properties[name] ?? {}
    if (values !== undefined && !values.includes(value))
      return invalid(pointer(name), `must be ${values.join(' or ')}`)
  }
  const missing = required.find((name) => !Object.hasOwn(fields, name) || fields[name] === '')
  if (missing !== undefined) return invalid(`/${missing}`, 'is required')
  return { form, get: (name) => (Object.hasOwn(fields, name) ? (fields[name] as string) : null) }
}

/** A JSON Pointer (RFC 6901). Names are external text: bounded, and on one line. */
function pointer(name: string): string {
  const escaped = name.slice(0, 64).replace(/~/g, '~0').replace(/\//g, '~1')
  return `/${escaped.replace(/[^\x20-\x7e]/g, '?')}`
}

/** @param path a JSON Pointer; '': the whole body */
export function invalid(path: string, message: string, detail = 'The body is not valid.'): Refusal {
  return new Refusal('input_invalid', detail, { faults: [{ path, message }] })
}
