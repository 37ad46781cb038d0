/**
 * Opens a file of the configuration: parses it, and checks it against its JSON Schema for unknown keys, wrong
 * types and missing keys. The `pattern` keywords are for editors only: the readers of the settings report the
 * faults of texts in detail.
 */

import { Ajv, type ErrorObject } from 'ajv'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { didYouMean, quote } from './invalid-value.ts'
import { WORKERS_FAULT } from './limits.ts'
import type { Data, Document, Value } from './positioned-document.ts'
import type { Source } from './read-file.ts'
import type { FileSchema } from './schema.ts'
import { Section } from './section.ts'
import type { ValueFiles } from './value-files.ts'
import { type IsNeeded, parse } from './yaml-parser.ts'
import { pointerParts } from '../../seats-admin/model/refusal.ts'

// Each start compiles the schemas. Without the compiler's checks and optimizations, that takes half the time.
// A test checks the schemas.
const forSpeed = { validateSchema: false, code: { optimize: false } }
const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true, ...forSpeed })
ajv.removeKeyword('pattern')
ajv.addVocabulary(['pattern'])

/**
 * The caller adds the faults of values. The other parameters are those of `parse`.
 *
 * @param folder the base of relative paths in the file
 */
export function openDocument(
  file: string,
  source: Source,
  schema: FileSchema,
  env: NodeJS.ProcessEnv | null,
  folder = '',
  isNeeded: IsNeeded | null = null,
  files: ValueFiles | null = null,
) {
  const document = parse(file, source, schema, env, isNeeded, files)
  if (document.root !== null) validate(document, document.root, schema)
  return {
    document,
    /** The values of the file; empty if it is not a YAML map, which is a fault of the document. */
    root: new Section(document, document.root ?? {}, folder),
  }
}

/** Adds the faults to the document and marks the faulty entries. */
function validate(document: Document, root: Data, schema: FileSchema): void {
  // Ajv caches the compiled schemas.
  const validator = ajv.compile(schema)
  validator(root)
  for (const error of validator.errors ?? []) report(document, root, error)
}

interface Located {
  /** The last key of the path that is not an index, followed by its indexes: `targets[0]`. */
  readonly label: string
  readonly container: Data | Value[] | null
  readonly key: string
}

function report(document: Document, root: Data, error: ErrorObject): void {
  const { label, container, key } = locate(root, error.instancePath)
  const spot = container === null ? undefined : document.spot(container, key)
  if (error.keyword === 'additionalProperties') {
    const unknown = String(error.params.additionalProperty)
    const keys = Object.keys(error.parentSchema?.properties ?? {})
    const hint = didYouMean(unknown, keys) || ` (known keys: ${keys.join(', ')})`
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
  return `${label} must be ${expected}${suchAs}, not ${typeOf(schema, data)}${advice}`
}

/**
 * The example in a message. For a setting with a unit it is the default, if there is one. `0s` is no example,
 * because it turns a setting off.
 */
function exampleOf({ parentSchema }: ErrorObject): string | undefined {
  const { title, default: value, examples = [] } = parentSchema as JsonSchema
  const candidates = title === undefined ? examples.slice(0, 1) : [value, ...examples]
  return candidates.find((each) => typeof each === 'string' && each !== '0s') as string | undefined
}

/** The name of the type of a value that has not the expected type. */
function typeOf(expected: unknown, value: unknown): string {
  if (expected !== 'integer' || typeof value !== 'number')
    return typeName(Array.isArray(value) ? 'array' : typeof value)
  return Number.isFinite(value) ? 'a number with a fraction' : String(value)
}

/** The entry that a JSON Pointer names. */
function locate(root: Data, pointer: string): Located {
  let entry: Located = { label: 'the file', container: null, key: '' }
  let value: Value = root
  for (const key of pointerParts(pointer)) {
    const container = value as Data | Value[]
    const label = Array.isArray(container) ? `${entry.label}[${key}]` : key.includes(' ') ? quote(key) : key
    entry = { label, container, key }
    value = (container as Data)[key] ?? null
  }
  return entry
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
