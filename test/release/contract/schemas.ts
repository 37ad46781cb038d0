/** Compares two JSON Schemas of what is the same value in two versions. */

import type { JsonSchema } from '../../../seats-admin/model/json-schema.ts'
import { duration, size } from '../../../src/config/units.ts'

/** A schema of the contract: references and `allOf` occur in the OpenAPI document alone. */
export interface ContractSchema extends Omit<
  JsonSchema,
  'items' | 'properties' | 'additionalProperties' | 'anyOf' | 'propertyNames'
> {
  readonly $ref?: string
  readonly const?: unknown
  readonly items?: ContractSchema
  readonly properties?: Readonly<Record<string, ContractSchema>>
  readonly additionalProperties?: boolean | ContractSchema
  readonly propertyNames?: ContractSchema
  readonly anyOf?: readonly ContractSchema[]
  readonly allOf?: readonly ContractSchema[]
  /** The bounds of a duration or size, as its description has them. */
  readonly range?: readonly [least: string, most: string]
}

export interface Break {
  /** The name of the thing, such as `gateway: redis.url`. */
  readonly name: string
  readonly what: string
}

/** @returns the schema that a reference refers to */
export type Resolve = (schema: ContractSchema) => ContractSchema

const asItIs: Resolve = (schema) => schema

/** Whether users write the value (`input`) or read it (`output`). */
export type Direction = 'input' | 'output'

/**
 * Finds what a value loses. An input must accept what it accepted, with the same default. An output must keep
 * its members, types and forms.
 */
export class SchemaComparison {
  readonly #direction: Direction
  readonly #before: Resolve
  readonly #after: Resolve
  /** The named schemas that are compared already. */
  readonly #named = new Set<string>()

  /** @param before, after resolve the references of the two versions */
  constructor(direction: Direction, before: Resolve = asItIs, after: Resolve = asItIs) {
    this.#direction = direction
    this.#before = before
    this.#after = after
  }

  /** @param name of the value; a named schema has its own */
  compare(name: string, one: ContractSchema, other: ContractSchema): Break[] {
    if (one.$ref !== undefined) {
      if (this.#named.has(`${one.$ref} ${other.$ref}`)) return []
      this.#named.add(`${one.$ref} ${other.$ref}`)
    }
    const path = one.$ref === undefined ? name : `api: ${one.$ref.slice(one.$ref.lastIndexOf('/') + 1)}`
    const before = merged(one, this.#before)
    const after = merged(other, this.#after)
    if (before.anyOf !== undefined || after.anyOf !== undefined) return this.#forms(path, before, after)
    const { items } = before
    return [
      ...this.#values(path, before, after),
      ...this.#members(path, before, after),
      ...this.#others(path, before, after),
      ...(items === undefined || after.items === undefined
        ? []
        : this.compare(`${path}[]`, items, after.items)),
    ]
  }

  /** Each form of an input is still accepted; each form of an output is one that clients know. */
  #forms(name: string, before: ContractSchema, after: ContractSchema): Break[] {
    const [old, current] = [before.anyOf ?? [before], after.anyOf ?? [after]]
    const fits = (one: ContractSchema, other: ContractSchema) =>
      new SchemaComparison(this.#direction, this.#before, this.#after).compare(name, one, other).length === 0
    const lost = old.some((one) => !current.some((other) => fits(one, other)))
    const strange =
      this.#direction === 'output' && current.some((other) => !old.some((one) => fits(one, other)))
    return [
      ...(lost ? [{ name, what: 'one of its forms is gone or narrower' }] : []),
      ...(strange ? [{ name, what: 'it has a form that clients do not know' }] : []),
    ]
  }

  #values(name: string, before: ContractSchema, after: ContractSchema): Break[] {
    const whats =
      this.#direction === 'input'
        ? [
            ...typeBreaks(before, after),
            ...boundBreaks(before, after),
            ...(['pattern', 'format'] as const).flatMap((key) => changed(key, before, after, after[key])),
            ...changed('default', before, after, before.default),
          ]
        : [...typeBreaks(after, before), ...changed('format', before, after, before.format)]
    return [...whats, ...enumBreaks(this.#direction, before, after)].map((what) => ({ name, what }))
  }

  #members(name: string, before: ContractSchema, after: ContractSchema): Break[] {
    const breaks = Object.entries(before.properties ?? {}).flatMap(([key, schema]) => {
      const member = memberName(name, key)
      const now = after.properties?.[key]
      return now === undefined ? [{ name: member, what: 'it is gone' }] : this.compare(member, schema, now)
    })
    return [...breaks, ...this.#required(name, before, after)]
  }

  #required(
    name: string,
    { required: old = [] }: ContractSchema,
    { required: now = [] }: ContractSchema,
  ): Break[] {
    const [from, to, what] =
      this.#direction === 'input'
        ? [now, old, 'it is required, which it was not']
        : [old, now, 'it may be absent, which it never was']
    return from.filter((key) => !to.includes(key)).map((key) => ({ name: memberName(name, key), what }))
  }

  /** The members whose names the schema does not know. */
  #others(name: string, before: ContractSchema, after: ContractSchema): Break[] {
    const { additionalProperties: old = true, propertyNames: oldNames = {} } = before
    const { additionalProperties: now = true, propertyNames: names } = after
    const inNames = names === undefined ? [] : this.compare(`${name} (names)`, oldNames, names)
    if (typeof old === 'object' && typeof now === 'object')
      return [...inNames, ...this.compare(memberName(name, 'NAME'), old, now)]
    const isInput = this.#direction === 'input'
    const lost = typeof old === 'object' ? !isInput || now === false : isInput && old && now !== true
    return lost ? [...inNames, { name, what: 'it no longer has any such member' }] : inNames
  }
}

function memberName(name: string, key: string): string {
  return name.endsWith(': ') ? `${name}${key}` : `${name}.${key}`
}

/** The schema without its reference, and with the members of `allOf`. */
function merged(schema: ContractSchema, resolve: Resolve): ContractSchema {
  const { allOf = [], ...own } = schema.$ref === undefined ? schema : resolve(schema)
  return allOf
    .map((each) => merged(each, resolve))
    .reduce(
      (all, each) => ({
        ...all,
        ...each,
        properties: { ...all.properties, ...each.properties },
        required: [...(all.required ?? []), ...(each.required ?? [])],
      }),
      own,
    )
}

/** Whether `narrow` has a type that `wide` lacks. */
function typeBreaks(narrow: ContractSchema, wide: ContractSchema): string[] {
  if (wide.type === undefined) return []
  const accepted = [wide.type].flat()
  const fits = (type: string) =>
    accepted.includes(type) || (type === 'integer' && accepted.includes('number'))
  const types = narrow.type === undefined ? ['any'] : [narrow.type].flat()
  return types.every(fits) ? [] : [`its type ${types.join('|')} is not within ${accepted.join('|')}`]
}

function enumBreaks(direction: Direction, before: ContractSchema, after: ContractSchema): string[] {
  const [old, current] = [before, after].map((each) => each.enum ?? ('const' in each ? [each.const] : null))
  if (current == null) return []
  if (old == null) return direction === 'input' ? ['it takes only some values'] : []
  const gone = old.filter((value) => !current.includes(value))
  return gone.map((value) => `its value ${JSON.stringify(value)} is gone`)
}

const UPPER = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const
const LOWER = ['minimum', 'minLength', 'minItems', 'minProperties'] as const

function boundBreaks(before: ContractSchema, after: ContractSchema): string[] {
  const higher = LOWER.filter((key) => (after[key] ?? -Infinity) > (before[key] ?? -Infinity))
  const lower = UPPER.filter((key) => (after[key] ?? Infinity) < (before[key] ?? Infinity))
  const range = after.range === undefined || isWithin(before.range, after.range) ? [] : ['range']
  const unique = after.uniqueItems === true && before.uniqueItems !== true ? ['uniqueItems'] : []
  return [...higher, ...lower, ...range, ...unique].map((key) => `its ${key} is narrower`)
}

/** Of durations and sizes. */
function isWithin(one: ContractSchema['range'], other: readonly [string, string]): boolean {
  if (one === undefined) return false
  const [least, most, from, to] = [...one, ...other].map(amountOf)
  return Number(from) <= Number(least) && Number(to) >= Number(most)
}

function amountOf(text: string): number {
  const amount = duration(text)
  return typeof amount === 'number' ? amount : Number(size(text))
}

/** @param guard the value that must not change; undefined: any change adds something */
function changed(
  key: 'pattern' | 'format' | 'default',
  { [key]: before }: ContractSchema,
  { [key]: after }: ContractSchema,
  guard: unknown,
): string[] {
  const [old, now] = [before, after].map((value) => JSON.stringify(value) ?? 'none')
  return guard === undefined || old === now ? [] : [`its ${key} ${old} is now ${now}`]
}
