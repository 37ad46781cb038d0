/**
 * A provider, or a token with a tenant's secret, that names a user of an issuer, `issuer|user`: blocks, limits, the audit and
 * upstreams would take one for the other. Each way in refuses such a `sub`; those that only speak of users take it.
 */

import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { isIssuerUser, issuerUser } from '../../src/model/issuer-user.ts'
import { folderWith } from '../cli/command-line.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { CLIENT, HostileProvider } from '../oidc/hostile-provider.ts'
import { freshWorld } from '../oidc/world.ts'

const FOREIGN = issuerUser('https://ci.example', 'deployer')
/** Ids of providers that look alike: Auth0, SAML, and texts that no issuer begins. */
const OWN = [
  'auth0|5f7c8ec7c33c6c004bbafe82',
  'samlp|https://idp.example|x',
  'https://ci.example|',
  '|x',
  'a|b|c',
]

const world = await freshWorld()
const provider = await HostileProvider.start(t)
provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
await provider.takes(world, { acme: { acceptProviderTokens: true } })

const me = async (token: string) => {
  const { status, json } = await world.visitor().ask('/v1/me', { token })
  return status === 200 ? json.user : json.code
}
const now = () => Math.floor(Date.now() / 1000)

async function logoutToken(sub: string): Promise<string> {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const { iss, aud } = provider.claims()
  return provider.sign(
    { iss, aud, sub, events, iat: now(), exp: now() + 120, jti: randomUUID() },
    { typ: 'logout+jwt' },
  )
}

/** By its name: how it takes the `sub`. */
const WAYS: Readonly<Record<string, (sub: string) => Promise<unknown>>> = {
  'sign-in': async (sub) => {
    const { status, json } = await provider.signIn(world, { sub })
    return status === 200 ? json.user.sub : json.code
  },
  'validation of an ID token': async (sub) => {
    const id_token = await provider.sign(provider.claims({ sub }))
    const path = `${world.origin}/auth/oidc/validate`
    const { status, json } = await world.visitor().postJson(path, { tenant: 'acme', id_token })
    return status === 200 ? json.claims.sub : json.code
  },
  'a token of the provider': async (sub) => me(await provider.sign(provider.claims({ sub, aud: CLIENT }))),
  'a token with the secret': async (sub) => me(await world.gateway.token([], { sub })),
  'a logout token': async (sub) => {
    const path = `${world.origin}/auth/oidc/backchannel-logout`
    const { status } = await world.visitor().post(path, { logout_token: await logoutToken(sub) })
    return status === 200 ? sub : 'token_invalid'
  },
}

for (const [name, of] of Object.entries(WAYS))
  t.test(name, async (t) => {
    for (const sub of OWN) t.equal(await of(sub), sub)
    for (const sub of [
      FOREIGN,
      'HTTPS://ci.example|x',
      'http://127.0.0.1:9/a/b|c|d',
      `${provider.issuer}|alice`,
    ])
      t.equal(await of(sub), 'token_invalid', sub)
  })

t.test('the log names no user of an issuer for what is refused', async (t) => {
  const lines = world.gateway.log()
  t.ok(lines.some(({ detail }) => /names a user of an issuer/.test(String(detail))))
  t.same(
    lines.filter(({ user }) => user === FOREIGN),
    [],
  )
})

/** As a version that let such a user sign in left it. */
function renameUser(from: string): void {
  using store = new DatabaseSync(world.gateway.storeFile, { timeout: 60_000 })
  store
    .prepare('UPDATE sessions SET sub = ? WHERE sub = ?')
    .run(JSON.stringify(FOREIGN), JSON.stringify(from))
}

t.test('a session of an earlier version', async (t: Test) => {
  const browser = world.visitor()
  const begun = await browser.begin('acme', { return_to: '/pages/a' })
  const parameters = new URL(begun.json.authorization_url).searchParams
  const [state = '', nonce] = [parameters.get('state') ?? '', parameters.get('nonce')]
  provider.gives(await provider.sign(provider.claims({ sub: 'cookie', nonce })))
  const query = new URLSearchParams({ code: 'any', state })
  t.equal((await browser.send(`${world.origin}/auth/oidc/callback/acme?${query}`)).status, 303)
  renameUser('cookie')
  t.match((await browser.ask('/v1/me')).json, { code: 'token_invalid' })

  const first = await provider.signIn(world, { sub: 'handle' }, { refresh_token: 'r' })
  t.equal(first.status, 200)
  renameUser('handle')
  provider.gives(null, { refresh_token: 'r' })
  provider.answers.set('/userinfo', () => ({ body: { sub: FOREIGN, memberOf: [] } }))
  t.match((await world.visitor().refresh(first.json.refresh_token)).json, { code: 'token_invalid' })
})

t.test('a token for trials is not minted in vain', async (t) => {
  const args = ['token', '--sub', FOREIGN, '--seat', 'Viewer']
  t.match(await seatgateHere(folderWith(t, {}), args), { code: 2, err: /is a user of an issuer/ })
})

t.test('what speaks of such a user', async (t) => {
  const { status, json } = await world.gateway.admin('POST', '/v1/blocks', { user: FOREIGN })
  t.equal(status, 200)
  t.equal(json.user, FOREIGN)
})

t.test('the form', async (t) => {
  for (const sub of OWN) t.notOk(isIssuerUser(sub), sub)
  for (const issuer of [
    'https://a',
    'https://a.example/',
    'https://a.example/b/c',
    'http://localhost:8080/realms/x',
  ])
    for (const name of ['a', 'a|b', '|', ' ', 'https://x']) t.ok(isIssuerUser(issuerUser(issuer, name)))
})
