/**
 * Strict JSON: as `JSON.parse`, but without duplicate members (RFC 8259, section 4, leaves their meaning open) and with
 * a limit on nesting.
 */

/** The limit on nested arrays and objects. */
export const MAX_DEPTH = 64

const QUOTE = 0x22
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const NOT_JSON = { fault: 'not valid JSON' } as const
const TOO_DEEP = { fault: `nested more than ${MAX_DEPTH} levels deep` } as const
const DUPLICATE = { fault: 'an object has the same member twice' } as const

/**
 * Parses a JSON text. Never throws. `fault` is public and holds nothing of the input.
 *
 * A member named `__proto__` is an ordinary own property. Numbers out of range are ±Infinity: the caller checks
 * numbers.
 */
export function parseJson(text: string): { value: unknown } | { fault: string } {
  const members = countMembersInText(text)
  if (members === null) return TOO_DEEP
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return NOT_JSON
  }
  return countParsedMembers(value) === members ? { value } : DUPLICATE
}

/**
 * Members in the text: each has one colon outside strings. Null if the nesting is too deep, which is found before any
 * recursive code sees the text. Invalid JSON gives an arbitrary number; `JSON.parse` rejects it later.
 */
function countMembersInText(text: string): number | null {
  let members = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COLON) members++
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (++depth > MAX_DEPTH) return null
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
  }
  return members
}

/** The position of the closing quote of the string that opens at `start`; the end of the text if it is unterminated. */
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
  let members = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const each of Object.values(value)) members += countParsedMembers(each)
  return members
}

/** Whether the value is an object, but neither an array nor null. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
