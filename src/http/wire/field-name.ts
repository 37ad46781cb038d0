/**
 * Names of fields, folded as the most lenient reader sees them: CGI ignores case, and maps all characters but
 * letters and digits to one. `X_Seatgate.User` would reach an application as `x-seatgate-user`.
 */

import { hashOf } from '../../lib/text-hash.ts'
import { TOKEN } from './fields.ts'

/** A name to look for. */
export interface FieldName {
  /** Lower case; letters, digits and `-`. */
  readonly folded: string
  /** Its characters: reading them from the text takes twice as long. */
  readonly codes: readonly number[]
  readonly hash: number
}

/** Set in the code of a token character that is not a letter, a digit or `-`. */
export const ODD = 0x80

const HYPHEN = 0x2d
const token = new RegExp(`^${TOKEN}$`)

/** The folded character of each byte, with ODD; 0 if it is no token character (RFC 9110, section 5.6.2). */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  if (!token.test(character)) return 0
  if (/[A-Za-z0-9-]/.test(character)) return character.toLowerCase().charCodeAt(0)
  return HYPHEN | ODD
})

export function foldByte(bytes: Uint8Array, at: number): number {
  return FOLDED[bytes[at] ?? 0] ?? 0
}

/**
 * The folded character of a name, without ODD.
 *
 * @param code latin1
 */
export function foldCharacter(code: number): number {
  return (FOLDED[code] ?? 0) & ~ODD
}

/** Whether a value may contain it (RFC 9110, section 5.5). Comparing takes half as long as a table. */
export function isValueByte(byte: number): boolean {
  return byte >= 0x20 ? byte !== 0x7f : byte === 0x09
}

/** @param folded lower case; letters, digits and `-` */
export function fieldName(folded: string): FieldName {
  const codes = [...folded].map((character) => character.charCodeAt(0))
  return Object.freeze({ folded, codes, hash: hashOf(folded) })
}
