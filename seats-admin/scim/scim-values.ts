/** The canonical form of values: names as declared, truth values as such, unknown members dropped. */

import type { Json, JsonObject } from '../model/canonical-json.ts'
import type { Attributes, ScimAttribute } from './scim-attributes.ts'
import { invalidSyntax, invalidValue, ScimFault } from './scim-fault.ts'

/** Values of one attribute that has several. Each step of a change goes through them. */
export const MAX_VALUES = 256

/** An object of the request; a member named `__proto__` is an ordinary one. */
export type Input = Readonly<Record<string, unknown>>

export function isInput(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The members by their names in lower case, as names do not depend on case (RFC 7643, section 2.1). Two
 * spellings of one name are a fault: another reader might take the other one.
 */
export function membersOf(input: Input): ReadonlyMap<string, unknown> | ScimFault {
  const members = new Map(Object.entries(input).map(([name, value]) => [name.toLowerCase(), value]))
  return members.size === Object.keys(input).length
    ? members
    : invalidSyntax('An object has the same attribute twice, in different spellings.')
}

/**
 * The object with the declared attributes that have a value. Null and an empty list are no value (RFC 7643,
 * section 2.5).
 */
export function canonicalObject(input: Input, attributes: Attributes): JsonObject | ScimFault {
  const members = membersOf(input)
  if (members instanceof ScimFault) return members
  const object: Record<string, Json> = {}
  for (const [lower, attribute] of attributes) {
    const value = canonicalValue(members.get(lower), attribute)
    if (value instanceof ScimFault) return value
    if (value !== undefined) object[attribute.name] = value
  }
  return object
}

/** The value of the attribute, a list where it has several; undefined: none. */
export function canonicalValue(value: unknown, attribute: ScimAttribute): Json | undefined | ScimFault {
  if (value === undefined || value === null) return undefined
  if (!attribute.multi) return canonicalSingle(value, attribute)
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length > MAX_VALUES) return invalidValue(`${attribute.name} has more than ${MAX_VALUES} values.`)
  const values: Json[] = []
  for (const each of list) {
    const one = canonicalSingle(each, attribute)
    if (one instanceof ScimFault) return one
    if (one !== undefined) values.push(one)
  }
  if (values.filter(isPrimary).length > 1) return invalidValue(`${attribute.name} has two primary values.`)
  return values.length === 0 ? undefined : values
}

export function isPrimary(value: Json): boolean {
  return typeof value === 'object' && value !== null && 'primary' in value && value.primary === true
}

function canonicalSingle(value: unknown, attribute: ScimAttribute): Json | undefined | ScimFault {
  const { name, type, sub } = attribute
  if (type === 'complex') {
    // Some providers send a manager or a role as the text of its value.
    const input = typeof value === 'string' && sub.has('value') ? { value } : value
    if (!isInput(input))
      return invalidValue(`${name} must be ${attribute.multi ? 'a list of objects' : 'an object'}.`)
    const object = canonicalObject(input, sub)
    return object instanceof ScimFault || Object.keys(object).length > 0 ? object : undefined
  }
  if (type === 'boolean') return truthOf(value) ?? invalidValue(`${name} must be true or false.`)
  if (typeof value !== 'string') return invalidValue(`${name} must be a text.`)
  return isStorable(value) ? value : invalidValue(`${name} has a character that is not text.`)
}

/** Whether the body gives the attribute no value. */
export function clears(body: unknown, name: string): boolean {
  const lower = name.toLowerCase()
  return (
    isInput(body) &&
    Object.entries(body).some(([each, value]) => value === null && each.toLowerCase() === lower)
  )
}

/** Microsoft Entra ID sends `"False"`. */
export function truthOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' ? value.toLowerCase() : ''
  return word === 'true' ? true : word === 'false' ? false : null
}

/** PostgreSQL stores no NUL, and a lone surrogate is no text in UTF-8. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
