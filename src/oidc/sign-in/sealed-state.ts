/**
 * Encrypts the cookie of a pending sign-in: AES-256-GCM (NIST SP 800-38D) with a separate key for each sign-in.
 *
 * The state is 256 random bits. The key, the nonce and the PKCE verifier are derived from the state and the tenant's token
 * secret (HKDF, RFC 5869; HMAC-SHA-256, RFC 2104). A key encrypts one text only, hence the constant initialization vector.
 * The cookie does not contain the nonce and the verifier, which keeps it small.
 */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'

/** Domain separation: keys derived from the same secret for other uses differ. */
const LABEL = 'seatgate/oidc/sign-in/v1'
const IV = Buffer.alloc(12)
const TAG = 16

/** Derived root keys by secret. */
const roots = new WeakMap<Uint8Array, Uint8Array>()

export interface Derived {
  readonly nonce: string
  /** PKCE (RFC 7636, section 4.1): 256 bits. */
  readonly verifier: string
}

/** @param bound additional authenticated data: tenant, provider, time */
export function sealState(
  text: string,
  secret: Uint8Array,
  state: string,
  bound: readonly unknown[],
): Derived & { readonly sealed: string } {
  const root = rootOf(secret)
  const cipher = createCipheriv('aes-256-gcm', derive(root, 'key', state), IV)
  cipher.setAAD(Buffer.from(JSON.stringify(bound)))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { sealed: body.toString('base64url'), ...derivedFrom(root, state) }
}

/** @returns null when no secret opens the text with this state and these values */
export function openState(
  sealed: string,
  secrets: readonly Uint8Array[],
  state: string,
  bound: readonly unknown[],
): (Derived & { readonly text: string }) | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < TAG || bytes.toString('base64url') !== sealed) return null
  const additional = Buffer.from(JSON.stringify(bound))
  for (const secret of secrets) {
    const root = rootOf(secret)
    const text = openWith(bytes, derive(root, 'key', state), additional)
    if (text !== null) return { text, ...derivedFrom(root, state) }
  }
  return null
}

function openWith(bytes: Buffer, key: Buffer, additional: Buffer): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, IV, { authTagLength: TAG })
  decipher.setAAD(additional)
  decipher.setAuthTag(bytes.subarray(-TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

function derivedFrom(root: Uint8Array, state: string): Derived {
  const [nonce, verifier] = [derive(root, 'nonce', state), derive(root, 'pkce', state)]
  return { nonce: nonce.toString('base64url'), verifier: verifier.toString('base64url') }
}

function derive(root: Uint8Array, use: 'key' | 'nonce' | 'pkce', state: string): Buffer {
  return createHmac('sha256', root).update(`${use} ${state}`).digest()
}

function rootOf(secret: Uint8Array): Uint8Array {
  let root = roots.get(secret)
  if (root === undefined) {
    root = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), LABEL, 32))
    roots.set(secret, root)
  }
  return root
}
