/** A provider's tokens as bearer tokens, for a tenant that accepts them. */

import { generateKeyPair } from 'jose'
import t from 'tap'
import { Refusal } from '../../src/model/errors.ts'
import { type Claims, CLIENT, HostileProvider } from './hostile-provider.ts'
import { startWorld } from './world.ts'

const world = await startWorld(t)
const provider = await HostileProvider.start(t)
const API = 'https://api.acme.example'
await provider.takes(world, { acme: { acceptProviderTokens: true, audience: [API] } })

async function authenticate(claims: Claims = {}, header: Record<string, unknown> = {}) {
  const token = await provider.sign(provider.claims(claims), header)
  world.secrets.add(token)
  return verdict(token)
}

async function verdict(token: string): Promise<unknown> {
  const found = await world.oidc.verifyProviderToken(token)
  return found instanceof Refusal ? found.code : found
}

t.test('accepted tokens', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  t.match(
    await authenticate({
      email: 'alice@acme.example',
      memberOf: ['Viewer', 'Editor'],
      iat: now,
      exp: now + 600,
    }),
    {
      tenant: 'acme',
      user: 'alice',
      email: 'alice@acme.example',
      names: ['Viewer', 'Editor'],
      issuedAt: now,
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
    t.match(await authenticate(claims, header), { user: 'alice' }, JSON.stringify(claims))
})

t.test('tokens for another audience are left to other authenticators', async (t) => {
  for (const claims of [
    { iss: 'https://other.example' },
    { aud: 'other' },
    { aud: undefined },
    { iss: world.globex.issuer },
  ])
    t.equal(await authenticate(claims), null, JSON.stringify(claims))
  for (const text of ['', 'x', 'a.b.c', await world.ownToken()]) t.equal(await verdict(text), null)
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
  await provider.takes(world, { acme: { acceptProviderTokens: false } })
  t.equal(await authenticate(), null)
})

t.test('one token that fits two tenants', async (t) => {
  const redirectUri = `${world.origin}/auth/oidc/callback/globex`
  const globex = { issuer: provider.issuer, clientId: CLIENT, acceptProviderTokens: true, redirectUri }
  await provider.takes(world, { acme: { acceptProviderTokens: true }, globex })
  t.equal(await authenticate(), 'token_invalid')
  await provider.takes(world, {
    acme: { acceptProviderTokens: true },
    globex: { ...globex, clientId: 'another' },
  })
  t.match(await authenticate(), { tenant: 'acme' })
  t.match(await authenticate({ aud: 'another' }), { tenant: 'globex' })
})

t.test('an expired token of no tenant is no matter of the one whose keys verified it', async (t) => {
  const tenantClaim = { name: 'org', value: 'acme' }
  await provider.takes(world, { acme: { acceptProviderTokens: true, tenantClaim } })
  const callerOf = async (org: string) => {
    const past = Math.floor(Date.now() / 1000) - 3600
    const token = await provider.sign(provider.claims({ org, iat: past - 60, exp: past }))
    world.secrets.add(token)
    const found = await world.oidc.verifyProviderToken(token)
    return found instanceof Refusal ? [found.code, found.caller?.tenant] : found
  }
  t.same(await callerOf('acme'), ['token_expired', 'acme'])
  t.same(await callerOf('initech'), ['token_expired', undefined])
})

t.test('the keys are unavailable', async (t) => {
  await provider.takes(world, { acme: { acceptProviderTokens: true } })
  provider.answers.set('/jwks', () => ({ status: 500, body: {} }))
  t.equal(await authenticate(), 'unavailable')
})
