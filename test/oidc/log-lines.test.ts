/** Every line of the log that a request causes has its id, and the user and the session as soon as they are known. */

import { globSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'
import t from 'tap'
import { moveClock } from '../sign-in/moving-clock.ts'
import { HostileProvider } from './hostile-provider.ts'
import { block, freshWorld, HOUR, seat, sessions, shareWorld } from './world.ts'

const clock = moveClock(t)
// Large Seats make tokens too long.
shareWorld({ top: ['limits: { seat_bytes: 1MiB }'] })

/** What each line has beside its request's id. `sign_in_failed` has what is known by then: see its test. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  signed_in: ['tenant', 'user', 'session'],
  seats_unknown: ['tenant', 'user', 'session'],
  seats_cut: ['tenant', 'user', 'session'],
  seats_claim_missing: ['tenant', 'user', 'session'],
  token_too_long: ['tenant', 'user', 'session'],
  session_ended: ['tenant', 'user', 'session'],
  refresh_replayed: ['tenant', 'user', 'session'],
  logout_incomplete: ['tenant', 'user', 'session'],
  userinfo_unread: ['tenant', 'user'],
  seats_claim_unreadable: ['tenant', 'user'],
  seats_left_out: ['tenant', 'user'],
  backchannel_logout: ['tenant', 'user', 'sessions'],
  // A token that no provider signed is of no user.
  backchannel_logout_refused: [],
  // The tenant is what is in doubt.
  provider_token_refused: ['user'],
  // A token that could not be verified is of no user.
  provider_token_unknown: [],
  issuer_token_unknown: ['tenant'],
  sign_in_failed: ['tenant'],
  global_token_revocation: ['tenant', 'users', 'revocations'],
  global_token_revocation_refused: ['tenant', 'code', 'reason'],
  shared_signal: ['tenant', 'name'],
  shared_signal_ignored: ['tenant', 'name', 'reason'],
  shared_signal_stream: ['tenant', 'name'],
  shared_signal_refused: ['tenant', 'code', 'reason'],
  signal_keys_unavailable: ['tenant', 'reason'],
  administered: ['tenant'],
  nobody_administers: ['tenant'],
}

/**
 * Of them, what `issuers/keys.test.ts`, `global-token-revocation.test.ts`, `shared-signals.test.ts` and
 * `scim/administration.test.ts` have.
 */
const ELSEWHERE = [
  'issuer_token_unknown',
  'global_token_revocation',
  'global_token_revocation_refused',
  'shared_signal',
  'shared_signal_ignored',
  'shared_signal_stream',
  'shared_signal_refused',
  'signal_keys_unavailable',
  'administered',
  'nobody_administers',
]

type Members = Record<string, unknown>

async function start(t: Test, options: Parameters<HostileProvider['takes']>[1] = {}) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
  provider.answers.set('/userinfo', () => ({ body: { sub: 'alice', email: 'alice@acme.example' } }))
  await provider.takes(world, options)
  await seat(world, 'Viewer', ['s1'])
  const signIn = (claims: Members = {}, more: Members = {}) =>
    provider.signIn(world, claims, { refresh_token: 'a-refresh-token-of-alice', ...more })
  const handle = async () => String((await signIn()).json.refresh_token)
  const bearer = async (claims: Members = {}) => {
    const token = await provider.sign(provider.claims(claims))
    world.secrets.add(token)
    return world.visitor().send(`${world.origin}/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  }
  return { world, provider, signIn, handle, bearer }
}

t.test('every line', async (t) => {
  const { world, provider, signIn, handle, bearer } = await start(t, { acme: { acceptProviderTokens: true } })
  const refresh = (text: string) => world.visitor().refresh(text)
  await seat(
    world,
    'Wide',
    Array.from({ length: 2000 }, (_, i) => `space-${i}`),
  )
  await seat(
    world,
    'Wider',
    Array.from({ length: 6000 }, (_, i) => `space-${i}`),
  )
  await signIn({ memberOf: ['Unknown', 'Wider'] })
  await signIn({ memberOf: ['Wide'] })
  await signIn({ memberOf: { no: 'names' } })
  await signIn({ memberOf: undefined, _claim_names: { memberOf: 'elsewhere' } })
  const used = await handle()
  provider.gives(await provider.sign(provider.claims({ memberOf: undefined })), {})
  const second = String((await refresh(used)).json.refresh_token)
  await refresh(used)
  t.equal((await refresh(second)).status, 401)
  const third = await handle()
  provider.answers.set('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }))
  t.equal((await refresh(third)).status, 401)
  provider.answers.set('/userinfo', () => ({ status: 500, body: '' }))
  const fourth = await handle()
  provider.metadata = { ...provider.metadata, revocation_endpoint: `${provider.issuer}/revoke` }
  await provider.takes(world, { acme: { acceptProviderTokens: true } })
  provider.answers.set('/.well-known/openid-configuration', () => ({ status: 500, body: '' }))
  await world.visitor().postJson(`${world.origin}/auth/oidc/logout`, { refresh_token: fourth })
  t.equal((await bearer()).status, 503)

  const first = world.lines()

  const other = await start(t, {
    acme: { acceptProviderTokens: true, tenantClaim: { name: 'org', value: 'acme' } },
  })
  t.equal((await other.bearer({ org: 'initech' })).status, 401)
  const now = Math.floor(Date.now() / 1000)
  const logout = (claims: Members) =>
    other.provider
      .sign(
        { iss: other.provider.issuer, aud: other.provider.claims().aud, iat: now, exp: now + 60, ...claims },
        { typ: 'logout+jwt' },
      )
      .then((logout_token) =>
        other.world.visitor().send(`${other.world.origin}/auth/oidc/backchannel-logout`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `${new URLSearchParams({ logout_token })}`,
        }),
      )
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  for (const status of [200, 400])
    t.equal((await logout({ sub: 'alice', jti: 'one', events })).status, status)
  t.match(other.world.events('backchannel_logout_refused'), [{ tenant: 'acme', user: 'alice' }], 'used')
  t.equal((await logout({ sub: 'alice', jti: 'two' })).status, 400)
  await other.signIn({ org: 'initech' })

  const lines = [...first, ...other.world.lines()]
  for (const [event, members] of Object.entries(MEMBERS)) {
    if (ELSEWHERE.includes(event)) continue
    const found = lines.filter((line) => line.event === event)
    t.ok(found.length > 0, `a line ${event}`)
    for (const line of found)
      for (const member of ['request_id', ...members])
        t.ok(line[member], `${event} has ${member}: ${JSON.stringify(line)}`)
  }
  t.same(
    lines.filter(({ event }) => !Object.hasOwn(MEMBERS, String(event))),
    [],
  )
})

t.test('a failed sign-in or refresh names the user once the provider has', async (t) => {
  const { world, provider, signIn, handle } = await start(t)
  const last = () => world.events('sign_in_failed').at(-1)
  provider.answers.set('/userinfo', () => ({ status: 500, body: '' }))
  t.equal((await signIn({ memberOf: undefined })).status, 503)
  t.match(last(), { user: 'alice', request_id: String }, 'the ID token was verified')
  provider.answers.set('/userinfo', () => ({ body: { sub: 'mallory' } }))
  t.equal((await signIn()).status, 401)
  t.match(last(), { user: 'alice', request_id: String }, 'userinfo of another user')
  provider.answers.set('/userinfo', () => ({ body: { sub: 'alice' } }))
  const unblock = await block(world, 'alice')
  t.equal((await signIn()).status, 403)
  t.match(last(), { user: 'alice', request_id: String })
  await unblock()
  const text = await handle()
  const session = sessions(world).at(-1)?.id
  provider.answers.set('/token', () => ({ status: 500, body: '' }))
  t.equal((await world.visitor().refresh(text)).status, 503)
  t.match(last(), { user: 'alice', session, request_id: String }, 'a refresh')
})

t.test('a renewal of a browser session names it', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  const session = sessions(world).at(-1)?.id
  t.match(world.events('signed_in'), [{ user: 'alice', session }])
  clock.pass(HOUR)
  await world.acme.down()
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 503)
  t.match(world.events('sign_in_failed').at(-1), { user: 'alice', session, request_id: String })
  await world.acme.up()
})

t.test('the list above has every name', async (t) => {
  const names = new Set<string>()
  for (const path of globSync('src/**/*.ts'))
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/\bevent: '(\w+)'/g)) names.add(name)
  t.same([...names].sort(), Object.keys(MEMBERS).sort())
})
