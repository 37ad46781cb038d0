/**
 * Strict JSON: as `JSON.parse`, but without duplicate members (RFC 8259, section 4, leaves their meaning
 * open), and with limits that are checked before anything is built.
 */

import type { JsonLimits } from '../../seats-admin/model/json-limits.ts'

/** The limit on nested arrays and objects. */
export const MAX_DEPTH = 64

/** The limits of a text with any number of objects and lists: an identity provider's answer, or a body. */
export const JSON_LIMITS: JsonLimits = { members: 32_768, elements: 65_536 }

/** `isLimit`: the text may be strict JSON, and is larger than is read. */
export type Parsed = { readonly value: unknown } | { readonly fault: string; readonly isLimit?: true }

export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

export const NOT_JSON = { fault: 'not valid JSON' } as const
export const TOO_DEEP = { fault: `nested more than ${MAX_DEPTH} levels deep` } as const
export const DUPLICATE = { fault: 'an object has the same member twice' } as const

/** The fault of the counts; null if they are within the limits. */
export function overLimit(members: number, parts: number, limits: JsonLimits): LimitFault | null {
  if (members > limits.members) return { fault: `has more than ${limits.members} members`, isLimit: true }
  if (parts > limits.elements + members)
    return { fault: `has more than ${limits.elements} elements`, isLimit: true }
  return null
}

interface LimitFault {
  readonly fault: string
  readonly isLimit: true
}

/**
 * Parses a JSON text. Never throws. `fault` is public and holds nothing of the input.
 *
 * A member named `__proto__` is an ordinary own property. Numbers out of range are ±Infinity: the caller
 * checks numbers.
 */
export function parseJson(text: string, limits = JSON_LIMITS): Parsed {
  const members = countMembersInText(text, limits)
  if (typeof members !== 'number') return members
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return NOT_JSON
  }
  return countParsedMembers(value) === members ? { value } : DUPLICATE
}

/**
 * Members in the text: each has one colon outside strings. A fault is found before any recursive code sees
 * the text. Invalid JSON gives an arbitrary number; `JSON.parse` rejects it later.
 */
function countMembersInText(text: string, limits: JsonLimits): number | { fault: string } {
  let members = 0
  let parts = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON) members++
    else if (code === COMMA) parts++
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      parts++
      if (++depth > MAX_DEPTH) return TOO_DEEP
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
  }
  return overLimit(members, parts, limits) ?? members
}

/** The position of the closing quote of the string that opens at `start`; the end of the text without one. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

/** Members of the parsed value: `JSON.parse` keeps only the last of two with one name. */
function countParsedMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let members = 0
  if (Array.isArray(value)) for (const each of value) members += countParsedMembers(each)
  else {
    for (const name of Object.keys(value))
      members += 1 + countParsedMembers((value as Readonly<Record<string, unknown>>)[name])
  }
  return members
}

/** The object that the text is. Null for any other text. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | null {
  const parsed = parseJson(text)
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : null
}

/** Whether the value is an object, but neither an array nor null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
