/**
 * Parses a provider's token as a compact JWS (RFC 7515, section 7.1) without verifying it. As strict as the parser of the
 * gateway's own tokens (`decision/authn/jws.ts`), except that `kid` is allowed. Refuses what jose accepts: padding, white
 * space, non-zero trailing bits and duplicate members.
 */

import { isUtf8 } from 'node:buffer'
import { isJsonObject, parseJson } from '../../lib/json.ts'

/** Characters; enough for hundreds of groups. */
export const MAX_TOKEN = 64 * 1024

export type Claims = Readonly<Record<string, unknown>>

export interface CompactJws {
  readonly text: string
  readonly algorithm: string
  /** Header parameter `typ`, in lower case and without `application/` (RFC 7515, section 4.1.9); null without one. */
  readonly type: string | null
  readonly claims: Claims
}

/**
 * Header parameters that change the meaning of the other parts. Parameters with a key or its location (`jwk`, `jku`,
 * `x5u`, `x5c`) are ignored, because some providers send them.
 */
const REFUSED_PARAMETERS = ['crit', 'b64', 'zip', 'enc'] as const

/** @returns null for any other text */
export function readCompact(text: string): CompactJws | null {
  if (text.length > MAX_TOKEN) return null
  const parts = text.split('.', 4)
  if (parts.length !== 3) return null
  const [headerText = '', payloadText = '', signatureText = ''] = parts
  const header = readObject(headerText)
  const claims = readObject(payloadText)
  if (header === null || claims === null || decode(signatureText) === null) return null
  const { alg, typ = null } = header
  if (typeof alg !== 'string' || (typ !== null && typeof typ !== 'string')) return null
  if (REFUSED_PARAMETERS.some((name) => Object.hasOwn(header, name))) return null
  const type = typ === null ? null : typ.toLowerCase().replace(/^application\//, '')
  return { text, algorithm: alg, type, claims }
}

function readObject(part: string): Claims | null {
  const bytes = decode(part)
  if (bytes === null || !isUtf8(bytes)) return null
  const parsed = parseJson(bytes.toString())
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : null
}

/** Accepts only canonical base64url without padding (RFC 7515, section 2). */
function decode(part: string): Buffer | null {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : null
}
