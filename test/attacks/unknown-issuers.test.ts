/**
 * Tokens of issuers that the configuration does not have: the refusal and the log say which issuer the token names, and the
 * accepted one that was perhaps meant. What a token says is not proven, and may be anything.
 */

import t from 'tap'
import { KnownIssuers } from '../../src/decision/authn/unknown-issuer.ts'
import { HostileProvider } from '../oidc/hostile-provider.ts'
import { tenantOf } from '../oidc/component.ts'
import { freshWorld } from '../oidc/world.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { OIDC_DEFAULTS } from '../oidc/provider.ts'
import type { IssuerConfig, OidcConfig } from '../../src/config/config.ts'

const base64url = (text: string) => Buffer.from(text).toString('base64url')
const tokenOf = (claims: object, header: object = { alg: 'RS256', kid: 'k' }) =>
  `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}.AAAA`

const AUDIENCE = 'https://gw.example'
const issuer = await HostileProvider.start(t)
const entry = {
  issuer: issuer.issuer,
  audience: AUDIENCE,
  seats: ['Viewer'],
  match: { sub: 'a' },
  allow_insecure: true,
}
const world = await startWorld(t, { acme: [`issuers: ${JSON.stringify([entry])}`] })

async function detailOf(token: string): Promise<string> {
  const { status, json, headers } = await world.client.send('GET', '/v1/me', {
    authorization: `Bearer ${token}`,
  })
  t.equal(status, 401)
  t.match(json, { code: 'token_invalid' })
  t.match(headers, { 'www-authenticate': /Bearer/ })
  const inLog = () =>
    world.log().some(({ request_id: id, detail }) => id === json.request_id && detail === json.detail)
  await until(inLog, 'the same text in the log')
  return json.detail
}

t.test('a final slash too many, signed by the issuer', async (t) => {
  const iss = `${issuer.issuer}/`
  const detail = await detailOf(await issuer.sign(issuer.claims({ iss, aud: AUDIENCE, sub: 'a' })))
  t.equal(
    detail,
    `The token names the issuer "${iss}", which is not accepted. The nearest accepted one is "${issuer.issuer}".`,
  )
})

t.test('every form of a bearer token that names an issuer', async (t) => {
  for (const header of [
    { alg: 'RS256', kid: 'k' },
    { alg: 'HS256' },
    { alg: 'none' },
    { alg: 'ES256', jku: 'https://a' },
  ])
    t.match(
      await detailOf(tokenOf({ iss: 'https://elsewhere.example/x' }, header)),
      '"https://elsewhere.example/x"',
    )
  t.match(await detailOf('a.b.c'), /An API key belongs in x-api-key/, 'it names none')
  for (const iss of [7, null, '', ['https://a']])
    t.match(await detailOf(tokenOf({ iss })), /An API key belongs/)
  const own = await world.token([], { sub: 'alice' })
  t.match(await detailOf(`${own.slice(0, -4)}AAAA`), 'The signature of the token is not valid')
})

t.test('what a token says is bounded and harmless', async (t) => {
  for (const iss of [
    'x'.repeat(5000),
    '"\u2028\u202e\u0000\r\nSet-Cookie: a=b',
    '\ud83d\ude00'.repeat(300),
    '<script>',
  ]) {
    const detail = await detailOf(tokenOf({ iss }))
    t.match(detail, /^[\x20-\x7e]{1,500}$/)
    t.ok(detail.length < 500)
  }
})

const NO_ISSUER = { audience: 'a', seats: [], match: [] } as unknown as IssuerConfig
const issuerOf = (text: string): IssuerConfig => ({ ...NO_ISSUER, issuer: text })
const known = (tenants: Readonly<Record<string, readonly string[]>>, oidc: OidcConfig | null = null) =>
  new KnownIssuers(
    new Map(
      Object.entries(tenants).map(([id, issuers]) => [
        id,
        { ...tenantOf(id, oidc), issuers: issuers.map(issuerOf) },
      ]),
    ),
  )

t.test('the nearest one', async (t) => {
  const detail = (from: KnownIssuers, iss: string) => from.refusalOf(tokenOf({ iss }))?.detail ?? ''
  const one = known({ acme: ['https://a.example/realms/x', 'https://b.example'] })
  for (const iss of [
    'https://a.example/realms/x/',
    'http://a.example/realms/x',
    'https://A.example/realms/y',
  ])
    t.match(detail(one, iss), 'nearest accepted one is "https://a.example/realms/x".', iss)
  t.match(detail(one, 'https://b.example/'), 'nearest accepted one is "https://b.example".')
  const several = known({ acme: ['https://a.example/realms/x'], globex: ['https://b.example'] })
  for (const iss of [
    'https://a.example/realms/x/',
    'https://a.example/auth/realms/x',
    'https://A.example/realms/y',
  ])
    t.match(detail(several, iss), 'is "https://a.example/realms/x".', iss)
  t.match(detail(several, 'https://b.exampel'), 'is "https://b.example".', 'misspelled')
  t.equal(
    detail(several, 'https://c.example.org'),
    'The token names the issuer "https://c.example.org", which is not accepted.',
    'a stranger does not learn whose issuers there are',
  )
  const [before, secret, after] = ['https://login.example/', '0b1f3c5e-acme-directory', '/v2.0']
  const hosted = known({ acme: [before + secret + after], globex: ['https://login.example/globex/v2.0'] })
  for (const iss of [before, before + after, `${before}x${after}`, `${before}${secret.slice(0, 12)}${after}`])
    t.notMatch(detail(hosted, iss), 'nearest', `${iss}: nor from the host that a provider's customers share`)
  t.equal(detail(known({ acme: [] }), 'x'), 'The token names the issuer "x", which is not accepted.')
  const signIn = { ...OIDC_DEFAULTS, issuer: 'https://login.example' } as unknown as OidcConfig
  t.match(
    detail(known({ acme: [] }, signIn), 'https://login.example'),
    /for sign-in alone, not for bearer tokens/,
  )
  const accepting = { ...signIn, acceptProviderTokens: true }
  t.match(
    detail(known({ acme: [] }, accepting), 'https://login.example'),
    /but its aud is not one that is accepted/,
  )
})

t.test('at sign-in, at validation and in logout tokens', async (t) => {
  const signIn = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(signIn)
  const iss = `${provider.issuer}/`
  const page = await provider.signIn(signIn, { iss })
  const said = `The ID token names the issuer "${iss}". The issuer of the tenant's provider is "${provider.issuer}".`
  t.match(page.json, { code: 'token_invalid', detail: said })
  t.match(signIn.events('sign_in_failed'), [{ reason: said }])

  const begun = await signIn.visitor().begin()
  t.equal(begun.status, 200)
  const browser = signIn.visitor()
  const state = new URL((await browser.begin()).json.authorization_url).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ code: 'any', state, iss })
  t.equal((await browser.send(`${signIn.origin}/auth/oidc/callback/acme?${query}`)).status, 400)
  t.match(signIn.events('sign_in_failed').at(-1), { reason: `the response names the issuer ${iss}` })

  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const logout = await provider.sign(provider.claims({ iss, events }), { typ: 'logout+jwt' })
  const answer = await signIn
    .visitor()
    .post(`${signIn.origin}/auth/oidc/backchannel-logout`, { logout_token: logout })
  t.notMatch(answer.body, provider.issuer)
  t.match(signIn.events('backchannel_logout_refused'), [{ issuer: iss }])
})
