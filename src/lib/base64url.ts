/** The parts of a compact JWS (RFC 7515, section 7.1), each in its one canonical spelling. */

import { isUtf8 } from 'node:buffer'
import { parseJsonObject } from './json.ts'

/**
 * The bytes. Null for padding, white space, non-zero trailing bits and other characters: encoding the bytes
 * gives the same text.
 */
export function decodeBase64url(part: string): Buffer | null {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : null
}

/** The JSON object that the part encodes. Null for any other text, and for duplicate members. */
export function decodeJsonObject(part: string): Readonly<Record<string, unknown>> | null {
  const bytes = decodeBase64url(part)
  return bytes === null || !isUtf8(bytes) ? null : parseJsonObject(bytes.toString())
}
