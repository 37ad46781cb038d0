/**
 * Determines the user and the Seat names from the provider's tokens. Verifies the ID token; userinfo supplies
 * the claims that it lacks.
 */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import { type Claims, invalidToken } from './compact-jws.ts'
import { type IdTokenChecks, isSubject, verifyIdToken } from './id-token.ts'
import {
  type Identity,
  identityOf,
  isOpaqueId,
  isLeftOut,
  isOfTenant,
  lacksTenant,
  otherTenant,
  readSeatsClaim,
  scimClaim,
} from './id-token-claims.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { memberKey } from '../../model/membership.ts'
import { foreignSub } from '../../model/issuer-user.ts'
import { withFields } from '../context.ts'
import type { OidcLog } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import type { ProviderTokens } from '../provider/token-endpoint.ts'
import {
  clientErrorCode,
  ProviderError,
  type ProviderRefused,
  translateError,
} from '../provider/provider-errors.ts'

export interface SignedInUser {
  readonly identity: Identity
  /** Seat names as the provider writes them. */
  readonly names: readonly string[]
  /** False: neither the ID token nor userinfo has the claim that names Seats. */
  readonly namesSeats: boolean
  /** The provider left out the claim for the number of its values. */
  readonly areLeftOut: boolean
  /** The key of the user in SCIM, if a claim has it; null: the provider sent none. */
  readonly member: string | null
  /** The provider's session, the claim `sid` of the ID token; null if it names none. */
  readonly providerSid: string | null
  /**
   * The signed ID token, for the `id_token_hint` of a logout: the provider cannot decrypt the one that it has
   * encrypted (OpenID Connect Core 1.0, section 3.1.2.1). Null: the response has none.
   */
  readonly idToken: string | null
}

type UserChecks = Pick<IdTokenChecks, 'now' | 'nonce' | 'nonceOptional' | 'sub'>

const NO_CLAIMS: Claims = Object.freeze({})
const NO_NAMES = { names: [], malformed: false } as const
/** Codes of openid-client: `sub` of userinfo differs, or is missing. */
const OTHER_SUB = 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'
const NO_SUB = 'OAUTH_INVALID_RESPONSE'
const otherSub = invalidToken('The sub of userinfo differs from the sub of the ID token.')
const noIdToken = invalidToken(
  'The token response of the identity provider has no id_token, which says who the user is. The provider must know the client as one of OpenID Connect, and grant it the scope openid.',
)
const noIdentity = invalidToken(
  'The token response of the identity provider has no id_token, and the provider has no userinfo endpoint that identifies the user.',
)

/** Rejects with ProviderError or ProviderRefused. */
export async function readUser(
  provider: Provider,
  tokens: ProviderTokens,
  checks: UserChecks,
  log: OidcLog,
): Promise<SignedInUser | Refusal> {
  const token = await verifiedToken(provider, tokens, checks)
  if (token instanceof Refusal) return token
  const { tenant } = provider
  const path = tenant.oidc.seatsClaim
  const { sub, claims } = token
  // The groups of SCIM take the place of the claim.
  const first = tenant.seatsFrom === 'scim' ? NO_NAMES : readSeatsClaim(claims, path)
  const lacksKey = tenant.scim?.user.mode === 'claim' && memberKey(scimClaim(tenant, claims)) === null
  const decides =
    tokens.idToken === null || first.names === null || lacksKey || lacksTenant(claims, tenant.oidc)
  const informs = claims.email === undefined && tenant.oidc.scopes.includes('email')
  const answer =
    decides || informs ? await userinfo(provider, tokens.accessToken, { sub, decides }) : NO_CLAIMS
  if (answer instanceof Refusal) return answer.of({ tenant: tenant.id, user: sub })
  if (answer instanceof Error && decides) {
    answer.user = sub
    throw answer
  }
  const own = withFields(log, { user: sub })
  if (answer instanceof Error)
    own.warn(
      { event: 'userinfo_unread', tenant: tenant.id, reason: answer.message },
      'userinfo was left out: the ID token has what a sign-in needs',
    )
  const more = answer instanceof Error ? NO_CLAIMS : answer
  if (!isOfTenant(tenant.oidc, claims, more)) return otherTenant.of({ tenant: tenant.id, user: sub })
  const seats = first.names === null ? readSeatsClaim(more, path) : first
  const names = seats.names ?? []
  const areLeftOut =
    tenant.seatsFrom !== 'scim' && names.length === 0 && [claims, more].some((each) => isLeftOut(each, path))
  if (areLeftOut) logLeftOut(own, tenant.id)
  if (seats.malformed)
    own.warn(
      { event: 'seats_claim_unreadable', tenant: tenant.id },
      'the claim that names Seats is not readable',
    )
  return {
    identity: identityOf(sub, claims, more),
    names,
    namesSeats: seats.names !== null,
    areLeftOut,
    member: memberKey(scimClaim(tenant, claims, more)),
    providerSid: isOpaqueId(claims.sid) ? claims.sid : null,
    idToken: token.text,
  }
}

/** @param log of a line that names the user */
export function logLeftOut(log: OidcLog, tenant: string): void {
  log.warn(
    { event: 'seats_left_out', tenant },
    'the identity provider left out the groups of a user for their number: the Seats of these groups are missing',
  )
}

/** A refresh response may lack an ID token; then userinfo must confirm the same `sub`. */
async function verifiedToken(
  provider: Provider,
  { idToken, accessToken }: ProviderTokens,
  checks: UserChecks,
): Promise<{ sub: string; claims: Claims; text: string | null } | Refusal> {
  if (idToken !== null)
    return verifyIdToken(idToken, provider, { ...checks, source: 'provider', accessToken })
  if (checks.sub === null) return noIdToken
  if (!isSubject(checks.sub)) return foreignSub
  if (!(await provider.discovered()).hasUserinfo) return noIdentity
  return { sub: checks.sub, claims: NO_CLAIMS, text: null }
}

/**
 * No claims without a userinfo endpoint. A Refusal for a response about another user.
 *
 * @param question `decides`: the sign-in depends on it, and needs a `sub`
 * @returns the error if userinfo could not be read. Rejects with ProviderError if discovery fails.
 */
async function userinfo(
  provider: Provider,
  accessToken: string,
  { sub, decides }: { readonly sub: string; readonly decides: boolean },
): Promise<Claims | Refusal | ProviderError | ProviderRefused> {
  const { configured, hasUserinfo } = await provider.discovered()
  if (!hasUserinfo) return NO_CLAIMS
  const configuration = configured((fetch) => async (url, options) => readable(await fetch(url, options)))
  try {
    return await client.fetchUserInfo(configuration, accessToken, sub)
  } catch (cause) {
    const code = clientErrorCode(cause)
    if (code === OTHER_SUB || (code === NO_SUB && decides)) return otherSub
    return code === NO_SUB ? new ProviderError('userinfo has no sub') : translateError(cause, 'userinfo')
  }
}

/**
 * openid-client reads the response, and does not say what is wrong with it.
 *
 * @throws ProviderError
 */
async function readable(response: Response): Promise<Response> {
  if (response.status !== 200) return response
  const text = await response.text()
  const same = new Response(text, { headers: response.headers })
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';')
  // OpenID Connect Core 1.0, section 5.3.2. An encrypted one has five parts (RFC 7516, section 7.1), a signed
  // one three.
  if (type.trim().toLowerCase() === 'application/jwt') {
    if (text.split('.', 6).length !== 5) return same
    throw new ProviderError(
      'userinfo is encrypted, which the gateway does not read: have the provider send it to this client without encryption',
    )
  }
  const body = parseJson(text)
  if ('fault' in body) throw new ProviderError(`userinfo cannot be read: ${body.fault}`)
  if (!isJsonObject(body.value)) throw new ProviderError('userinfo is not a JSON object')
  return same
}
