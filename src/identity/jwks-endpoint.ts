/** `GET /.well-known/seatgate/jwks.json`: the public keys of signed identity. */

import type { EndpointDescription } from '../../seats-admin/model/endpoint-description.ts'
import { list, object, oneOf, text } from '../../seats-admin/model/json-schema.ts'
import type { ErrorCode } from '../model/errors.ts'
import type { PublicHandler } from '../model/route.ts'
import type { SignedIdentity } from './signed-identity.ts'

const jwk = object(
  {
    kty: oneOf(['EC', 'OKP'], 'The kind of key.'),
    crv: oneOf(['P-256', 'Ed25519'], 'The curve.'),
    x: text('A coordinate, or the whole key.'),
    kid: text('Its thumbprint (RFC 7638): the JWTs that it signs have the same `kid`.'),
    alg: oneOf(['ES256', 'EdDSA'], 'The one algorithm that it is for.'),
    use: oneOf(['sig'], 'It verifies signatures.'),
  },
  { y: text('The other coordinate of an EC key.') },
)

export const KEY_SET_ENDPOINT: EndpointDescription<ErrorCode> = {
  method: 'GET',
  path: '/.well-known/seatgate/jwks.json',
  operation: 'readIdentityKeys',
  summary:
    'Reads the public keys that verify signed identities (RFC 7517). It may be cached for five minutes.',
  details: 'The `kid` of a signed identity selects the key.',
  answers: { 200: object({ keys: list(jwk, 'The key that signs, then the others.') }) },
  codes: [],
}

/** The seconds that a cache keeps the key set. */
const MAX_AGE = 300

export function serveKeySet({ keySet }: SignedIdentity): PublicHandler {
  const body = Buffer.from(keySet)
  const cacheControl = `public, max-age=${MAX_AGE}`
  return async () => ({ status: 200, body, headers: [], cacheControl })
}
