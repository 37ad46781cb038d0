/** Events by push: a transmitter of its own, and a certified provider where users sign in. */

import t, { type Test } from 'tap'
import type { EventsConfig } from '../../src/config/events-settings.ts'
import { outcome } from '../revocations/support.ts'
import type { Visitor } from '../sign-in/visitor.ts'
import { EVENTS, pushed, Transmitter } from '../support/transmitter.ts'
import { HostileProvider } from './hostile-provider.ts'
import { breakTable, freshWorld, seat, sessions, stored } from './world.ts'

const PATH = '/auth/ssf'
const transmitter = await Transmitter.start(t)
const events: EventsConfig = {
  audience: transmitter.audience,
  issuer: transmitter.issuer,
  jwksUri: null,
  authorization: null,
}
const world = await freshWorld({ acme: { events } })
const uri = (tenant = 'acme') => `${world.origin}${PATH}/${tenant}`
const issSub = (sub: string, iss = world.acme.issuer) => ({ format: 'iss_sub', iss, sub })

/** @returns the status, with the code of a fault */
async function push(type: string, subject: unknown, more: Record<string, unknown> = {}): Promise<string> {
  return told(await transmitter.push(uri(), type, subject, more))
}

function told({ status, json }: Awaited<ReturnType<typeof pushed>>): string {
  return json === null ? `${status}` : `${status} ${json.err ?? json.code}`
}

const send = async (token: string, at = uri(), headers = {}) => told(await pushed(at, token, headers))

async function program(user: string) {
  const visitor = world.visitor(user)
  const { json } = await visitor.signIn()
  return { visitor, token: String(json.access_token), handle: String(json.refresh_token) }
}

async function browser(user: string): Promise<Visitor> {
  const visitor = world.visitor(user)
  await visitor.page('/pages/a')
  return visitor
}

const asked = async ({ visitor, token }: { visitor: Visitor; token?: string }) =>
  outcome(await visitor.ask('/v1/me', token === undefined ? {} : { token }))
const blocks = async () => (await world.gateway.admin('GET', '/v1/blocks')).json.data
const revocations = async () => (await world.gateway.admin('GET', '/v1/revocations?limit=100')).json.data

for (const user of ['alice', 'bob']) world.user(user)

t.test(
  'session-revoked and credential-change of a user: everything is void, and a new sign-in passes',
  async (t) => {
    for (const type of [EVENTS.sessionRevoked, EVENTS.credentialChange]) {
      const [tool, page, bob] = [await program('alice'), await browser('alice'), await program('bob')]
      t.equal(await push(type, issSub('alice')), '202')
      t.same([await asked(tool), await asked({ visitor: page })], ['401 token_revoked', '401 token_revoked'])
      t.equal(outcome(await tool.visitor.refresh(tool.handle)), '401 token_revoked')
      t.equal(await asked(bob), 'allow')
      t.equal(await asked(await program('alice')), 'allow')
      const [made] = await revocations()
      const reason = type.split('/').at(-1)
      t.match(made, { subject: { user: 'alice' }, what: 'existing', reason, state: 'closed' })
      const { issuer } = transmitter
      t.match((await world.gateway.admin('GET', '/v1/audit?action=revocation.create&limit=1')).json.data, [
        { actor: { kind: 'provider', id: issuer, name: new URL(issuer).host }, target: { id: made.id } },
      ])
      t.match(world.events('shared_signal').at(-1), { tenant: 'acme', name: reason, revocations: [made.id] })
    }
  },
)

t.test('subjects: email of two users, opaque, and in the event', async (t) => {
  for (const user of ['alice', 'bob']) world.user(user, { email: 'team@acme.example' })
  const both = [await program('alice'), await program('bob')]
  t.equal(await push(EVENTS.sessionRevoked, { format: 'email', email: 'TEAM@acme.example' }), '202')
  for (const each of both) t.equal(await asked(each), '401 token_revoked')
  for (const user of ['alice', 'bob']) world.user(user)
  const [alice, bob] = [await program('alice'), await program('bob')]
  t.equal(await push(EVENTS.sessionRevoked, { format: 'opaque', id: 'alice' }), '202')
  t.equal(await asked(alice), '401 token_revoked')
  const inner = { sub_id: undefined, events: { [EVENTS.sessionRevoked]: { subject: issSub('bob') } } }
  t.equal(await push(EVENTS.sessionRevoked, null, inner), '202')
  t.equal(await asked(bob), '401 token_revoked')
  const again = await program('bob')
  const { format, iss, sub } = issSub('bob')
  const same = { events: { [EVENTS.sessionRevoked]: { subject: { sub, iss, format } } } }
  t.equal(await push(EVENTS.sessionRevoked, issSub('bob'), same), '202', 'the same subject twice')
  t.equal(await asked(again), '401 token_revoked')
  const live = await program('bob')
  t.equal(await push(EVENTS.sessionRevoked, issSub('alice'), same), '400 invalid_request', 'two subjects')
  t.equal(await asked(live), 'allow')
})

t.test('a session, by our id: that one alone, and of that user alone', async (t) => {
  const [one, other] = [await program('alice'), await program('alice')]
  const [first] = sessions(world).slice(-2)
  const session = { format: 'opaque', id: first?.id }
  const of = (user: string) => ({ format: 'complex', user: issSub(user), session })
  t.equal(await push(EVENTS.sessionRevoked, of('bob')), '202', "not bob's")
  t.equal(await asked(one), 'allow')
  t.equal(await push(EVENTS.sessionRevoked, of('alice')), '202')
  t.same([await asked(one), await asked(other)], ['401 token_revoked', 'allow'])
  t.match((await revocations())[0], { subject: { session: first?.id }, state: 'closed' })
  const unknown = { format: 'complex', session: { format: 'opaque', id: 'A'.repeat(22) } }
  t.equal(await push(EVENTS.sessionRevoked, unknown), '202')
  t.match(world.events('shared_signal_ignored').at(-1), { reason: 'unknown subject' })
})

t.test('a user on a device is the user on all of them, and a device alone is no subject', async (t) => {
  const [one, other, bob] = [await program('alice'), await browser('alice'), await program('bob')]
  const device = { format: 'opaque', id: 'phone-1' }
  const ofUser = { format: 'complex', user: issSub('alice'), device, tenant: { format: 'opaque', id: 'x' } }
  t.equal(await push(EVENTS.sessionRevoked, { format: 'complex', device }), '400 invalid_request')
  t.equal(await asked(one), 'allow')
  t.equal(await push(EVENTS.sessionRevoked, ofUser), '202')
  t.same([await asked(one), await asked({ visitor: other })], ['401 token_revoked', '401 token_revoked'])
  t.equal(await asked(bob), 'allow')
})

t.test('token-claims-change: tokens are void, a cookie session and a refresh map again', async (t) => {
  await seat(world, 'Viewer', ['main'])
  world.user('alice', { memberOf: ['Viewer'] })
  const [tool, page] = [await program('alice'), await browser('alice')]
  const { json: key } = await world.gateway.admin('POST', '/v1/api-keys', {
    name: 'ci',
    seats: [],
    owner: 'alice',
  })
  const lists = (visitor: Visitor, token?: string) =>
    visitor.ask('/v1/trainings', { space: 'main', ...(token === undefined ? {} : { token }) })
  t.same([outcome(await lists(page)), outcome(await lists(tool.visitor, tool.token))], ['allow', 'allow'])
  world.user('alice', { memberOf: [] })
  t.equal(outcome(await lists(page)), 'allow', 'the provider has said nothing yet')
  const asks = () => world.acme.count('/token')
  const before = asks()
  t.equal(await push(EVENTS.claimsChange, issSub('alice')), '202')
  t.equal(outcome(await lists(tool.visitor, tool.token)), '401 token_revoked')
  t.equal(asks(), before)
  t.equal(outcome(await lists(page)), '403 no_seat_in_space')
  t.equal(asks(), before + 1, 'mapped again before its next answer')
  t.equal(await asked({ visitor: page }), 'allow', 'the session stays')
  t.equal(asks(), before + 1)
  const refreshed = await tool.visitor.refresh(tool.handle)
  t.equal(refreshed.status, 200)
  t.same(refreshed.json.user.seats, [])
  t.equal(
    await asked({ ...tool, token: String(refreshed.json.access_token) }),
    'allow',
    'within the same second too',
  )
  t.equal(await asked(tool), '401 token_revoked', 'the old token stays void')
  t.notOk('revoked_at' in (await world.gateway.admin('GET', `/v1/api-keys/${key.id}`)).json)
  t.match((await revocations())[0], { what: 'tokens', state: 'closed', ended: { sessions: 0, api_keys: 0 } })
})

/** Holds the next answer of the provider's token endpoint, which it has computed, until the result is called. */
function heldAnswer(t: Test) {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  world.acme.instead = ({ url = '' }, response) => {
    if (!url.startsWith('/token')) return false
    world.acme.instead = null
    const end = response.end.bind(response) as (...parts: unknown[]) => typeof response
    response.end = (...parts: unknown[]) => {
      ask()
      void released.then(() => end(...parts))
      return response
    }
    return false
  }
  t.teardown(() => {
    world.acme.instead = null
    release()
  })
  return { asked, release }
}

t.test('token-claims-change while the provider is asked: what it said before does not count', async (t) => {
  world.user('alice', { memberOf: ['Viewer'] })
  const [tool, page] = [await program('alice'), await browser('alice')]
  const lists = () => page.ask('/v1/trainings', { space: 'main' })
  t.equal(await push(EVENTS.claimsChange, issSub('alice')), '202')
  const forCookie = heldAnswer(t)
  const request = lists()
  await forCookie.asked
  world.user('alice', { memberOf: [] })
  t.equal(await push(EVENTS.claimsChange, issSub('alice')), '202')
  forCookie.release()
  t.equal(outcome(await request), '403 no_seat_in_space')

  world.user('alice', { memberOf: ['Viewer'] })
  const forHandle = heldAnswer(t)
  const refresh = tool.visitor.refresh(tool.handle)
  await forHandle.asked
  world.user('alice', { memberOf: [] })
  t.equal(await push(EVENTS.claimsChange, issSub('alice')), '202')
  forHandle.release()
  t.equal(outcome(await refresh), '503 unavailable')
  const { status, json } = await tool.visitor.refresh(tool.handle)
  t.same([status, json.user?.seats], [200, []], 'the refresh token may be used again')
})

t.test('token-claims-change: a sign-in from before does not complete', async (t) => {
  const visitor = world.visitor('alice')
  const callback = await visitor.answer()
  t.equal(await push(EVENTS.claimsChange, issSub('alice')), '202')
  t.equal(outcome(await visitor.send(callback.href)), '401 token_invalid')
})

t.test('account-disabled blocks, account-enabled lifts that block and no other', async (t) => {
  for (const type of [EVENTS.disabled, EVENTS.purged]) {
    const tool = await program('alice')
    t.equal(await push(type, issSub('alice')), '202')
    t.equal(await asked(tool), '401 token_revoked')
    t.match(await blocks(), [{ user: 'alice', origin: 'events', created_by: transmitter.issuer }])
    t.equal(outcome(await world.visitor('alice').signIn()), '403 caller_blocked')
    await world.gateway.admin('POST', '/v1/blocks', { user: 'alice' })
    t.equal(await push(EVENTS.enabled, issSub('alice')), '202')
    t.match(await blocks(), [{ user: 'alice', origin: 'admin' }])
    t.equal(outcome(await world.visitor('alice').signIn()), '403 caller_blocked')
    t.equal(await push(EVENTS.enabled, issSub('alice')), '202', 'nothing is left to lift')
    const [{ id }] = await blocks()
    await world.gateway.admin('DELETE', `/v1/blocks/${id}`)
    t.equal(await asked(await program('alice')), 'allow')
    t.equal(await asked(tool), '401 token_revoked', 'what ended stays ended')
  }
})

t.test(
  'account-disabled by iss_sub or opaque blocks whom nobody knows yet, and by email nobody',
  async (t) => {
    t.equal(await push(EVENTS.disabled, issSub('zoe')), '202')
    t.equal(await push(EVENTS.disabled, { format: 'opaque', id: 'yan' }), '202')
    t.equal(await push(EVENTS.disabled, { format: 'email', email: 'new@acme.example' }), '202')
    t.match(world.events('shared_signal_ignored').at(-1), { reason: 'unknown subject' })
    t.same(
      (await blocks()).map(({ user }: { user: string }) => user),
      ['zoe', 'yan'],
    )
    world.user('zoe')
    t.equal(outcome(await world.visitor('zoe').signIn()), '403 caller_blocked')
    for (const sub of ['zoe', 'yan']) t.equal(await push(EVENTS.enabled, issSub(sub)), '202')
    t.same(await blocks(), [])
  },
)

t.test(
  'an event about a user who was unknown does not lift a later block when it is sent again',
  async (t) => {
    const email = 'zoe@acme.example'
    world.user('zoe', { email })
    const subject = { format: 'email', email }
    const more = { jti: 'enabled-too-early', iat: Math.floor(Date.now() / 1000) }
    t.equal(await push(EVENTS.enabled, subject, more), '202')
    await program('zoe')
    t.equal(await push(EVENTS.disabled, subject), '202')
    t.equal(await push(EVENTS.enabled, subject, more), '202')
    t.match(await blocks(), [{ user: 'zoe', origin: 'events' }])
    t.equal(await push(EVENTS.enabled, subject), '202')
    t.same(await blocks(), [])
  },
)

t.test('unknown users and events are 202 and a line of the log; the stream is answered', async (t) => {
  const before = (await revocations()).length
  t.equal(await push(EVENTS.sessionRevoked, issSub('nobody')), '202')
  t.equal(await push(EVENTS.sessionRevoked, issSub('alice', world.globex.issuer)), '202', 'of another issuer')
  t.equal(await push(EVENTS.disabled, issSub('alice', world.globex.issuer)), '202')
  const ignored = world.events('shared_signal_ignored')
  t.ok(ignored.slice(-3).every(({ reason }) => reason === 'unknown subject'))
  t.equal(
    await push('https://schemas.openid.net/secevent/caep/event-type/device-compliance-change', {
      format: 'did',
    }),
    '202',
  )
  t.match(world.events('shared_signal_ignored').at(-1), {
    reason: 'unknown event',
    name: 'device-compliance-change',
  })
  const verification = { events: { [EVENTS.verification]: { state: 'c3RhdGU' } } }
  t.equal(await push(EVENTS.verification, { format: 'opaque', id: 'stream' }, verification), '202')
  t.match(world.events('shared_signal_stream').at(-1), { name: 'verification' })
  t.equal((await revocations()).length, before)
  t.same(await blocks(), [])
})

t.test('events about an account that arrive in another order: the newest counts', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  world.user('carl')
  await program('carl')
  const ofCarl = (type: string, ago: number) => push(type, issSub('carl'), { iat: now - ago })
  const disabled = await transmitter.sign(
    transmitter.claims(EVENTS.disabled, issSub('carl'), { iat: now - 50 }),
  )
  t.equal(await ofCarl(EVENTS.enabled, 40), '202')
  const tool = await program('carl')
  t.equal(await send(disabled), '202')
  t.same(await blocks(), [], 'a user who is enabled since is not blocked')
  t.equal(await asked(tool), '401 token_revoked', 'what was issued ends')
  t.equal(await asked(await program('carl')), 'allow')
  t.equal(await ofCarl(EVENTS.purged, 30), '202')
  t.equal(await ofCarl(EVENTS.enabled, 35), '202')
  t.match(await blocks(), [{ user: 'carl', origin: 'events' }], 'a user who is disabled since stays blocked')
  t.equal(await ofCarl(EVENTS.enabled, 20), '202')
  t.same(await blocks(), [])
})

t.test('the same event again is 202 and nothing', async (t) => {
  await program('alice')
  const token = await transmitter.sign(transmitter.claims(EVENTS.sessionRevoked, issSub('alice')))
  t.equal(await send(token), '202')
  const again = await program('alice')
  t.equal(await send(token), '202')
  t.equal(await asked(again), 'allow')
  t.match(world.events('shared_signal').at(-1), { used: true })
  const enabled = await transmitter.sign(transmitter.claims(EVENTS.enabled, issSub('alice')))
  t.equal(await push(EVENTS.disabled, issSub('alice')), '202')
  t.equal(await send(enabled), '202')
  t.equal(await push(EVENTS.disabled, issSub('alice')), '202')
  t.equal(await send(enabled), '202')
  t.equal((await blocks()).length, 1, 'a later block stays')
  t.equal(await push(EVENTS.enabled, issSub('alice')), '202')
})

t.test('without the store: 503 with Retry-After, and the repetition takes effect', async (t) => {
  const tool = await program('alice')
  const token = await transmitter.sign(transmitter.claims(EVENTS.sessionRevoked, issSub('alice')))
  const repair = breakTable(world, 'provider_logouts')
  const refused = await pushed(uri(), token)
  t.match(refused, { status: 503, headers: { 'retry-after': /^\d+$/ } })
  repair()
  t.equal(await send(token), '202')
  t.equal(await asked(tool), '401 token_revoked')
})

t.test('refusals of RFC 8935, which use nothing up', async (t) => {
  const tool = await program('alice')
  const used = () => stored(world, 'SELECT count(*) AS count FROM provider_logouts')
  const before = used()
  const now = Math.floor(Date.now() / 1000)
  const week = 7 * 24 * 3600
  const both = { [EVENTS.sessionRevoked]: {}, [EVENTS.credentialChange]: {} }
  const cases: [name: string, more: Record<string, unknown>, answer: string][] = [
    ['another issuer', { iss: world.acme.issuer }, '400 invalid_issuer'],
    ['another audience', { aud: 'https://other.example' }, '400 invalid_audience'],
    ['a slash more', { aud: `${transmitter.audience}/` }, '400 invalid_audience'],
    ['an audience that is no text', { aud: [transmitter.audience, 7] }, '400 invalid_audience'],
    ['the address of another tenant', { aud: uri('globex') }, '400 invalid_audience'],
    ['no audience', { aud: undefined }, '400 invalid_audience'],
    ['an exp in the past', { exp: now - 120 }, '400 invalid_request'],
    ['an exp that is no number', { exp: 'never' }, '400 invalid_request'],
    ['older than seven days', { iat: now - week - 120 }, '400 invalid_request'],
    ['from the future', { iat: now + 120 }, '400 invalid_request'],
    ['no iat', { iat: undefined }, '400 invalid_request'],
    ['no jti', { jti: undefined }, '400 invalid_request'],
    ['an empty jti', { jti: '' }, '400 invalid_request'],
    ['sub', { sub: 'alice' }, '400 invalid_request'],
    ['two events', { events: both }, '400 invalid_request'],
    ['no event', { events: {} }, '400 invalid_request'],
    ['an event that is no object', { events: { [EVENTS.sessionRevoked]: true } }, '400 invalid_request'],
    ['no subject', { sub_id: undefined }, '400 invalid_request'],
    ['a subject of another format', { sub_id: { format: 'did', url: 'did:a:b' } }, '400 invalid_request'],
    ['a subject without its member', { sub_id: { format: 'email' } }, '400 invalid_request'],
    ['a complex subject of a device', { sub_id: { format: 'complex', device: {} } }, '400 invalid_request'],
  ]
  for (const [name, more, answer] of cases)
    t.equal(await push(EVENTS.sessionRevoked, issSub('alice'), more), answer, name)
  const claims = (more = {}) => transmitter.claims(EVENTS.sessionRevoked, issSub('alice'), more)
  for (const typ of ['JWT', 'logout+jwt', undefined])
    t.equal(await send(await transmitter.sign(claims(), { typ })), '400 invalid_request', `typ ${typ}`)
  const other = await Transmitter.start(t)
  t.equal(await send(await other.sign(claims())), '400 invalid_key', 'of other keys')
  t.equal(
    await send(await world.acme.sign(claims(), { typ: 'secevent+jwt' })),
    '400 invalid_key',
    "the provider's",
  )
  const token = await transmitter.sign(claims())
  t.equal(await send(token, uri('globex')), '400 authentication_failed', 'not configured')
  t.equal(await send(token, uri('nobody')), '400 authentication_failed', 'no such tenant')
  t.equal(await send(token, uri(), { 'content-type': 'application/jwt' }), '400 invalid_request')
  t.equal(await send(token, uri(), { 'content-encoding': 'gzip' }), '400 invalid_request')
  t.equal(
    await send(await transmitter.sign(claims({ x: 'x'.repeat(256 * 1024) }))),
    '400 invalid_request',
    'too large',
  )
  t.equal(await asked(tool), 'allow')
  t.same(used(), before)
  t.equal(await send(await transmitter.sign(claims({ x: 'x'.repeat(180 * 1024) }))), '202', 'a large one')
  t.equal(await asked(tool), '401 token_revoked')
  t.equal(await push(EVENTS.sessionRevoked, issSub('alice'), { iat: now - week + 60, exp: now + 60 }), '202')
  t.equal(
    await push(EVENTS.sessionRevoked, issSub('alice'), { aud: ['https://a.example', transmitter.audience] }),
    '202',
  )
  const { headers } = await transmitter.push(uri(), EVENTS.sessionRevoked, null)
  t.match(headers, { 'content-type': /^application\/json/, 'cache-control': 'no-store' })
})

t.test('authorization is the whole value of the header', async (t) => {
  const authorization = 'Basic c2VhdGdhdGU6ZXZlbnRz'
  await world.configure({ acme: { events: { ...events, authorization } } })
  const tool = await program('alice')
  const token = await transmitter.sign(transmitter.claims(EVENTS.sessionRevoked, issSub('alice')))
  const wrong = [
    {},
    { authorization: 'Basic' },
    { authorization: `${authorization}=` },
    { authorization: authorization.toLowerCase() },
  ]
  for (const headers of wrong) t.equal(await send(token, uri(), headers), '400 authentication_failed')
  t.equal(await asked(tool), 'allow')
  t.equal(await send(token, uri(), { authorization }), '202')
  t.equal(await asked(tool), '401 token_revoked')
})

t.test(
  'keys: a new one is found by its name, jwks_uri takes the place of metadata, the provider signs by default',
  async (t) => {
    await world.configure({ acme: { events } })
    const moved = await Transmitter.start(t, '/realms/acme')
    const at = async (more: Partial<typeof events>, sender = moved) => {
      await world.configure({ acme: { events: { ...events, ...more } } })
      return told(await sender.push(uri(), EVENTS.sessionRevoked, issSub('nobody')))
    }
    t.equal(await at({ issuer: moved.issuer }), '202', 'an issuer with a path')
    t.equal(moved.requests.get('/.well-known/ssf-configuration/realms/acme'), 1)
    await moved.newKey('second')
    t.equal(told(await moved.push(uri(), EVENTS.sessionRevoked, issSub('nobody'))), '202', 'a new key')
    moved.metadata = { issuer: 'https://other.example' }
    t.equal(await at({ issuer: moved.issuer }), '503 unavailable', 'the metadata of another issuer')
    t.match(world.events('signal_keys_unavailable').at(-1), { reason: /differs from the configured issuer/ })
    t.equal(await at({ issuer: moved.issuer, jwksUri: moved.jwksUri }), '202', 'no metadata is asked')
    await world.configure({ acme: { events: { ...events, issuer: null } } })
    const { issuer } = world.acme
    const claims = transmitter.claims(EVENTS.sessionRevoked, issSub('nobody'), { iss: issuer })
    t.equal(await send(await world.acme.sign(claims, { typ: 'secevent+jwt' })), '202')
  },
)

t.test(
  "a session, by the provider's id: all that it has here, and none that is about to begin",
  async (t) => {
    const provider = await HostileProvider.start(t)
    await provider.takes(world, { acme: { events } })
    const signIn = async (sid: string) => {
      const { json } = await provider.signIn(world, { sid, sub: 'alice' })
      return { visitor: world.visitor('alice'), token: String(json.access_token) }
    }
    const [one, two, other] = [await signIn('one'), await signIn('one'), await signIn('other')]
    const subject = { format: 'complex', session: { format: 'opaque', id: 'one' } }
    t.equal(await push(EVENTS.sessionRevoked, subject), '202')
    t.same([await asked(one), await asked(two)], ['401 token_revoked', '401 token_revoked'])
    t.equal(await asked(other), 'allow')
    const late = await provider.signIn(world, { sid: 'one', sub: 'alice' })
    t.equal(outcome(late), '401 token_invalid', 'the session at the provider has ended')
  },
)
