/**
 * Users who sign in to a tenant with `seats_from: scim`: cookies, tokens, refreshed tokens and tokens of the provider
 * have the Seats of the groups now. A claim of the provider may say who a user is in SCIM.
 */

import t, { type Test } from 'tap'
import { outcome } from '../revocations/support.ts'
import { idTokenOf } from '../sign-in/id-token.ts'
import { startSignIn } from '../sign-in/world.ts'
import { giveScim, ScimWorld } from './support.ts'

/** A claim that the provider sends. */
const CLAIM = 'https://acme.example/roles'

/** @param user the setting `scim.user` */
async function start(t: Test, user: string) {
  const signIn = await startSignIn(t, { acme: { acceptProviderTokens: true } })
  const { gateway } = signIn
  await giveScim(signIn, `seats_from: scim, scim: { token: "\${TOKEN}", user: ${user} }`)
  await gateway.seat('Viewer', ['main'], ['trainings:list'])
  return { signIn, gateway, scim: new ScimWorld(gateway) }
}

/** The payload of a token. */
function payloadOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

t.test('by the sub: every credential has the groups of now, and the claim counts for nothing', async (t) => {
  const { signIn, gateway, scim } = await start(t, 'externalId')
  signIn.user('alice', { memberOf: ['Viewer'] })
  const page = signIn.visitor('alice')
  await page.page('/pages/a')
  const tool = signIn.visitor('alice')
  const { json } = await tool.signIn()
  t.strictSame(json.user.seats, [], 'SCIM does not know the user yet')
  const { sub } = json.user
  const idToken = await idTokenOf(signIn.visitor('alice'), signIn.acme)
  let token: string = json.access_token
  const LIST = '/v1/trainings'
  const all = async () => [
    outcome(await page.ask(LIST, { space: 'main' })),
    outcome(await tool.ask(LIST, { token, space: 'main' })),
    outcome(await tool.ask(LIST, { token: idToken, space: 'main' })),
  ]
  const NONE = Array.from({ length: 3 }, () => '403 no_seat_in_space')
  t.same(await all(), NONE)
  const group = await scim.group('Viewer', [await scim.user('alice@acme.example', { externalId: sub })])
  t.same(await all(), ['allow', 'allow', 'allow'])
  const refreshed = await tool.refresh(json.refresh_token)
  t.equal(refreshed.status, 200, refreshed.body)
  t.strictSame(refreshed.json.user.seats, ['Viewer'])
  token = refreshed.json.access_token
  t.match(payloadOf(token), { hash_perm: ['main:Viewer'], scim_key: undefined })
  t.equal((await scim.send('DELETE', `/Groups/${group}`)).status, 204)
  t.same(await all(), NONE)
  t.same(signIn.events('seats_unknown'), [], 'groups that are no Seats are not logged')
  t.equal(gateway.log().filter(({ event }) => event === 'seats_claim_missing').length, 0)
})

t.test('by a claim: a sign-in records the key, and a token carries it', async (t) => {
  const { signIn, gateway, scim } = await start(t, `{ claim: "${CLAIM}" }`)
  signIn.user('bob', { [CLAIM]: 'employee-1' })
  const group = await scim.group('Viewer', [
    await scim.user('bob@acme.example', { externalId: 'employee-1' }),
  ])
  const page = signIn.visitor('bob')
  await page.page('/pages/a')
  const tool = signIn.visitor('bob')
  const { json } = await tool.signIn()
  t.strictSame(json.user.seats, ['Viewer'])
  t.match(payloadOf(json.access_token), { scim_key: 'employee-1' })
  const ask = (more: object) => tool.ask('/v1/trainings', { space: 'main', ...more })
  t.equal(outcome(await page.ask('/v1/trainings', { space: 'main' })), 'allow')
  t.equal(outcome(await ask({ token: json.access_token })), 'allow')
  const idToken = await idTokenOf(signIn.visitor('bob'), signIn.acme)
  t.equal(outcome(await ask({ token: idToken })), 'allow', 'a token of the provider')
  const minted = await gateway.token(['main:Viewer'], { sub: 'employee-1' })
  t.equal(outcome(await ask({ token: minted })), '403 no_seat_in_space', 'a token without the key')
  const refreshed = await tool.refresh(json.refresh_token)
  t.match(payloadOf(refreshed.json.access_token), { scim_key: 'employee-1', hash_perm: ['main:Viewer'] })
  t.equal((await scim.send('DELETE', `/Groups/${group}`)).status, 204)
  t.equal(outcome(await page.ask('/v1/trainings', { space: 'main' })), '403 no_seat_in_space')
  t.equal(outcome(await ask({ token: refreshed.json.access_token })), '403 no_seat_in_space')
})

t.test('by a claim: a user who is deactivated, before and after the first sign-in', async (t) => {
  const { signIn, scim } = await start(t, `{ claim: "${CLAIM}" }`)
  signIn.user('carol', { [CLAIM]: 'employee-2' })
  const id = await scim.user('carol@acme.example', { externalId: 'employee-2', active: false })
  const idToken = await idTokenOf(signIn.visitor('carol'), signIn.acme)
  const tool = signIn.visitor('carol')
  for (const path of ['/v1/me', '/v1/trainings'])
    t.equal(outcome(await tool.ask(path, { token: idToken, space: 'main' })), '403 caller_blocked', path)
  t.equal(outcome(await tool.signIn()), '403 caller_blocked')
  const active = (value: boolean) => scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value })
  t.equal((await active(true)).status, 200)
  const { json } = await signIn.visitor('carol').signIn()
  t.equal(outcome(await tool.ask('/v1/me', { token: json.access_token })), 'allow')
  t.equal((await active(false)).status, 200)
  t.equal(outcome(await tool.ask('/v1/me', { token: json.access_token })), '401 token_revoked')
})

t.test('by a claim: a user of whom the provider does not say who it is in SCIM', async (t) => {
  const { signIn } = await start(t, `{ claim: "${CLAIM}" }`)
  signIn.user('dan')
  t.equal(outcome(await signIn.visitor('dan').signIn()), '401 token_invalid')
  t.match(signIn.events('sign_in_failed'), [{ reason: /who the user is in SCIM/ }])
})
