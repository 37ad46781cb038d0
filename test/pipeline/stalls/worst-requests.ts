/** The most expensive requests that an operation's description allows: bodies of its largest size, and queries. */

import type { JsonSchema } from '../../../seats-admin/model/json-schema.ts'
import { Random } from '../../support/random.ts'

export interface Described {
  readonly method: string
  readonly path: string
  readonly maxBody?: number
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: { readonly schema: JsonSchema }
}

export interface WorstRequest {
  readonly name: string
  /** With a `?`, or empty. */
  readonly query: string
  /** Null: none. */
  readonly body: (() => string) | null
  readonly type: string
}

/** Bytes of a body of most endpoints, and of sign-in. */
const USUAL = 1024 * 1024
const SIGN_IN = 128 * 1024
/** Bytes of a query: a target has at most 8 KiB. */
const QUERY = 7 * 1024

const JSON_TYPE = 'application/json'

export function worstRequests(operation: Described): WorstRequest[] {
  const { method, path, body, query = {}, maxBody = path.startsWith('/auth') ? SIGN_IN : USUAL } = operation
  const queries = Object.entries(worstQueries(Object.keys(query)))
  if (body === undefined || method === 'GET')
    return queries.map(([name, text]) => ({ name, query: `?${text}`, body: null, type: JSON_TYPE }))
  const json = Object.entries(worstBodies(maxBody - 1, body.schema))
  const requests = json.map(([name, text]) => ({ name, query: '', body: text, type: JSON_TYPE }))
  const form = {
    name: 'a form',
    query: '',
    body: () => repeated('a&', maxBody - 1),
    type: 'application/x-www-form-urlencoded',
  }
  return [...requests, form]
}

function worstQueries(names: readonly string[]): Record<string, string> {
  const [first = 'a'] = names
  return {
    'as many parameters as fit': repeated('a&', QUERY),
    'other names': Array.from({ length: QUERY / 6 }, (_, at) => `a${at}=`).join('&'),
    'each parameter, with a long value': names
      .map((name) => `${name}=${'%2e'.repeat(QUERY / 4 / names.length)}`)
      .join('&'),
    'one parameter again and again': repeated(`${first}=1&`, QUERY),
    'the largest page': names.includes('limit') ? 'limit=100' : '',
  }
}

/** Bodies of just `size` bytes, whatever the schema says, and in its form. */
type Bodies = Record<string, () => string>

function worstBodies(size: number, schema: JsonSchema): Bodies {
  const inSchema: [string, () => string][] = Object.keys(schema.properties ?? {}).flatMap((name) => [
    [`members below ${name}`, () => `{"${name}":${members(size - 30)}}`],
    [`objects below ${name}`, () => `{"${name}":{${counted(size - 40, (at) => `"${at}":{}`)}}}`],
    [`elements below ${name}`, () => `{"${name}":[${repeated('1,', size - 40)}1]}`],
  ])
  return {
    members: () => members(size),
    'duplicate members': () => `{${repeated('"a":1,', size - 10)}"a":1}`,
    elements: () => `[${repeated('1,', size - 4)}1]`,
    'empty lists': () => `[${repeated('[],', size - 5)}[]]`,
    'deep lists': () => `[${repeated(`${'['.repeat(62)}${']'.repeat(62)},`, size - 5)}[]]`,
    'too deep': () => '['.repeat(size),
    'a long string': () => JSON.stringify('x'.repeat(size - 2)),
    escapes: () => `"${repeated(String.raw`\u00e9`, size - 2)}"`,
    'strings with escapes': () => `[${repeated(String.raw`"\n\u00e9",`, size - 10)}""]`,
    'a long number': () => '1'.repeat(size),
    'long numbers': () => `[${repeated(`1.${'7'.repeat(300)}e-300,`, size - 5)}1]`,
    'white space': () => `[${' '.repeat(size - 2)}]`,
    'no UTF-8': () => `[${repeated('"é",', size / 2)}"`,
    noise: () => noise(size),
    'in the form of the schema': () => JSON.stringify(filled(schema, 0, size)),
    ...Object.fromEntries(inSchema),
  }
}

function noise(size: number): string {
  const random = new Random(7)
  return Array.from({ length: size }, () => '{}[]:,"\\1 '[random.below(10)]).join('')
}

function members(size: number): string {
  return `{${counted(size - 2, (at) => `"${at}":1`)}}`
}

function counted(size: number, of: (at: number) => string): string {
  const all: string[] = []
  for (let at = 0, length = 0; ; at++) {
    const text = of(at)
    if ((length += text.length + 1) > size) return all.join()
    all.push(text)
  }
}

function repeated(text: string, size: number): string {
  return text.repeat(Math.max(0, Math.floor(size / Buffer.byteLength(text))))
}

/** A value that the schema accepts, with as many parts as fit into `size` bytes. @param at makes it another one */
function filled(schema: JsonSchema, at: number, size: number): unknown {
  const {
    type,
    properties,
    additionalProperties: others,
    items,
    maxItems = 10_000,
    maxProperties = 10_000,
  } = schema
  const types = [type].flat()
  if (types.includes('array')) return many(items ?? {}, size, maxItems).map(({ value }) => value)
  if (types.includes('object') && typeof others === 'object')
    return Object.fromEntries(
      many(others, size, maxProperties).map(({ value }, each) => [`name ${each}`, value]),
    )
  if (types.includes('object')) {
    const parts = Object.entries(properties ?? {})
    return Object.fromEntries(
      parts.map(([name, part]) => [name, filled(part, at, size / parts.length - name.length - 4)]),
    )
  }
  if (types.includes('boolean')) return true
  const example = schema.examples?.[0] ?? schema.enum?.[0]
  return typeof example === 'string' && schema.enum === undefined && schema.format === undefined && at > 0
    ? `${example}${at}`
    : (example ?? null)
}

function many(schema: JsonSchema, size: number, most: number): { value: unknown }[] {
  const values: { value: unknown }[] = []
  // Some of each kind: large ones, and then many small ones.
  for (let left = size; left > 0 && values.length < most;) {
    const value = filled(schema, values.length, Math.min(left / 2, 40 * 1024))
    left -= JSON.stringify(value).length + 20
    if (left > 0) values.push({ value })
  }
  return values
}
