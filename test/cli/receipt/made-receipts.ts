/** Receipts as a gateway signs them, with keys of their own. */

import { publicKeysOf, receiptSigner } from '../../../src/identity/receipt.ts'
import { identityConfig } from '../../identity/support.ts'

export const ID = '01KAJ0Z1V5Q8T2C0W7M3E9R4XD'

/** The claims of a receipt but `iss`. */
export const CLAIMS = {
  tenant: 'acme',
  id: ID,
  seq: 17,
  at: '2026-11-21T11:00:00.000Z',
  subject: { user: 'anna' },
  what: 'all',
  until: '2026-12-21T11:00:00.000Z',
  reason: 'laptop stolen',
  state: 'partial',
  ended: { sessions: 2, api_keys: 1, websockets: 1, streams: 0, requests: 3 },
  instances: [
    { id: 'a', name: 'gate-a:1', how: 'acknowledged', ms: 3.25, cut: 4 },
    { id: 'b', name: 'gate-b:2', how: 'lease_ended', ms: 1250, cut: null },
  ],
  not_covered: [
    { what: 'signed_identity', until: '2026-11-21T11:01:00.000Z' },
    { what: 'of_a_later_version' },
  ],
  audit: { seq: 5, hash: 'c0ffee'.padEnd(64, '0') },
}

export type Claims = Readonly<Record<string, unknown>>

/** A signer, and the keys that verify what it signs, as a file has them. */
export function signing(issuer = 'https://gw.example') {
  const config = identityConfig({ issuer })
  const sign = receiptSigner(config)
  return { config, jwks: publicKeysOf(config), receipt: (more: Claims = {}) => sign({ ...CLAIMS, ...more }) }
}
