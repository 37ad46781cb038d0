/**
 * The headers to an upstream with signed identity: with a JWT that is known, and with one that is signed each
 * time.
 */

import type { IdentityAlgorithm } from '../../src/config/config.ts'
import { SignedIdentity } from '../../src/identity/signed-identity.ts'
import { UpstreamIdentity } from '../../src/proxy/upstream-identity.ts'
import { identityConfig } from '../../test/identity/support.ts'
import { repeated, type Timed } from './timing.ts'

const MEMORY = 2 ** 20

/** @param headers makes those of one request */
export function identityStages(headers: (signed: UpstreamIdentity) => unknown): Timed[] {
  const identity = upstreamIdentity('ES256')
  return [
    repeated('the same with a signed identity that is known', () => headers(identity)),
    ...(['ES256', 'EdDSA'] as const).map((algorithm) => {
      let now = 0
      // Each request comes after the lifetime of the JWT before.
      const late = upstreamIdentity(algorithm, () => (now += 3_600_000))
      return repeated(`the same, signed by ${algorithm}`, () => headers(late))
    }),
  ]
}

function upstreamIdentity(algorithm: IdentityAlgorithm, now: () => number = Date.now): UpstreamIdentity {
  const config = identityConfig({ algorithm })
  return new UpstreamIdentity(new SignedIdentity(config, { memory: MEMORY, now }), 'main')
}
