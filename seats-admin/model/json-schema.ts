/**
 * JSON Schemas (draft 2020-12) that know the TypeScript type of their values, so that a declaration and the
 * code behind it cannot differ. Pure.
 */

/** The keywords in use. */
export interface JsonSchema {
  /** Names the schema in the OpenAPI document, and the kind of a setting. */
  readonly title?: string
  readonly description?: string
  readonly examples?: readonly unknown[]
  readonly type?: string | readonly string[]
  /** Of a body: one of `seats-admin/api/formats.ts`. */
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  /** A secret, or a text with one. */
  readonly writeOnly?: boolean
  readonly enum?: readonly unknown[]
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly propertyNames?: JsonSchema
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly anyOf?: readonly JsonSchema[]
}

declare const VALUE: unique symbol

/** A JSON Schema whose values have the type `V`. */
export interface Schema<out V> extends JsonSchema {
  readonly [VALUE]?: V
}

export type ValueOf<S> = S extends Schema<infer V> ? V : never

export type Fields = Readonly<Record<string, JsonSchema>>

type ObjectOf<R extends Fields, O extends Fields> = {
  readonly [Name in keyof R]: ValueOf<R[Name]>
} & { readonly [Name in keyof O]?: ValueOf<O[Name]> }

export function text(description: string, more: JsonSchema = {}): Schema<string> {
  return { type: 'string', ...more, description }
}

export function textItem(more: JsonSchema): Schema<string> {
  return { type: 'string', ...more }
}

export function flag(description: string): Schema<boolean> {
  return { type: 'boolean', description }
}

export function count(description: string): Schema<number> {
  return { type: 'integer', minimum: 0, description }
}

/** RFC 3339, UTC, milliseconds. */
export function time(description: string): Schema<string> {
  return text(description, { format: 'date-time', examples: ['2026-11-21T11:00:00.000Z'] })
}

/** One of these texts. */
export function oneOf<const T extends string>(values: readonly T[], description: string): Schema<T> {
  return { type: 'string', enum: values, description }
}

export function orNull<V>(schema: Schema<V>): Schema<V | null> {
  const { title, description = '', type = [], enum: values } = schema
  if (title !== undefined) return { anyOf: [schema, { type: 'null' }], description }
  const orNullOf = values === undefined ? {} : { enum: [...values, null] }
  return { ...(schema as JsonSchema), type: [type, 'null'].flat(), ...orNullOf }
}

export function list<V>(items: Schema<V>, description: string, more: JsonSchema = {}): Schema<readonly V[]> {
  return { type: 'array', ...more, items, description }
}

/** An object of an answer: fields may be added, so clients ignore the ones that they do not know. */
export function object<R extends Fields, O extends Fields = Record<never, never>>(
  required: R,
  optional?: O,
): Schema<ObjectOf<R, O>> {
  return { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) }
}

/** An object of a body: unknown fields are refused. */
export function strictObject<R extends Fields, O extends Fields = Record<never, never>>(
  required: R,
  optional?: O,
): Schema<ObjectOf<R, O>> {
  return { ...object(required, optional), additionalProperties: false }
}

/** An object of an answer that may have any field. */
export function freeObject(description: string): Schema<Readonly<Record<string, unknown>>> {
  return { type: 'object', additionalProperties: true, description }
}

/** A map of names that the schema does not know. */
export function mapOf<V>(
  value: Schema<V>,
  description: string,
  more: JsonSchema = {},
): Schema<Readonly<Record<string, V>>> {
  return { type: 'object', ...more, additionalProperties: value, description }
}

/** The schema under a name in the OpenAPI document. */
export function named<V>(title: string, description: string, schema: Schema<V>): Schema<V> {
  return { ...schema, title, description }
}

/** The JSON form of an item, by a schema. */
export interface View<I, V> {
  (item: I): V
  readonly schema: Schema<V>
}

/**
 * Compiles only where `of` has each required field of the schema, and no field that is none of the schema.
 */
export function view<V, I, R extends V>(
  schema: Schema<V>,
  of: (item: I) => R & { readonly [Name in Exclude<keyof R, keyof V>]: never },
): View<I, V> {
  return Object.assign((item: I): V => of(item), { schema })
}
