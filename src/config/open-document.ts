/**
 * Opens a file of the configuration: parses it, and checks it against its JSON Schema: unknown keys, wrong types, missing
 * keys. The `pattern` keywords serve editors only: the builders parse each string and report its fault in detail.
 */

import { Ajv, type ErrorObject } from 'ajv'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { didYouMean, quote } from './invalid-value.ts'
import { WORKERS_FAULT } from './limits.ts'
import type { Data, Document, Value } from './positioned-document.ts'
import type { Source } from './read-file.ts'
import type { FileSchema } from './schema.ts'
import { Section } from './section.ts'
import { type IsNeeded, parse } from './yaml-parser.ts'

// Each start compiles the schemas: without the checks and optimizations of the compiler that takes half as long. A test
// checks the schemas.
const forSpeed = { validateSchema: false, code: { optimize: false } }
const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true, ...forSpeed })
ajv.removeKeyword('pattern')
ajv.addVocabulary(['pattern'])

/** The caller adds the faults of values. Parameters as of `parse`. @param folder base of relative paths in the file */
export function openDocument(
  file: string,
  source: Source,
  schema: FileSchema,
  env: NodeJS.ProcessEnv,
  folder = '',
  isNeeded: IsNeeded | null = null,
) {
  const document = parse(file, source, schema, env, isNeeded)
  if (document.root !== null) validate(document, document.root, schema)
  return {
    document,
    /** Empty if the file is no readable YAML map, which is a fault of the document. */
    root: new Section(document, document.root ?? {}, folder),
  }
}

/** Adds the faults to the document and marks the faulty entries. */
function validate(document: Document, root: Data, schema: FileSchema): void {
  // Ajv keeps what it has compiled.
  const validator = ajv.compile(schema)
  validator(root)
  for (const error of validator.errors ?? []) report(document, root, error)
}

interface Located {
  /** The last key of the path that is not a list index, followed by the indexes: `targets[0]`. */
  readonly label: string
  readonly container: Data | Value[] | null
  readonly key: string
}

function report(document: Document, root: Data, error: ErrorObject): void {
  const { label, container, key } = locate(root, error.instancePath)
  const spot = container === null ? undefined : document.spot(container, key)
  if (error.keyword === 'additionalProperties') {
    const unknown = String(error.params.additionalProperty)
    const known = Object.keys(error.parentSchema?.properties ?? {})
    const hint = didYouMean(unknown, known) || ` (known keys: ${known.join(', ')})`
    document.fault(
      document.spot(error.data as Data, unknown)?.key ?? 0,
      `${quote(unknown)} is not a known key${hint}`,
    )
    return
  }
  if (error.keyword === 'required') {
    document.fault(
      spot?.key ?? 0,
      `${label} must have the key ${quote(String(error.params.missingProperty))}`,
    )
    return
  }
  if (spot?.faulty) return
  if (spot !== undefined) spot.faulty = true
  document.fault(spot?.value ?? 0, describe(label, error))
}

function describe(label: string, error: ErrorObject): string {
  const { keyword, message, params, instancePath } = error
  if (instancePath === '/workers') return WORKERS_FAULT
  switch (keyword) {
    case 'type':
      return describeType(label, error)
    case 'enum':
      return `${label} must be one of ${params.allowedValues.join(', ')}`
    case 'minItems':
    case 'minProperties':
      return `${label} must have at least one entry`
    case 'minimum':
      return `${label} must be at least ${params.limit}`
    case 'maximum':
      return `${label} must be at most ${params.limit}`
    default:
      return `${label} is invalid: ${message ?? keyword}`
  }
}

function describeType(label: string, error: ErrorObject): string {
  const { schema, data } = error
  const expected = [schema]
    .flat()
    .map((each) => typeName(String(each)))
    .join(' or ')
  const example = exampleOf(error)
  const suchAs = example === undefined ? '' : ` such as ${quote(example)}`
  if (data === null) return `${label} must be ${expected}${suchAs}, but has no value`
  const advice =
    expected === 'a string' && suchAs === '' && typeof data !== 'object' ? ': put it in quotes' : ''
  return `${label} must be ${expected}${suchAs}, not ${foundName(schema, data)}${advice}`
}

/** A quantity shows its default, which is within its bounds. A default of no time switches off. */
function exampleOf({ parentSchema }: ErrorObject): string | undefined {
  const { title, default: value, examples = [] } = parentSchema as JsonSchema
  const candidates = title === undefined ? examples.slice(0, 1) : [value, ...examples]
  return candidates.find((each) => typeof each === 'string' && each !== '0s') as string | undefined
}

/** What a value of another type than the expected one is. */
function foundName(expected: unknown, value: unknown): string {
  if (expected !== 'integer' || typeof value !== 'number')
    return typeName(Array.isArray(value) ? 'array' : typeof value)
  return Number.isFinite(value) ? 'a number with a fraction' : String(value)
}

/** The parts of a JSON Pointer (RFC 6901). */
function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What a JSON Pointer names. */
function locate(root: Data, pointer: string): Located {
  let found: Located = { label: 'the file', container: null, key: '' }
  let value: Value = root
  for (const key of keysOf(pointer)) {
    const container = value as Data | Value[]
    const label = Array.isArray(container) ? `${found.label}[${key}]` : key.includes(' ') ? quote(key) : key
    found = { label, container, key }
    value = (container as Data)[key] ?? null
  }
  return found
}

const TYPE_NAMES = new Map([
  ['string', 'a string'],
  ['object', 'a map'],
  ['array', 'a list'],
  ['boolean', 'true or false'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
])

function typeName(type: string): string {
  return TYPE_NAMES.get(type) ?? type
}
