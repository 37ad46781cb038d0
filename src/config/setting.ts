/**
 * The language in which the keys of configuration files are declared. A declaration gives the JSON Schema
 * that editors and the validator use, the type of the built value, its reader, and its row in the manual. The
 * field `headerBytes` of a map is the key `header_bytes` in the file. Rules across keys are functions beside
 * the declarations.
 */

import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { frozenMap } from './frozen.ts'
import { confidential, distinct, InvalidValue, type ValueParser } from './invalid-value.ts'
import type { Section } from './section.ts'
import type { FileSchema } from './schema.ts'
import { durationWithin, sizeWithin } from './units.ts'

/** The declaration of a key: the schema of its value, and how the value is built. */
export interface Setting<out T> {
  readonly schema: JsonSchema
  /** Whether the map must have the key. */
  readonly isRequired: boolean
  /**
   * Builds the value, and reports its faults. A default or a placeholder replaces a value that is absent or
   * has a fault.
   */
  readonly read: (section: Section, key: string) => T
}

export type Fields = Readonly<Record<string, Setting<unknown>>>

/** The built values of a map, by the names of its fields. */
export type ValuesOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Setting<infer T> ? T : never
}

interface MapSetting<F extends Fields, out T> extends Setting<T> {
  readonly fields: F
  /** Builds the map that this section is. */
  readonly of: (section: Section) => T
}

/**
 * Reads the text of a value.
 *
 * @param section the map with the value, for its other keys and for relative paths
 */
export type Reader<T> = (text: string, section: Section) => T | InvalidValue

interface Options<T> extends JsonSchema {
  /** For a required key: replaces a value that is absent or has a fault, so that further faults are found. */
  readonly placeholder?: T
  readonly privacy?: Privacy
}

/**
 * `confidential`: messages do not show the value. `secret`: there is also a warning if the file contains the
 * value itself.
 */
type Privacy = 'confidential' | 'secret'

/** The type of the built value; null: the key is absent or has a fault, and there is no default. */
type Built<T, O> = O extends { readonly default: unknown } | { readonly placeholder: unknown } ? T : T | null

/** A setting that no other function declares, such as one with values of several types. */
export function setting<T>(schema: JsonSchema, read: Setting<T>['read']): Setting<T> {
  return { schema, isRequired: false, read }
}

/** The same setting as a key that the map must have. */
export function required<T, S extends Setting<T>>(of: S): S {
  return { ...of, isRequired: true }
}

/** The same setting; null: the key is absent, or its value has the wrong type. */
export function optional<T>(of: Setting<T>): Setting<T | null> {
  const read = (section: Section, key: string) =>
    section.value(key) === undefined ? null : of.read(section, key)
  return setting(of.schema, read)
}

/**
 * @param options `pattern` is for editors only. The reader reports faults in detail. Values may contain
 *   variables.
 */
export function text<T, const O extends Options<T>>(
  description: string,
  read: Reader<T>,
  options: O,
): Setting<Built<T, O>> {
  const { placeholder, privacy, ...keywords }: Options<T> = options
  const schema = textSchema({ description, type: 'string', ...keywords }, privacy)
  const valueOf = (section: Section, key: string) => {
    const parse = (each: string) => read(each, section)
    if (privacy === 'secret') section.warnOfSecrets(key)
    const value = section.text(key, privacy === undefined ? parse : confidential(parse))
    return value ?? (schema.default === undefined ? (placeholder ?? null) : defaultOf(schema.default, parse))
  }
  return setting(schema, valueOf as Setting<Built<T, O>>['read'])
}

/** The reader of texts that have no syntax of their own. */
export function asWritten(value: string): string {
  return value
}

/** A duration in ms from `min` to `max`. The maximum for a timer is 24d; see `durationWithin`. */
export function duration<const O extends Options<number>>(
  description: string,
  min: string,
  max: string,
  options: O,
): Setting<Built<number, O>> {
  return text(`${description} From ${min} to ${max}.`, durationWithin(min, max), {
    ...DURATION,
    ...options,
  })
}

const DURATION = { title: 'duration', pattern: '^(0|[1-9][0-9]*)(ms|s|m|h|d)$' }

/** A size in bytes from `min` to `max`. */
export function size<const O extends Options<number>>(
  description: string,
  min: string,
  max: string,
  options: O,
): Setting<Built<number, O>> {
  return text(`${description} From ${min} to ${max}.`, sizeWithin(min, max), { ...SIZE, ...options })
}

const SIZE = { title: 'size', pattern: '^(0|[1-9][0-9]*)(B|KiB|MiB|GiB|TiB)$' }

/** A whole number. The validator checks its bounds. */
export function count<const O extends JsonSchema>(
  description: string,
  options: O,
): Setting<Built<number, O>> {
  const schema: JsonSchema = { description, type: 'integer', ...options }
  const read = (section: Section, key: string) => section.number(key) ?? schema.default ?? null
  return setting(schema, read as Setting<Built<number, O>>['read'])
}

export function flag(description: string, options: JsonSchema = {}): Setting<boolean> {
  const schema = { description, type: 'boolean', default: false, ...options }
  return setting(schema, (section, key) => (section.value(key) ?? schema.default) === true)
}

/** One of these words. The validator checks the value. */
export function choice<const Word extends string>(
  description: string,
  words: readonly Word[],
  options: JsonSchema & { readonly default: NoInfer<Word> },
): Setting<Word> {
  const schema = { description, type: 'string', enum: words, ...options }
  return setting(schema, (section, key) => (section.value(key) ?? schema.default) as Word)
}

interface ListOptions<T> extends JsonSchema {
  readonly default?: readonly string[]
  readonly privacy?: Privacy
  /** Refuses equal values, or values with equal keys. */
  readonly distinct?: true | ((value: T) => unknown)
}

/** A list of texts, without those that have a fault. It is empty if the key is absent and has no default. */
export function list<T>(
  description: string,
  read: Reader<T>,
  { distinct: keyOf, privacy, items, ...keywords }: ListOptions<T> = {},
): Setting<readonly T[]> {
  const schema = {
    description,
    type: 'array',
    ...keywords,
    items: textSchema({ type: 'string', ...items }, privacy),
  }
  return setting(schema, (section, key) => {
    const each = (value: string) => read(value, section)
    const parse = keyOf === undefined ? each : distinct(each, keyOf === true ? undefined : keyOf)
    if (privacy === 'secret') section.warnOfSecrets(key)
    const values = section.texts(key, privacy === undefined ? parse : confidential(parse))
    const isListed = section.value(key) !== undefined
    return Object.freeze(isListed ? values : (schema.default ?? []).map((value) => defaultOf(value, each)))
  })
}

/** A list of maps. Elements of other types are left out. */
export function listOf<F extends Fields, T>(
  element: MapSetting<F, T>,
  description: string,
  keywords: JsonSchema = {},
): Setting<readonly T[]> {
  const schema = { description, type: 'array', ...keywords, items: element.schema }
  return setting(schema, (section, key) =>
    Object.freeze(section.sections(key).map((each) => element.of(each))),
  )
}

/** A map of these keys. If the map is absent, it is built from its defaults. */
export function map<const F extends Fields>(description: string, fields: F): MapSetting<F, ValuesOf<F>>
/** @param build checks rules across the keys, and returns the value that the gateway uses */
export function map<const F extends Fields, T>(
  description: string,
  fields: F,
  build: (values: ValuesOf<F>, section: Section) => T,
): MapSetting<F, T>
export function map(
  description: string,
  fields: Fields,
  build: (values: ValuesOf<Fields>, section: Section) => unknown = Object.freeze,
): MapSetting<Fields, unknown> {
  const of = (section: Section) => build(valuesOf(fields, section), section)
  const schema = { ...(description === '' ? {} : { description }), ...schemaOf(fields) }
  return { ...setting(schema, (section, key) => of(section.section(key))), fields, of }
}

/**
 * A map of names that users choose.
 *
 * @param nameFault returns the fault of a name; null: the name is valid
 */
export function mapOf<T>(
  element: Setting<T>,
  description: string,
  keywords: JsonSchema = {},
  nameFault: (name: string) => string | null = () => null,
): Setting<ReadonlyMap<string, T>> {
  const schema = { description, type: 'object', ...keywords, additionalProperties: element.schema }
  return setting(schema, (section, key) => {
    const all = section.section(key)
    for (const name of all.keys()) {
      const fault = nameFault(name)
      if (fault !== null) all.faultAtKey(name, fault)
    }
    return frozenMap(new Map(all.keys().map((name) => [name, element.read(all, name)])))
  })
}

/** The declaration of a whole file. */
interface FileSetting<F extends Fields> {
  readonly schema: FileSchema
  readonly fields: F
  /** Builds the values of the file. */
  readonly of: (root: Section) => ValuesOf<F>
}

export function file<const F extends Fields>(title: string, description: string, fields: F): FileSetting<F> {
  const $schema = 'http://json-schema.org/draft-07/schema#'
  const schema = { $schema, title, description, ...schemaOf(fields) }
  return { schema, fields, of: (root) => valuesOf(fields, root) }
}

function valuesOf<F extends Fields>(fields: F, section: Section): ValuesOf<F> {
  const values = Object.entries(fields).map(([name, each]) => [name, each.read(section, keyIn(name))])
  return Object.fromEntries(values) as ValuesOf<F>
}

function schemaOf(fields: Fields) {
  const entries = Object.entries(fields)
  const needed = entries.filter(([, { isRequired }]) => isRequired).map(([name]) => keyIn(name))
  return {
    type: 'object',
    additionalProperties: false,
    required: needed,
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [keyIn(name), schema])),
  }
}

/** The key of a field: `header_bytes` for `headerBytes`. */
function keyIn(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The schema of a text, which may contain variables. */
function textSchema({ pattern, ...schema }: JsonSchema, privacy: Privacy | undefined): JsonSchema {
  return {
    ...schema,
    ...(pattern === undefined ? {} : { pattern: `${pattern}|\\$\\{` }),
    ...(privacy === 'secret' ? { writeOnly: true } : {}),
  }
}

function defaultOf<T>(value: unknown, read: ValueParser<T>): T {
  const built = read(String(value))
  if (built instanceof InvalidValue) throw new Error(`the default ${String(value)} ${built.message}`)
  return built
}
