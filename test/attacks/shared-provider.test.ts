/**
 * Two tenants that share one client of one provider: a user of one tenant signs in at the other, to get the other's
 * Seats. The tenant claim is checked wherever a statement of the provider is used.
 */

import { type CryptoKey, generateKeyPair } from 'jose'
import t from 'tap'
import type { OidcConfig } from '../../src/config/config.ts'
import { CLIENT, HostileProvider } from '../oidc/hostile-provider.ts'
import { moveClock } from '../sign-in/moving-clock.ts'
import type { TestProvider } from '../oidc/provider.ts'
import { freshWorld, HOUR, seat, type SignInWorld, stored } from '../oidc/world.ts'

const clock = moveClock(t)

const claim = (value: string) => ({ tenantClaim: { name: 'realm_access.org', value } })
const of = (...orgs: unknown[]) => ({
  memberOf: ['Admin'],
  realm_access: { org: orgs.length > 1 ? orgs : orgs[0] },
})

/** Both tenants at this provider, as one client. */
async function sharing(choose: (world: SignInWorld) => TestProvider = ({ acme }) => acme) {
  // Sign-ins of earlier cases are old.
  clock.pass(HOUR)
  const world = await freshWorld()
  const provider = choose(world)
  const config: Partial<OidcConfig> = provider.config()
  await world.configure({
    acme: { ...config, ...claim('acme') },
    globex: { ...config, ...claim('globex') },
  })
  for (const tenant of ['acme', 'globex']) await seat(world, 'Admin', ['main'], tenant)
  const user = (name: string, ...orgs: unknown[]) => world.user(name, of(...orgs), provider)
  return { world, provider, user }
}

for (const [where, choose] of Object.entries({
  'in the ID token': ({ acme }: SignInWorld) => acme,
  'in userinfo': ({ globex }: SignInWorld) => globex,
}))
  t.test(`the callback, with the claim ${where}`, async (t) => {
    const { world, user } = await sharing(choose)
    user('alice', 'acme')
    user('both', 'globex', 'acme')
    t.equal((await world.visitor('alice').signIn('acme')).status, 200)
    t.match((await world.visitor('alice').signIn('globex')).json, {
      status: 401,
      code: 'token_invalid',
    })
    t.match(world.events('sign_in_failed'), [{ tenant: 'globex', reason: /do not match this tenant/ }])
    const page = await world.visitor('alice').answer('globex', { return_to: '/pages/a' })
    const browser = await world.visitor('alice').send(page.href)
    t.notOk(browser.headers['set-cookie']?.some((line) => line.includes('_session=')))
    for (const tenant of ['acme', 'globex'])
      t.equal((await world.visitor('both').signIn(tenant)).json.user?.tenant_id, tenant, 'a user of both')
    const sql = `SELECT tenant, sub FROM users WHERE last_sign_in > ${Date.now() - HOUR / 2} ORDER BY tenant, sub`
    const recorded = stored(world, sql)
    const names = recorded.map((row) => `${row['tenant']} ${row['sub']}`)
    t.same(names, ['acme alice', 'acme both', 'globex both'], 'recorded')
  })

t.test('malformed and missing claims', async (t) => {
  const { world, user } = await sharing()
  for (const org of [
    undefined,
    null,
    '',
    'ACME',
    'acme ',
    ['x'],
    [],
    [['acme']],
    { acme: true },
    { value: 'acme' },
  ]) {
    user('alice', org)
    t.equal((await world.visitor().signIn()).json.code, 'token_invalid', JSON.stringify(org))
  }
  world.user('alice', { org: 'acme' })
  t.equal((await world.visitor().signIn()).json.code, 'token_invalid', 'elsewhere')
})

t.test('a user who has moved to the other tenant', async (t) => {
  const { world, user } = await sharing()
  user('alice', 'acme')
  const program = world.visitor()
  const { refresh_token } = (await program.signIn()).json
  const browser = world.visitor()
  await browser.page('/pages/home')
  user('alice', 'globex')
  t.match((await program.refresh(refresh_token)).json, { status: 401, code: 'token_invalid' })
  clock.pass(HOUR)
  t.match((await browser.send(`${world.origin}/v1/me`)).json, { status: 401, code: 'token_invalid' })
  t.match(world.events('session_ended'), [{ reason: /this tenant/ }, { reason: /this tenant/ }])
  user('alice', 'acme')
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 401, 'the session has ended')
})

t.test('validate', async (t) => {
  const { world } = await sharing()
  const provider = await HostileProvider.start(t)
  const redirectUri = `${world.origin}/auth/oidc/callback/globex`
  const client = { issuer: provider.issuer, clientId: CLIENT, clientSecret: null, clientAuth: null }
  await provider.takes(world, { acme: claim('acme'), globex: { ...client, redirectUri, ...claim('globex') } })
  const idToken = await provider.sign(provider.claims({ realm_access: { org: 'acme' } }))
  const bare = await provider.sign(provider.claims())
  const validate = (tenant: string, token: string) =>
    world.visitor().postJson(`${world.origin}/auth/oidc/validate`, { tenant, id_token: token })
  t.equal((await validate('acme', idToken)).status, 200)
  t.match((await validate('globex', idToken)).json, { status: 401, code: 'token_invalid' })
  t.match((await validate('acme', bare)).json, { status: 401, code: 'token_invalid' })
})

t.test("the provider's own tokens: the claim identifies the tenant", async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  const redirectUri = `${world.origin}/auth/oidc/callback/globex`
  const client = { issuer: provider.issuer, clientId: CLIENT, clientSecret: null, acceptProviderTokens: true }
  const globex = { ...client, clientAuth: null, redirectUri, ...claim('globex') }
  await provider.takes(world, { acme: { acceptProviderTokens: true, ...claim('acme') }, globex })
  const verify = async (org: unknown, key?: CryptoKey) => {
    const token = await provider.sign(provider.claims({ realm_access: { org } }), {}, key ?? provider.key)
    world.secrets.add(token)
    return (await world.visitor().ask('/v1/me', { token })).json
  }
  t.match(await verify('acme'), { tenant: 'acme' })
  t.match(await verify('globex'), { tenant: 'globex' })
  t.match(await verify(['acme', 'globex']), { code: 'token_invalid' }, 'a user of both is ambiguous')
  t.match(await verify('initech'), { code: 'token_invalid' })
  t.match(await verify(undefined), { code: 'token_invalid' })
  t.equal(world.events('provider_token_refused').length, 2)
  const { privateKey } = await generateKeyPair('ES256')
  t.match(await verify('initech', privateKey), { code: 'token_invalid' })
  t.equal(world.events('provider_token_refused').length, 2, 'an unsigned token writes no log line')
})
