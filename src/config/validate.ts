/**
 * Structure of a document against its JSON Schema: unknown keys, wrong types, what is missing. The schemas' patterns
 * serve editors; what texts mean is read, and complained about in detail, where the configuration is built.
 */

import { Ajv, type ErrorObject } from 'ajv'
import { didYouMean, quote } from './invalid-value.ts'
import type { Data, Document, Value } from './document.ts'
import gatewaySchema from './gateway.schema.json' with { type: 'json' }
import routesSchema from './routes.schema.json' with { type: 'json' }

const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true })
ajv.removeKeyword('pattern')
ajv.addVocabulary(['pattern'])

const validators = { gateway: ajv.compile(gatewaySchema), routes: ajv.compile(routesSchema) }

/** Adds to the document's faults, and marks what they concern. */
export function validate(document: Document, root: Data, kind: keyof typeof validators): void {
  const validator = validators[kind]
  if (validator(root)) return
  let replaced = false
  for (const error of validator.errors ?? []) if (fromText(document, root, error)) replaced = true
  // Once more, as numbers have bounds.
  if (replaced && validator(root)) return
  for (const error of validator.errors ?? []) report(document, root, error)
}

interface Found {
  /** The last key of the path that is no list index, and the index, for people. */
  readonly label: string
  readonly container: Data | Value[] | null
  readonly key: string
}

function report(document: Document, root: Data, error: ErrorObject): void {
  const { label, container, key } = find(root, error.instancePath)
  const spot = container === null ? undefined : document.spot(container, key)
  if (error.keyword === 'additionalProperties') {
    const unknown = String(error.params.additionalProperty)
    const known = Object.keys(error.parentSchema?.properties ?? {})
    const hint = didYouMean(unknown, known) || ` (known here: ${known.join(', ')})`
    document.fault(
      document.spot(error.data as Data, unknown)?.key ?? 0,
      `${quote(unknown)} is not a key here${hint}`,
    )
    return
  }
  if (error.keyword === 'required') {
    document.fault(spot?.key ?? 0, `${label} has no ${quote(String(error.params.missingProperty))}`)
    return
  }
  if (spot?.faulty) return
  if (spot !== undefined) spot.faulty = true
  document.fault(spot?.value ?? 0, sentence(label, error))
}

function sentence(label: string, { keyword, params, schema, parentSchema, data }: ErrorObject): string {
  switch (keyword) {
    case 'type': {
      const wanted = [schema]
        .flat()
        .map((each) => typeName(String(each)))
        .join(' or ')
      const example: unknown = parentSchema?.examples?.[0]
      const such = typeof example === 'string' ? ` such as ${quote(example)}` : ''
      const quotes = wanted === 'text' && such === '' ? ': put it in quotes' : ''
      return `${label} must be ${wanted}${such}, not ${typeName(typeOf(data))}${typeof data === 'object' ? '' : quotes}`
    }
    case 'enum':
      return `${label} must be one of ${params.allowedValues.join(', ')}`
    case 'minItems':
    case 'minProperties':
      return `${label} is empty: it has at least one entry`
    case 'minimum':
      return `${label} must be at least ${params.limit}`
    case 'maximum':
      return `${label} must be at most ${params.limit}`
    default:
      return `${label} is not as the schema has it (${keyword})`
  }
}

/** A variable's value is text: where the schema has something else, what it would be if it stood there replaces it. */
function fromText(document: Document, root: Data, error: ErrorObject): boolean {
  if (error.keyword !== 'type' || typeof error.data !== 'string') return false
  const { container, key } = find(root, error.instancePath)
  if (container === null || (document.spot(container, key)?.written ?? null) === null) return false
  const value = readAs(error.schema, error.data)
  if (value === null) return false
  ;(container as Data)[key] = value
  return true
}

function readAs(type: unknown, text: string): boolean | number | null {
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true'
  if (type === 'integer' && /^(?:0|-?[1-9][0-9]{0,14})$/.test(text)) return Number(text)
  return null
}

/** Follows a JSON Pointer (RFC 6901). */
function find(root: Data, pointer: string): Found {
  let found: Found = { label: 'the file', container: null, key: '' }
  let value: Value = root
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const container = value as Data | Value[]
    const label = Array.isArray(container) ? `${found.label}[${key}]` : key.includes(' ') ? quote(key) : key
    found = { label, container, key }
    value = (container as Data)[key] ?? null
  }
  return found
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

const NAMES = new Map([
  ['string', 'text'],
  ['object', 'a map'],
  ['array', 'a list'],
  ['boolean', 'true or false'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['null', 'empty'],
])

function typeName(type: string): string {
  return NAMES.get(type) ?? type
}
