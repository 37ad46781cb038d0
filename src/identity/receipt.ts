/**
 * Receipts of revocations: compact JWS (RFC 7515) by the first key of `identity`. They are verified long
 * after their making, by keys from a file or from the key set of the gateway.
 */

import { compactVerify, errors, importJWK } from 'jose'
import type { IdentityConfig } from '../config/config.ts'
import { decodeBase64url, decodeJsonObject } from '../lib/base64url.ts'
import { isJsonObject, parseJsonObject } from '../lib/json.ts'
import { SigningKeys } from './signing-keys.ts'

/** What tells receipts from signed identities, which the same keys sign (RFC 8725, section 3.11). */
const RECEIPT_TYPE = 'seatgate-receipt+jwt'

/** Characters: a receipt with 1,000 instances has up to 500 KiB. */
export const MAX_RECEIPT = 1024 * 1024

/** Keys of one `kid` that are tried: sets from several files may repeat a key. */
const MAX_SAME_NAME = 4

/** The header parameters of receipts. No other one is allowed, as it might change what is verified. */
const PARAMETERS: readonly string[] = ['alg', 'kid', 'typ']

/** Its algorithm follows from the key, never from the header (RFC 8725, section 3.1). */
const ALGORITHMS: Readonly<Record<string, string>> = { 'EC P-256': 'ES256', 'OKP Ed25519': 'EdDSA' }

export type ReceiptClaims = Readonly<Record<string, unknown>>

/** A receipt whose signature holds. */
interface VerifiedReceipt {
  readonly claims: ReceiptClaims
  /** The `kid` of the key that signed it. */
  readonly kid: string
}

/** Why a text is no receipt of one of the keys, as a clause for people, without any of its content. */
export interface ReceiptFault {
  readonly fault: string
}

export function isReceiptFault(result: object): result is ReceiptFault {
  return 'fault' in result
}

/**
 * @returns makes a receipt of its claims but `iss`
 * @throws Error if a key is not for the algorithm, or there is none
 */
export function receiptSigner(identity: IdentityConfig): (claims: ReceiptClaims) => string {
  const keys = new SigningKeys(identity)
  const header = keys.headerOf(RECEIPT_TYPE)
  return (claims) => keys.sign(header, JSON.stringify({ iss: identity.issuer, ...claims }))
}

/** The public keys of `identity` (RFC 7517, section 5), as JSON. */
export function publicKeysOf(identity: IdentityConfig): string {
  return new SigningKeys(identity).keySet
}

/**
 * A receipt, not verified.
 *
 * @param text one receipt in its one spelling, without white space
 */
export function readReceipt(text: string): VerifiedReceipt | ReceiptFault {
  if (text.length > MAX_RECEIPT) return { fault: `it has more than ${MAX_RECEIPT} characters` }
  const [headerText = '', payloadText = '', signature = '', ...more] = text.split('.', 4)
  const header = decodeJsonObject(headerText)
  const claims = decodeJsonObject(payloadText)
  if (header === null || claims === null || more.length > 0) return notCompact
  if (signature === '' || decodeBase64url(signature) === null) return notCompact
  const { typ, kid } = header
  if (typ !== RECEIPT_TYPE) return { fault: `it is no receipt: its typ is not ${RECEIPT_TYPE}` }
  if (typeof kid !== 'string') return { fault: 'it names no key (kid)' }
  if (Object.keys(header).some((name) => !PARAMETERS.includes(name)))
    return { fault: 'its header has a parameter other than alg, kid and typ' }
  return { claims, kid }
}

/**
 * Verifies the signature with the key of the set that has the receipt's `kid`. Never rejects.
 *
 * @param text as of {@link readReceipt}
 * @param keySet a key set (RFC 7517, section 5), as JSON. Only its keys for ES256 and EdDSA are used
 */
export async function verifyReceipt(text: string, keySet: string): Promise<VerifiedReceipt | ReceiptFault> {
  const receipt = readReceipt(text)
  if (isReceiptFault(receipt)) return receipt
  const keys = keysOf(keySet)
  if (keys === null) return { fault: 'the keys are no JSON Web Key Set' }
  const named = keys.filter(({ kid }) => kid === receipt.kid)
  if (named.length === 0) return { fault: 'none of the keys has its kid' }
  const usable = named.filter(({ algorithm }) => algorithm !== null).slice(0, MAX_SAME_NAME)
  for (const key of usable) if (await isSignedBy(text, key)) return receipt
  return { fault: 'its signature is not of the key that it names' }
}

/** @param text JSON, or any other text */
export function isKeySet(text: string): boolean {
  return keysOf(text) !== null
}

const notCompact: ReceiptFault = { fault: 'it is no JWS in compact form' }

interface ReceiptKey {
  readonly kid: unknown
  readonly jwk: Readonly<Record<string, string>>
  /** The algorithm of the key; null: it is for another purpose. */
  readonly algorithm: string | null
}

function keysOf(keySet: string): ReceiptKey[] | null {
  const keys = parseJsonObject(keySet)?.['keys']
  return Array.isArray(keys) ? keys.filter(isJsonObject).map(receiptKey) : null
}

/** The public members of a key alone. */
function receiptKey(jwk: Readonly<Record<string, unknown>>): ReceiptKey {
  const { kid, kty, crv, x, y, alg, use = 'sig' } = jwk
  const algorithm = ALGORITHMS[`${String(kty)} ${String(crv)}`] ?? null
  const isFor = use === 'sig' && (alg === undefined || alg === algorithm)
  const members = Object.entries({ kty, crv, x, y })
  const texts = members.filter((each): each is [string, string] => typeof each[1] === 'string')
  return { kid, jwk: Object.fromEntries(texts), algorithm: isFor ? algorithm : null }
}

/** Whether the key made the signature, by the algorithm of the key. A key that is no key made none. */
async function isSignedBy(text: string, { jwk, algorithm }: ReceiptKey): Promise<boolean> {
  if (algorithm === null) return false
  const key = await importJWK({ kty: '', ...jwk }, algorithm).catch(() => null)
  if (key === null || key instanceof Uint8Array) return false
  try {
    await compactVerify(text, key, { algorithms: [algorithm] })
    return true
  } catch (cause) {
    if (cause instanceof errors.JOSEError) return false
    throw cause
  }
}
