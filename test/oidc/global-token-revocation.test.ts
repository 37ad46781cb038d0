/** Global Token Revocation by the keys of a certified provider, where users sign in. */

import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Claims } from './hostile-provider.ts'
import { outcome } from '../revocations/support.ts'
import type { Visitor } from '../sign-in/visitor.ts'
import { breakTable, freshWorld, type SignInWorld, stored } from './world.ts'

const PATH = '/auth/oidc/global-token-revocation'
const world = await freshWorld({ acme: { revocation: true }, globex: { revocation: true } })
const uri = (tenant = 'acme') => `${world.origin}${PATH}/${tenant}`
const now = () => Math.floor(Date.now() / 1000)

const claims = (more: Claims = {}): Claims => ({
  iss: world.acme.issuer,
  aud: uri(),
  sub: 'seatgate',
  jti: randomUUID(),
  iat: now(),
  exp: now() + 300,
  ...more,
})

const issSub = (sub: string, iss = world.acme.issuer) => ({ format: 'iss_sub', iss, sub })

/** @returns the status, with the code of a refusal */
async function send(token: string, subject: unknown, at = uri()): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const page = await world.visitor().postJson(at, { sub_id: subject }, headers)
  return page.status === 204 ? '204' : `${page.status} ${page.json.code}`
}

const revoke = async (subject: unknown, more: Claims = {}) =>
  send(await world.acme.sign(claims(more)), subject)

async function program(user: string, of: SignInWorld = world) {
  const visitor = of.visitor(user)
  const { json } = await visitor.signIn()
  return { visitor, token: String(json.access_token), handle: String(json.refresh_token) }
}

const asked = async ({ visitor, token }: { visitor: Visitor; token?: string }) =>
  outcome(await visitor.ask('/v1/me', token === undefined ? {} : { token }))

const revocations = async (tenant = 'acme') =>
  (await world.gateway.admin('GET', '/v1/revocations?limit=100', undefined, tenant)).json.data

for (const user of ['alice', 'bob', 'carol']) world.user(user)
const newest = async () => (await revocations())[0]

t.test('what the user has is void with the 204, on cookie, token, handle and owned API key', async (t) => {
  const [tool, browser, bob] = [await program('alice'), world.visitor('alice'), await program('bob')]
  await browser.page('/pages/a')
  const owned = await world.gateway.admin('POST', '/v1/api-keys', { name: 'ci', seats: [], owner: 'alice' })
  t.same([await asked(tool), await asked({ visitor: browser })], ['allow', 'allow'])
  t.equal(await revoke(issSub('alice')), '204')
  t.equal(await asked(tool), '401 token_revoked')
  t.equal(await asked({ visitor: browser }), '401 token_revoked')
  t.equal(outcome(await tool.visitor.refresh(tool.handle)), '401 token_revoked')
  t.match((await world.gateway.admin('GET', `/v1/api-keys/${owned.json.id}`)).json, { revoked_at: String })
  t.equal(await asked(bob), 'allow', 'another user')
  t.equal(await asked(await program('alice')), 'allow', 'a new sign-in')
  const made = await newest()
  t.match(made, {
    subject: { user: 'alice' },
    what: 'existing',
    state: 'closed',
    ended: { sessions: 2, api_keys: 1 },
  })
  const { json } = await world.gateway.admin('GET', '/v1/audit?action=revocation.create&limit=1')
  const { issuer } = world.acme
  t.match(json.data, [
    { actor: { kind: 'provider', id: issuer, name: new URL(issuer).host }, target: { id: made.id } },
  ])
  t.match(world.events('global_token_revocation'), [
    { tenant: 'acme', users: ['alice'], revocations: [made.id] },
  ])
})

t.test('by email, without regard to case: both users of one address', async (t) => {
  world.user('bob', { email: 'Shared@Acme.example' })
  world.user('carol', { email: 'shared@acme.example' })
  const [alice, bob, carol] = [await program('alice'), await program('bob'), await program('carol')]
  t.equal(await revoke({ format: 'email', email: 'SHARED@acme.example' }), '204')
  t.same([await asked(bob), await asked(carol)], ['401 token_revoked', '401 token_revoked'])
  t.equal(await asked(alice), 'allow')
  t.equal(await revoke({ format: 'email', email: 'nobody@acme.example' }), '404 user_not_found')
})

t.test('an address that the provider calls unverified names nobody', async (t) => {
  world.user('bob', { email: 'claimed@acme.example', email_verified: false })
  const bob = await program('bob')
  t.equal(await revoke({ format: 'email', email: 'claimed@acme.example' }), '404 user_not_found')
  t.equal(await asked(bob), 'allow')
})

t.test('opaque is the sub', async (t) => {
  const alice = await program('alice')
  t.equal(await revoke({ format: 'opaque', id: 'alice' }), '204')
  t.equal(await asked(alice), '401 token_revoked')
  t.equal(await revoke({ format: 'opaque', id: 'nobody' }), '404 user_not_found')
})

t.test('a user who never signed in, and owns an API key, is known', async (t) => {
  const { json } = await world.gateway.admin('POST', '/v1/api-keys', { name: 'ci', seats: [], owner: 'dora' })
  t.equal(await revoke(issSub('dora')), '204')
  t.match((await world.gateway.admin('GET', `/v1/api-keys/${json.id}`)).json, { revoked_at: String })
  t.equal(await revoke(issSub('dora')), '404 user_not_found')
})

t.test('a sign-in from before does not complete', async (t) => {
  const visitor = world.visitor('alice')
  const callback = await visitor.answer()
  t.equal(await revoke(issSub('alice')), '204')
  t.equal(outcome(await visitor.send(callback.href)), '401 token_invalid')
})

t.test('a token takes effect once, and counts again after a refusal', async (t) => {
  const alice = await program('alice')
  const token = await world.acme.sign(claims())
  t.equal(await send(token, issSub('nobody')), '404 user_not_found')
  t.equal(await send(token, { format: 'phone_number', phone_number: '+1' }), '422 subject_unsupported')
  t.equal(await send(token, issSub('alice')), '204')
  t.equal(await asked(alice), '401 token_revoked')
  const again = await program('alice')
  const { id } = await newest()
  t.equal(await send(token, issSub('alice')), '401 token_invalid')
  t.equal(await asked(again), 'allow')
  t.equal((await newest()).id, id)
})

t.test('without the store: 503, and the repetition takes effect', async (t) => {
  const alice = await program('alice')
  const token = await world.acme.sign(claims())
  const repair = breakTable(world, 'provider_logouts')
  t.equal(await send(token, issSub('alice')), '503 unavailable')
  repair()
  t.equal(await send(token, issSub('alice')), '204')
  t.equal(await asked(alice), '401 token_revoked')
})

t.test('refusals', async (t) => {
  const alice = await program('alice')
  const before = stored(world, 'SELECT count(*) AS count FROM provider_logouts')
  const cases: [name: string, more: Claims, subject: unknown, answer: string][] = [
    ['a subject of another issuer', {}, issSub('alice', world.globex.issuer), '403 subject_foreign'],
    ['another format', {}, { format: 'did', url: 'did:example:1' }, '422 subject_unsupported'],
    ['no subject', {}, undefined, '400 input_invalid'],
    ['a subject without its member', {}, { format: 'email' }, '400 input_invalid'],
    ['a subject that is no text', {}, { format: 'opaque', id: 7 }, '400 input_invalid'],
    ['another issuer', { iss: world.globex.issuer }, issSub('alice'), '401 token_invalid'],
    ['a slash more', { aud: `${uri()}/` }, issSub('alice'), '401 token_invalid'],
    ['the address of another tenant', { aud: uri('globex') }, issSub('alice'), '401 token_invalid'],
    ['a further audience', { aud: [uri(), uri('globex')] }, issSub('alice'), '401 token_invalid'],
    ['no audience', { aud: undefined }, issSub('alice'), '401 token_invalid'],
    ['eleven minutes', { exp: now() + 660 }, issSub('alice'), '401 token_invalid'],
    ['expired', { iat: now() - 400, exp: now() - 100 }, issSub('alice'), '401 token_invalid'],
    ['from the future', { iat: now() + 200 }, issSub('alice'), '401 token_invalid'],
    ['no iat', { iat: undefined }, issSub('alice'), '401 token_invalid'],
    ['no exp', { exp: undefined }, issSub('alice'), '401 token_invalid'],
    ['no jti', { jti: undefined }, issSub('alice'), '401 token_invalid'],
  ]
  for (const [name, more, subject, answer] of cases) t.equal(await revoke(subject, more), answer, name)
  const other = await world.acme.sign(claims(), { typ: 'logout+jwt' })
  t.equal(await send(other, issSub('alice')), '401 token_invalid', 'another type')
  const foreign = await world.globex.sign(claims())
  for (const subject of [
    ...[issSub('alice'), issSub('nobody'), issSub('alice', world.globex.issuer)],
    { format: 'did', url: 'did:example:1' },
  ])
    t.equal(await send(foreign, subject), '401 token_invalid', "another tenant's keys learn nothing")
  t.equal(await send(await world.acme.sign(claims()), issSub('alice'), uri('nobody')), '401 token_invalid')
  const own = await world.acme.sign(claims({ aud: uri('globex') }))
  t.equal(await send(own, issSub('alice'), uri('globex')), '401 token_invalid', 'at another tenant')
  t.equal(await asked(alice), 'allow')
  t.same(stored(world, 'SELECT count(*) AS count FROM provider_logouts'), before, 'none is used up')
  for (const typ of ['JWT', 'global-token-revocation+jwt', 'application/global-token-revocation+jwt'])
    t.equal(await send(await world.acme.sign(claims(), { typ }), issSub('alice')), '204', typ)
  t.equal(await revoke(issSub('alice'), { aud: [uri()] }), '204', 'a list of just it')
})

t.test('a client that does not know the issuer does not learn which tenants exist', async (t) => {
  for (const typ of ['logout+jwt', 'JWT']) {
    const token = await world.acme.sign(claims({ iss: 'https://other.example' }), { typ })
    const headers = { authorization: `Bearer ${token}` }
    const [known, unknown] = await Promise.all(
      ['acme', 'nobody'].map((tenant) =>
        world.visitor().postJson(uri(tenant), { sub_id: issSub('alice') }, headers),
      ),
    )
    t.same({ ...known?.json, request_id: null }, { ...unknown?.json, request_id: null }, typ)
  }
})

t.test('with tokens of the provider, an unknown user is 204, and the cutoff is kept', async (t) => {
  await world.configure({ acme: { revocation: true, acceptProviderTokens: true } })
  t.equal(await revoke(issSub('zoe')), '204')
  t.match(await newest(), { subject: { user: 'zoe' }, state: 'closed' })
  t.equal(await revoke({ format: 'opaque', id: 'zoe.other' }), '404 user_not_found')
})

t.test('not configured', async (t) => {
  await world.configure()
  const alice = await program('alice')
  t.equal(await revoke(issSub('alice')), '401 token_invalid')
  t.equal(await asked(alice), 'allow')
  t.match(world.events('global_token_revocation_refused').at(-1), {
    reason: /oidc\.revocation is not configured/,
  })
})
