/**
 * The formats of texts in bodies: how each is checked, and how the OpenAPI document and the manual describe
 * it.
 */

import type { JsonSchema } from '../model/json-schema.ts'
import { EVERY_PERMISSION, isPermission, PERMISSION } from '../model/permission.ts'
import { isSpaceId, SPACE_ID } from '../model/space.ts'
import { parseDateTime } from './date-time.ts'

interface Format {
  readonly accepts: (text: string) => boolean
  /** The message for other texts. */
  readonly otherwise: string
  /** In standard keywords. It matches each text that `accepts` does; `meaning` says what it cannot say. */
  readonly keywords: JsonSchema
  readonly meaning: string
}

/** Unicode code points. */
const MAX_LENGTH = 256
/** C0, DEL, C1, U+2028 and U+2029: names appear in log lines. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/**
 * The syntax of Seat and API key names. They are compared as written: not trimmed, case-folded or normalized.
 */
export function isName(text: string): boolean {
  // A code point has one or two UTF-16 code units.
  if (text.length === 0 || text.length > 2 * MAX_LENGTH || !text.isWellFormed()) return false
  return [...text].length <= MAX_LENGTH && text.trim() === text && !CONTROL.test(text)
}

/** A line without control characters, and without white space at its ends, as `isName` has it. */
const NAME =
  '^[^\\s\\u0000-\\u001f\\u007f-\\u009f]' +
  '(?:[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$'

const MOMENT = {
  accepts: (text: string) => parseDateTime(text) !== null,
  otherwise: 'must be a date-time with an offset (RFC 3339)',
  keywords: { format: 'date-time' },
}

export const FORMATS = {
  name: {
    accepts: isName,
    otherwise:
      'must be 1 to 256 characters, without control characters, and without leading or trailing white space',
    keywords: { minLength: 1, maxLength: MAX_LENGTH, pattern: NAME },
    meaning: `1 to ${MAX_LENGTH} characters (code points, no lone surrogate), without control characters, U+2028 and U+2029, and without leading or trailing white space`,
  },
  space: {
    accepts: isSpaceId,
    otherwise: 'must be a space id: up to 128 of A-Z a-z 0-9 . _ ~ -, beginning with a letter or a digit',
    keywords: { pattern: SPACE_ID.source },
    meaning:
      'a space id, 1 to 128 of the characters `A-Z a-z 0-9 . _ ~ -`, beginning with a letter or a digit',
  },
  permission: {
    accepts: isPermission,
    otherwise: 'must be <resource>:<operation>, each of A-Z a-z 0-9 . _ -, or exactly *',
    keywords: { pattern: `^\\${EVERY_PERMISSION}$|${PERMISSION.source}` },
    meaning: '`<resource>:<operation>`, each part of the characters `A-Z a-z 0-9 . _ -`, or exactly `*`',
  },
  'well-formed': {
    accepts: (text) => text.isWellFormed(),
    otherwise: 'must be well-formed Unicode',
    keywords: {},
    meaning: 'well-formed Unicode',
  },
  moment: { ...MOMENT, meaning: 'a date-time with an offset (RFC 3339), without a leap second' },
  expiry: {
    ...MOMENT,
    meaning: 'a date-time with an offset (RFC 3339), in the future, without a leap second',
  },
} as const satisfies Readonly<Record<string, Format>>

/** The format of this name; undefined for a standard format, and for none. */
export function formatOf(name: string | undefined): Format | undefined {
  return Object.entries<Format>(FORMATS).find(([each]) => each === name)?.[1]
}

/**
 * The schema of a body in standard keywords (JSON Schema 2020-12). `checker` refuses duplicates in each list
 * of a body, so `uniqueItems` stands at these.
 */
export function published(schema: JsonSchema): JsonSchema {
  const { properties = {} } = schema
  const lists = Object.entries(properties).filter(([, { type }]) => type === 'array')
  const unique = lists.map(([name, each]) => [name, { ...each, uniqueItems: true }])
  return standard({ ...schema, properties: { ...properties, ...Object.fromEntries(unique) } })
}

function standard(schema: JsonSchema): JsonSchema {
  const { items, properties, additionalProperties: others, anyOf } = schema
  return {
    ...withoutFormat(schema),
    ...(items === undefined ? {} : { items: standard(items) }),
    ...(properties === undefined ? {} : { properties: mapped(properties) }),
    ...(typeof others === 'object' ? { additionalProperties: standard(others) } : {}),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(standard) }),
  }
}

function mapped(properties: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, standard(each)]))
}

function withoutFormat(schema: JsonSchema): JsonSchema {
  const format = formatOf(schema.format)
  if (format === undefined) return schema
  const { format: _, description, ...rest } = schema
  const sentence = `${format.meaning.charAt(0).toUpperCase()}${format.meaning.slice(1)}.`
  return {
    ...rest,
    ...format.keywords,
    description: description === undefined ? sentence : `${description} ${sentence}`,
  }
}
