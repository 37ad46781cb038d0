/** Private keys of signed identity: PKCS#8 in PEM (RFC 5958, RFC 7468, section 10), of the curve of the algorithm. */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { IdentityAlgorithm } from './config.ts'
import { keyFault } from './pem.ts'

const BEGIN = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/g

/** @returns the fault, worded to follow the name of the file, without anything of its content; null: the key signs */
export function signingKeyFault(pem: string, algorithm: IdentityAlgorithm): string | null {
  const missing = keyFault(pem)
  if (missing !== null) return missing
  if ((pem.match(BEGIN) ?? []).length > 1)
    return 'contains several private keys: put each into a file of its own'
  const key = parsed(pem)
  if (key === null) return 'cannot be parsed: name a PEM private key (PKCS#8) without a passphrase'
  return fits(key, algorithm) ? null : `is not a key for ${algorithm}: make one ${NEEDED[algorithm]}`
}

const NEEDED: Readonly<Record<IdentityAlgorithm, string>> = {
  ES256: 'on the curve P-256',
  EdDSA: 'of the type Ed25519',
}

function parsed(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}

function fits(key: KeyObject, algorithm: IdentityAlgorithm): boolean {
  if (algorithm === 'EdDSA') return key.asymmetricKeyType === 'ed25519'
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
}

/** The public half as text: equal for equal keys. @param pem one without a fault */
export function publicText(pem: string): string {
  return createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()
}
