/** Parses token secrets: plain text, or `base64url:` followed by raw bytes. No message contains a secret. */

import { Buffer } from 'node:buffer'
import { InvalidValue } from './invalid-value.ts'

const RAW = 'base64url:'
const MIN_BYTES = 32

/** Raw bytes, at least 32 (RFC 7518, section 3.2, for HS256). */
export function secret(text: string): Uint8Array | InvalidValue {
  const bytes = text.startsWith(RAW) ? canonicalBytes(text.slice(RAW.length)) : Buffer.from(text, 'utf8')
  if (bytes instanceof InvalidValue) return bytes
  if (bytes.length >= MIN_BYTES) return new Uint8Array(bytes)
  return new InvalidValue(`has ${bytes.length} bytes: a secret must have at least ${MIN_BYTES}`)
}

/** Accepts only the canonical encoding (RFC 4648, section 3.5): no padding, no non-zero trailing bits, no other characters. */
function canonicalBytes(text: string): Buffer | InvalidValue {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') === text) return bytes
  return new InvalidValue('is not canonical base64url (A-Z a-z 0-9 - _, no padding) after "base64url:"')
}
