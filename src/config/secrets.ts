/** Token secrets: text, or `base64url:` and raw bytes. No message here or about one ever holds it. */

import { Buffer } from 'node:buffer'
import { InvalidValue } from './invalid-value.ts'

const RAW = 'base64url:'
const LEAST = 32

/** Raw bytes, at least 32 (RFC 7518, section 3.2, for HS256). */
export function secret(text: string): Uint8Array | InvalidValue {
  const bytes = text.startsWith(RAW) ? canonicalBytes(text.slice(RAW.length)) : Buffer.from(text, 'utf8')
  if (bytes instanceof InvalidValue) return bytes
  if (bytes.length >= LEAST) return new Uint8Array(bytes)
  return new InvalidValue(`has ${bytes.length} bytes: a secret has at least ${LEAST}`)
}

/** Only the one spelling that encoding would give (RFC 4648, section 3.5): no padding, no stray bits or characters. */
function canonicalBytes(text: string): Buffer | InvalidValue {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') === text) return bytes
  return new InvalidValue('is not canonical base64url (A-Z a-z 0-9 - _, no padding) after "base64url:"')
}
