/** A provider's tokens as bearer tokens, for a tenant that accepts them. */

import { generateKeyPair } from 'jose'
import t from 'tap'
import type { OidcConfig } from '../../src/config/config.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { Refusal } from '../../src/model/errors.ts'
import { openOidc, openStore, tenantOf } from './component.ts'
import { type Claims, CLIENT, HostileProvider } from './hostile-provider.ts'
import { OIDC_DEFAULTS } from './provider.ts'

const store = await openStore(t)
const provider = await HostileProvider.start(t)
const API = 'https://api.acme.example'
const ELSEWHERE = 'https://login.globex.example'

/** The tenants, by themselves: a gateway would hide which of them refuses a token, and refuses some of these settings. */
function tenants(acme: Partial<OidcConfig>, globex: Partial<OidcConfig> = { issuer: ELSEWHERE }) {
  const client = { issuer: provider.issuer, clientId: CLIENT, clientSecret: null, clientAuth: null }
  const of = (id: string, more: Partial<OidcConfig>): OidcConfig => ({
    ...{ ...OIDC_DEFAULTS, ...client, scopes: ['openid'], postLogoutRedirect: null },
    ...{ redirectUri: `https://gw.example/auth/oidc/callback/${id}`, ...more },
  })
  return openOidc(t, store, { acme: of('acme', acme), globex: of('globex', globex) })
}

let oidc = tenants({ acceptProviderTokens: true, audience: [API] })

async function authenticate(claims: Claims = {}, header: Record<string, unknown> = {}) {
  const token = await provider.sign(provider.claims(claims), header)
  return verdict(token)
}

async function verdict(token: string): Promise<unknown> {
  const found = await oidc.verifyProviderToken(token)
  return found instanceof Refusal ? found.code : found
}

t.test('accepted tokens', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  t.match(
    await authenticate({
      email: 'alice@acme.example',
      memberOf: ['Viewer', 'Editor'],
      // A revocation voids the tokens of its whole second.
      iat: now + 0.9,
      exp: now + 600,
    }),
    {
      principal: {
        method: 'bearer',
        tenant: 'acme',
        user: 'alice',
        email: 'alice@acme.example',
        claims: { by: 'any-space', names: ['Viewer', 'Editor'], issuedAt: now - 60 },
        owner: 'alice',
        issuedAt: now,
      },
      expiresAt: now + 600,
      validFrom: now,
      leeway: 60,
    },
  )
  const good: [Claims, Record<string, unknown>][] = [
    [{ aud: API, azp: 'a single-page application' }, { typ: 'at+jwt' }],
    [{ aud: [API, `${provider.issuer}/userinfo`] }, { typ: 'application/at+jwt' }],
    [{ aud: [CLIENT] }, { typ: 'JWT' }],
    [{ typ: 'Bearer' }, {}],
    [{ memberOf: undefined }, {}],
    [{ nbf: now + 30 }, {}],
  ]
  for (const [claims, header] of good)
    t.match(await authenticate(claims, header), { principal: { user: 'alice' } }, JSON.stringify(claims))
})

t.test('tokens for another audience are left to other authenticators', async (t) => {
  for (const claims of [
    { iss: 'https://other.example' },
    { aud: 'other' },
    { aud: undefined },
    { iss: ELSEWHERE },
  ])
    t.equal(await authenticate(claims), null, JSON.stringify(claims))
  const own = await mintToken(tenantOf('acme', null), { sub: 'alice', hashPerm: [] }, Date.now())
  for (const text of ['', 'x', 'a.b.c', own]) t.equal(await verdict(text), null)
})

t.test('refused tokens', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  const bad: [Claims, Record<string, unknown>, string?][] = [
    [{}, { typ: 'logout+jwt' }],
    [{}, { typ: 'secevent+jwt' }],
    [{}, { typ: 'dpop+jwt' }],
    [{}, { typ: 'token-introspection+jwt' }],
    [{}, { typ: 'whatever' }],
    [{ events: {} }, {}],
    [{ typ: 'Refresh' }, {}],
    [{ typ: 'Logout' }, {}],
    [{ cnf: { jkt: 'x' } }, {}],
    [{ azp: 'other' }, {}],
    [{ aud: [CLIENT, 'other'] }, {}],
    [{ exp: undefined }, {}],
    [{ exp: now - 61 }, {}, 'token_expired'],
    [{ iat: undefined }, {}],
    [{ nbf: now + 3600 }, {}, 'token_not_yet_valid'],
    [{ sub: undefined }, {}],
    [{ sub: '' }, {}],
    [{}, { kid: 'unknown' }],
  ]
  for (const [claims, header, code = 'token_invalid'] of bad)
    t.equal(await authenticate(claims, header), code, JSON.stringify([claims, header]))
  const { privateKey } = await generateKeyPair('ES256')
  t.equal(
    await verdict(await provider.sign(provider.claims(), {}, privateKey)),
    'token_invalid',
    'signed by another key',
  )
  const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await provider.sign(provider.claims())).split('.')[1]}.`
  t.equal(await verdict(none), 'token_invalid', 'without a signature')
})

t.test('a tenant that does not accept provider tokens', async (t) => {
  oidc = tenants({ acceptProviderTokens: false })
  t.equal(await authenticate(), null)
})

t.test('one token that fits two tenants', async (t) => {
  const accepts = { acceptProviderTokens: true }
  oidc = tenants(accepts, accepts)
  t.equal(await authenticate(), 'token_invalid')
  oidc = tenants(accepts, { ...accepts, clientId: 'another' })
  t.match(await authenticate(), { principal: { tenant: 'acme' } })
  t.match(await authenticate({ aud: 'another' }), { principal: { tenant: 'globex' } })
})

t.test('an expired token of no tenant is no matter of the one whose keys verified it', async (t) => {
  const tenantClaim = { name: 'org', value: 'acme' }
  oidc = tenants({ acceptProviderTokens: true, tenantClaim })
  const callerOf = async (org: string) => {
    const past = Math.floor(Date.now() / 1000) - 3600
    const token = await provider.sign(provider.claims({ org, iat: past - 60, exp: past }))
    const found = await oidc.verifyProviderToken(token)
    return found instanceof Refusal ? [found.code, found.caller?.tenant] : found
  }
  t.same(await callerOf('acme'), ['token_expired', 'acme'])
  t.same(await callerOf('initech'), ['token_expired', undefined])
})

t.test('the keys are unavailable', async (t) => {
  oidc = tenants({ acceptProviderTokens: true })
  provider.answers.set('/jwks', () => ({ status: 500, body: {} }))
  t.equal(await authenticate(), 'unavailable')
})
