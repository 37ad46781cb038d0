/**
 * A compact JWS (RFC 7515, section 7.1) in its one canonical spelling. Padding, white space, spare bits and
 * duplicate members, which common libraries accept, are refused here, so that one token has one text.
 */

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { TokenConfig } from '../../config/config.ts'
import { decodeJsonObject } from '../../lib/base64url.ts'
import { detachedText } from '../../lib/heap-size.ts'
import { getOrInsertComputed } from '../../lib/get-or-insert.ts'
import { areSameBytes } from '../../lib/same-bytes.ts'

/** The most characters of a token, more than of any header line that the gateway accepts. */
export const MAX_TOKEN = 16 * 1024

/** A decoded token whose signature is not verified yet. */
interface Jws {
  /** What the signature is of (RFC 7515, section 5.1): the encoded header and payload. */
  readonly signed: string
  /** Header parameter `alg` (RFC 7515, section 4.1.1); not checked. */
  readonly algorithm: unknown
  readonly payload: Readonly<Record<string, unknown>>
  /** The encoded signature, as received. `isSigned` accepts its canonical spelling alone. */
  readonly signature: string
}

/**
 * Header parameters that name or carry a key, or change the meaning of other parts. The gateway's own tokens
 * have none, so a token with one is refused (RFC 8725, sections 3.1 and 3.10).
 */
const REFUSED_PARAMETERS = [
  'crit',
  'b64',
  'zip',
  'kid',
  'jwk',
  'jku',
  'x5u',
  'x5c',
  'x5t',
  'x5t#S256',
] as const

/** The hashes of the algorithms, as OpenSSL names them. */
const HASHES = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const

/** The parts of a token of the gateway. Null for any other text. Never throws. */
export function readJws(text: string): Jws | null {
  if (text.length > MAX_TOKEN) return null
  const parts = text.split('.', 4)
  if (parts.length !== 3) return null
  const [headerText = '', payloadText = '', signature = ''] = parts
  const header = headerText === lastHeader?.text ? lastHeader : readHeader(headerText)
  if (header === null) return null
  const payload = decodeJsonObject(payloadText)
  if (payload === null) return null
  lastHeader = header
  const signed = text.slice(0, text.length - signature.length - 1)
  return { signed, algorithm: header.algorithm, payload, signature }
}

/**
 * The payload of a token that this gateway did not issue: its header is not read. Null for any other text.
 * Never throws.
 */
export function readPayload(text: string): Jws['payload'] | null {
  const [, payload, signature, ...more] = text.length > MAX_TOKEN ? [] : text.split('.', 4)
  return payload === undefined || signature === undefined || more.length > 0
    ? null
    : decodeJsonObject(payload)
}

interface Header {
  readonly text: string
  readonly algorithm: unknown
}

/** Most tokens share the header of the token before. The cached value depends on the text alone. */
let lastHeader: Header | null = null

/** The header of a token of the gateway. Null for any other. */
function readHeader(text: string): Header | null {
  const header = decodeJsonObject(text)
  if (header === null || !isOurHeader(header)) return null
  return { text: detachedText(text), algorithm: header.alg }
}

function isOurHeader(header: Readonly<Record<string, unknown>>): boolean {
  for (const parameter of REFUSED_PARAMETERS) if (Object.hasOwn(header, parameter)) return false
  const { typ } = header
  return typ === undefined || (typeof typ === 'string' && typ.toUpperCase() === 'JWT')
}

/**
 * Whether the header matches the tenant's one algorithm, whatever `alg` the token claims (RFC 8725, section
 * 3.1).
 */
export function matchesAlgorithm(jws: Jws, { algorithm }: TokenConfig): boolean {
  return jws.algorithm === algorithm
}

/**
 * Whether one of the secrets made the signature (RFC 7515, section 5.2).
 *
 * @param jws one that matches the algorithm
 */
export function isSigned({ signed, signature }: Jws, config: TokenConfig): boolean {
  return keysOf(config).some((key) => key.verifies(signed, signature))
}

const keys = new WeakMap<TokenConfig, readonly HmacKey[]>()

/** The secrets of a configuration, as keys. */
function keysOf(config: TokenConfig): readonly HmacKey[] {
  return getOrInsertComputed(keys, config, () =>
    config.secrets.map((secret) => new HmacKey(config.algorithm, secret)),
  )
}

/**
 * A secret for HMAC signatures of tokens (RFC 2104; RFC 7518, section 3.2), compared as text. jose verifies
 * on another thread, at several times the cost, which a flood of bad tokens would make the gateway pay.
 */
export class HmacKey {
  readonly #hash: (typeof HASHES)[TokenConfig['algorithm']]
  readonly #key: KeyObject

  constructor(algorithm: TokenConfig['algorithm'], secret: Uint8Array) {
    this.#hash = HASHES[algorithm]
    this.#key = createSecretKey(secret)
  }

  /** The signature in canonical base64url. */
  sign(input: string): string {
    return createHmac(this.#hash, this.#key).update(input).digest('base64url')
  }

  /** Whether it is the signature, in canonical base64url. The time depends on the lengths alone. */
  verifies(input: string, signature: string): boolean {
    // As UTF-8, a character beyond ASCII has more bytes, so that it equals none of the expected ones.
    return areSameBytes(Buffer.from(this.sign(input)), Buffer.from(signature))
  }
}
