/**
 * The endpoint that a provider calls when a user has logged out there (OpenID Connect Back-Channel Logout
 * 1.0). Public: the logout token is the only proof.
 */

import { isUtf8 } from 'node:buffer'
import { BACKCHANNEL_LOGOUT } from '../../config/oidc-settings.ts'
import { Refusal } from '../../model/errors.ts'
import type { PublicRequest } from '../../model/route.ts'
import { type Context, withProviderErrors } from '../context.ts'
import type { AnswersOf } from '../sign-in-endpoints.ts'
import { isForm } from '../sign-in/body.ts'
import type { Reply } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import { sanitizeName } from '../provider/log-text.ts'
import { audiencesOf, type CompactJws } from '../tokens/compact-jws.ts'
import { isEncrypted } from '../tokens/encrypted-token.ts'
import { type LogoutToken, readLogoutToken, verifyLogoutToken } from '../tokens/logout-token.ts'
import { endByProvider, type ProviderLogout, providerSessionDigest, tokenDigest } from './provider-logout.ts'

/** The most bytes of a body. Other parameters are ignored (section 2.5), so there may be some. */
const MAX_BODY = 16 * 1024

/** The most ids of ended sessions in the line of the log; the audit has all. */
const MAX_LOGGED = 100

const notForm = invalid('The body must be application/x-www-form-urlencoded, in UTF-8, of at most 16 KiB.')
const noToken = invalid('The body must have logout_token once.')
/** The same for an unknown tenant, so that it does not reveal which tenants exist. */
const otherProvider = invalid('The logout token is not for a provider and client of this address.')
/** The same for an unknown tenant, as above. */
const encrypted = invalid('The logout token is encrypted, and not for a key of this address.')
const ambiguous = invalid('The logout token is for several clients of this gateway.')
const used = invalid('The logout token was already used.')

/** Answers 200 once no instance accepts the sessions. Rejects if the store is unavailable. */
export async function backchannelLogout(context: Context, request: PublicRequest): Promise<Reply> {
  const refusal = await logOut(context, request)
  if (refusal === null) return { status: 200, headers: [] }
  const { code, detail, caller } = refusal
  const callerFields =
    caller === null ? {} : { tenant: caller.tenant, ...(caller.user === null ? {} : { user: caller.user }) }
  context.log.warn(
    { event: 'backchannel_logout_refused', ...callerFields, ...issuerIn(request, refusal), reason: detail },
    'a logout token was refused',
  )
  // Section 2.8. The names are those of OAuth 2.0 (RFC 6749, sections 4.1.2.1 and 5.2).
  const error = code === 'unavailable' ? 'temporarily_unavailable' : 'invalid_request'
  const body: AnswersOf['backchannelLogout'] = { error, error_description: detail }
  return { status: 400, headers: [], body }
}

async function logOut(context: Context, request: PublicRequest): Promise<Refusal | null> {
  const text = tokenIn(request)
  const signed = text instanceof Refusal ? text : await signedToken(context, request, text)
  const jws = signed instanceof Refusal ? signed : readLogoutToken(signed)
  if (jws instanceof Refusal) return jws
  const tenants = tenantsOf(context, request, jws)
  if (tenants instanceof Refusal) return tenants
  const [provider] = tenants
  if (provider === undefined) return otherProvider
  const verify = () => verifyLogoutToken(jws, provider, context.now())
  const token = await withProviderErrors(context, provider, verify)
  if (token instanceof Refusal) return token
  const logout = logoutOf(token, provider)
  return (await endInTenants(context, tenants, logout, token.sub))
    ? null
    : used.of({ tenant: provider.tenant.id, user: token.sub })
}

function tokenIn({ rawHeaders, body }: PublicRequest): string | Refusal {
  if (body === null || body.length > MAX_BODY || !isForm(rawHeaders) || !isUtf8(body)) return notForm
  const [token, ...others] = new URLSearchParams(Buffer.from(body).toString()).getAll('logout_token')
  return token === undefined || token === '' || others.length > 0 ? noToken : token
}

/**
 * The signed token inside an encrypted one (section 2.4), by the keys of the tenant of the address, or of the
 * only tenant with such keys: anyone can send a token, and each key costs a decryption.
 */
async function signedToken(
  { providers }: Context,
  { path }: PublicRequest,
  text: string,
): Promise<string | Refusal> {
  if (!isEncrypted(text)) return text
  const addressed = tenantIn(path)
  const [provider, ...others] = [...providers.values()].filter(
    ({ tenant, decryptionKeys }) => !decryptionKeys.isEmpty && (addressed ?? tenant.id) === tenant.id,
  )
  const signed = others.length > 0 ? null : await provider?.decryptionKeys.decrypt(text)
  return typeof signed === 'string' ? signed : encrypted
}

/** The tenant of the address; null: the address has none. */
function tenantIn(path: string): string | null {
  return path === BACKCHANNEL_LOGOUT ? null : path.slice(BACKCHANNEL_LOGOUT.length + 1)
}

/**
 * The issuer of the token, for the log. The answer names neither it nor the expected one: both would tell
 * which tenants exist.
 */
function issuerIn(request: PublicRequest, refusal: Refusal): { readonly issuer?: string } {
  const text = refusal === otherProvider ? tokenIn(request) : refusal
  const jws = text instanceof Refusal ? text : readLogoutToken(text)
  return jws instanceof Refusal || typeof jws.claims.iss !== 'string'
    ? {}
    : { issuer: sanitizeName(jws.claims.iss) }
}

/**
 * The tenants whose client the token is for. Tenants that share an issuer and a client are one client to the
 * provider, which sends one token for all of them.
 */
function tenantsOf({ providers }: Context, { path }: PublicRequest, { claims }: CompactJws) {
  const audiences = audiencesOf(claims)
  const matching = [...providers.values()].filter(
    ({ tenant: { oidc } }) => oidc.issuer === claims.iss && audiences.includes(oidc.clientId),
  )
  const addressedTenant = tenantIn(path)
  const addressed =
    addressedTenant === null ? matching : matching.filter(({ tenant }) => tenant.id === addressedTenant)
  const [clientId, ...others] = new Set(addressed.map(({ tenant }) => tenant.oidc.clientId))
  if (others.length > 0) return ambiguous
  return matching.filter(({ tenant }) => tenant.oidc.clientId === clientId)
}

function logoutOf({ sid, sub, jti }: LogoutToken, { tenant: { oidc } }: Provider): ProviderLogout {
  const token = tokenDigest(oidc.issuer, oidc.clientId, jti)
  if (sid !== null) return { token, subject: { providerSession: providerSessionDigest(oidc.issuer, sid) } }
  return { token, subject: { user: sub ?? '' } }
}

/**
 * @param sub of the logout token; null: it names a session alone
 * @returns false when the token was used in all of them. After a fault it is used in some.
 */
async function endInTenants(
  context: Context,
  tenants: readonly Provider[],
  logout: ProviderLogout,
  sub: string | null,
): Promise<boolean> {
  let isFirst = false
  for (const { tenant } of tenants) {
    const ended = await endByProvider(context, tenant, logout)
    if (ended === null) continue
    isFirst = true
    const user = ended[0]?.user ?? sub
    const fields = {
      ...{ event: 'backchannel_logout', tenant: tenant.id, ...(user === null ? {} : { user }) },
      ...{ ended: ended.length, sessions: ended.slice(0, MAX_LOGGED).map(({ id }) => id) },
    }
    context.log.info(fields, 'logged out by the identity provider')
  }
  return isFirst
}

function invalid(detail: string): Refusal {
  return new Refusal('input_invalid', detail)
}
