/**
 * Requests of an identity provider at three gateways on one PostgreSQL: from the answer on, none of them accepts what
 * they void, each token takes effect once, and a frozen gateway makes the provider repeat.
 */

import { randomUUID } from 'node:crypto'
import t from 'tap'
import { outcome } from '../revocations/support.ts'
import { startProcesses } from '../sign-in/processes.ts'
import type { Visitor } from '../sign-in/visitor.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { EVENTS, pushed, Transmitter } from '../support/transmitter.ts'
import { until } from '../support/until.ts'

const NAMES = ['a', 'b', 'c']
const ALL = NAMES.map((_, at) => at)
const all = (what: string) => ALL.map(() => what)

const postgres = await startPostgres(t, { fsync: false })
const transmitter = await Transmitter.start(t)
const { audience, issuer } = transmitter
const events = { audience, issuer, jwksUri: null, authorization: null }
const store = await postgres.createDatabase('signals')
const fleet = await startProcesses(t, {
  names: NAMES,
  store,
  redis: null,
  acme: { revocation: true, events },
})
const origin = `http://127.0.0.1:${fleet.at(0).port}`
const GTR = '/auth/oidc/global-token-revocation/acme'
for (const user of ['alice', 'bob']) fleet.user(user, { memberOf: ['Viewer'] })

/** Signed in at the first gateway. */
async function signedIn(user: string) {
  const visitor = fleet.visitor(user)
  const page = await visitor.page('/pages/a')
  if (page.status !== 200) throw new Error(`${page.status} ${page.body}`)
  const { json } = await fleet.visitor(user).signIn()
  return { visitor, token: String(json.access_token) }
}

/** The first decision of each gateway about the cookie and the token. */
const asked = async ({ visitor, token }: { visitor: Visitor; token: string }, user = 'alice') => {
  const through = (at: number) => fleet.visitor(user, at).withCookiesOf(visitor)
  return Promise.all([
    ...ALL.map(async (at) => outcome(await through(at).ask('/v1/me'))),
    ...ALL.map(async (at) => outcome(await fleet.visitor(user, at).ask('/v1/me', { token }))),
  ])
}

const subjectOf = (sub: string) => ({ format: 'iss_sub', iss: fleet.acme.issuer, sub })

/** The request of the provider. */
async function requestOf(user: string) {
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: fleet.acme.issuer,
    aud: `${origin}${GTR}`,
    jti: randomUUID(),
    iat: now,
    exp: now + 300,
  }
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${await fleet.acme.sign(claims)}`,
  }
  const body = JSON.stringify({ sub_id: subjectOf(user) })
  return async (at: number) => {
    const page = await fleet.visitor(user, at).send(`http://127.0.0.1:${fleet.at(at).port}${GTR}`, {
      ...{ method: 'POST', headers, body },
    })
    return page.status === 204 ? '204' : `${page.status} ${page.json.code}`
  }
}

const eventOf = async (type: string, user: string) => {
  const token = await transmitter.sign(transmitter.claims(type, subjectOf(user)))
  return async (at: number) =>
    (await pushed(`http://127.0.0.1:${fleet.at(at).port}/auth/ssf/acme`, token)).status
}

const revocations = async () => (await fleet.admin('GET', '/v1/revocations?limit=100')).json.data

t.test('Global Token Revocation', async (t) => {
  const [alice, bob] = [await signedIn('alice'), await signedIn('bob')]
  t.same(await asked(alice), [...all('allow'), ...all('allow')])
  t.equal(await (await requestOf('alice'))(1), '204')
  t.same(await asked(alice), [...all('401 token_revoked'), ...all('401 token_revoked')])
  t.same(await asked(bob, 'bob'), [...all('allow'), ...all('allow')])
  t.same(await asked(await signedIn('alice')), [...all('allow'), ...all('allow')], 'a new sign-in')
  t.match((await revocations())[0], { state: 'closed', instances: [{}, {}, {}] })
})

t.test('events: a block and its end', async (t) => {
  const alice = await signedIn('alice')
  t.equal(await (await eventOf(EVENTS.disabled, 'alice'))(2), 202)
  t.same(await asked(alice), [...all('401 token_revoked'), ...all('401 token_revoked')])
  t.equal(outcome(await fleet.visitor('alice').signIn()), '403 caller_blocked')
  t.equal(await (await eventOf(EVENTS.enabled, 'alice'))(1), 202)
  t.same(await asked(await signedIn('alice')), [...all('allow'), ...all('allow')])
})

t.test('events: changed claims are mapped again at whichever gateway is asked', async (t) => {
  const alice = await signedIn('alice')
  const lists = async () => {
    const through = (at: number) => fleet.visitor('alice', at).withCookiesOf(alice.visitor)
    return Promise.all(
      ALL.map(async (at) => outcome(await through(at).ask('/v1/trainings', { space: 'main' }))),
    )
  }
  t.same(await lists(), all('allow'))
  fleet.user('alice', { memberOf: [] })
  t.equal(await (await eventOf(EVENTS.claimsChange, 'alice'))(0), 202)
  t.same((await asked(alice)).slice(ALL.length), all('401 token_revoked'))
  t.same(await lists(), all('403 no_seat_in_space'))
  fleet.user('alice', { memberOf: ['Viewer'] })
})

t.test('the same token at all gateways at once takes effect once', async (t) => {
  const before = (await revocations()).length
  const send = await requestOf('alice')
  const answers = await Promise.all([0, 1, 2, 0, 1, 2].map(send))
  t.equal(answers.filter((each) => each === '204').length, 1, answers.join())
  t.ok(
    answers.every((each) => /^(?:204|401 token_invalid|503 unavailable)$/.test(each)),
    answers.join(),
  )
  t.equal((await revocations()).length, before + 1)
  const push = await eventOf(EVENTS.sessionRevoked, 'alice')
  const pushes = await Promise.all([0, 1, 2, 0, 1, 2].map(push))
  t.ok(pushes.includes(202) && pushes.every((each) => each === 202 || each === 503), pushes.join())
  t.equal((await revocations()).length, before + 2)
  await until(async () => (await push(2)) === 202, 'the repetition is accepted')
  t.equal((await revocations()).length, before + 2)
})

t.test(
  'a frozen gateway: 503 although the change is made, and the repetition of the token is closed',
  async (t) => {
    const alice = await signedIn('alice')
    const before = (await revocations()).length
    const send = await requestOf('alice')
    await fleet.at(2).freeze()
    t.equal(await send(0), '503 unavailable')
    const [made] = await revocations()
    t.match(made, { state: 'partial' })
    const live = [0, 1].map(async (at) => outcome(await fleet.visitor('alice', at).ask('/v1/me', alice)))
    t.same(await Promise.all(live), ['401 token_revoked', '401 token_revoked'])
    fleet.at(2).thaw()
    t.equal(outcome(await fleet.visitor('alice', 2).ask('/v1/me', alice)), '401 token_revoked')
    await until(async () => (await send(1)) === '204', 'the repetition is closed')
    t.match((await revocations())[0], { state: 'closed' })
    t.ok((await revocations()).length >= before + 2)
    t.same(await asked(await signedIn('alice')), [...all('allow'), ...all('allow')])
  },
)
