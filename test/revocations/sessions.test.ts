/** Revocations of what people signed in with: cookies, tokens with a session, refresh handles, sign-ins. */

import t from 'tap'
import { startSignIn } from '../sign-in/world.ts'
import type { Visitor } from '../sign-in/visitor.ts'
import { entries, NONE, outcome, revoke } from './support.ts'

const world = await startSignIn(t)
const { gateway } = world
await gateway.seat('Viewer', ['main'], ['trainings:list'])
for (const name of ['alice', 'bob']) world.user(name, { memberOf: ['Viewer'] })
world.user('alice', { memberOf: [] }, world.globex)

interface SignedIn {
  readonly visitor: Visitor
  readonly token: string
  readonly handle: string
  readonly sub: string
}

/** A program: its token and its refresh handle belong to one session. */
async function program(name: string, tenant = 'acme'): Promise<SignedIn> {
  const visitor = world.visitor(name)
  const { json } = await visitor.signIn(tenant)
  return { visitor, token: json.access_token, handle: json.refresh_token, sub: json.user.sub }
}

/** A browser, with a session cookie. */
async function browser(name: string): Promise<Visitor> {
  const visitor = world.visitor(name)
  await visitor.page('/pages/a')
  return visitor
}

const asked = async (visitor: Visitor, token?: string) =>
  outcome(await visitor.ask('/v1/me', token === undefined ? {} : { token }))
const refreshed = async ({ visitor, handle }: SignedIn) => outcome(await visitor.refresh(handle))

t.test('a user: cookie, token and handle end; a new sign-in is accepted at once', async (t) => {
  const [tool, page, bob] = [await program('alice'), await browser('alice'), await program('bob')]
  const other = await program('alice', 'globex')
  t.equal(await asked(tool.visitor, tool.token), 'allow')
  t.equal(await asked(page), 'allow')
  const answer = await revoke(gateway, { user: tool.sub })
  t.match(answer, { state: 'closed', ended: { ...NONE, sessions: 2 } })
  // Within the same second: a session is judged by its birth, not by a time.
  const again = await program('alice')
  t.equal(await asked(again.visitor, again.token), 'allow')
  t.equal(await asked(tool.visitor, tool.token), '401 token_revoked')
  t.equal(await asked(page), '401 token_revoked')
  t.equal(await refreshed(tool), '401 token_revoked')
  t.equal(await asked(bob.visitor, bob.token), 'allow')
  t.equal(await refreshed(bob), 'allow')
  t.equal(await asked(other.visitor, other.token), 'allow', 'a user of the same name')
  t.equal(await refreshed(again), 'allow')
  const ended = (await entries(gateway)).slice(0, 3).toReversed()
  t.same(
    ended.map(({ action }) => action),
    ['session.end', 'session.end', 'revocation.create'],
  )
})

t.test('a session alone, by its id', async (t) => {
  const [one, other] = [await program('alice'), await program('alice')]
  const id = sidOf(one.token)
  t.not(id, sidOf(other.token))
  const answer = await revoke(gateway, { session: id })
  t.same([answer.subject, answer.ended], [{ session: id }, { ...NONE, sessions: 1 }])
  t.equal(await asked(one.visitor, one.token), '401 token_revoked')
  t.equal(await refreshed(one), '401 token_revoked')
  t.equal(await asked(other.visitor, other.token), 'allow')
  const again = await revoke(gateway, { session: id })
  t.same([again.state, again.ended], ['closed', NONE], 'it has ended already')
  const { status, json } = await gateway.admin('POST', '/v1/revocations', { subject: { session: 'x' } })
  t.same([status, json.code], [404, 'session_not_found'])
})

t.test('all: a sign-in is refused too', async (t) => {
  const tool = await program('bob')
  await revoke(gateway, { user: tool.sub }, { what: 'all' })
  t.equal(await asked(tool.visitor, tool.token), '401 token_revoked')
  t.equal(outcome(await world.visitor('bob').signIn()), '403 caller_blocked')
  const [block] = (await gateway.admin('GET', '/v1/blocks')).json.data
  await gateway.admin('DELETE', `/v1/blocks/${block.id}`)
  const again = await program('bob')
  t.equal(await asked(again.visitor, again.token), 'allow')
  t.equal(await refreshed(tool), '401 token_revoked')
})

t.test('the whole tenant', async (t) => {
  const [tool, page, other] = [await program('alice'), await browser('bob'), await program('alice', 'globex')]
  const live = (await gateway.admin('GET', '/v1/sessions?limit=100')).json.data.length
  const preview = await revoke(gateway, { tenant: true }, { dry_run: true })
  t.equal(preview.ended.sessions, live)
  t.equal(await asked(tool.visitor, tool.token), 'allow')
  const answer = await revoke(gateway, { tenant: true })
  t.same([answer.state, answer.ended], ['closed', { ...NONE, sessions: live }])
  t.equal(await asked(tool.visitor, tool.token), '401 token_revoked')
  t.equal(await asked(page), '401 token_revoked')
  t.equal(await refreshed(tool), '401 token_revoked')
  t.equal(await asked(other.visitor, other.token), 'allow')
  const again = await program('alice')
  t.equal(await asked(again.visitor, again.token), 'allow')
})

function sidOf(token: string): string {
  const [, payload = ''] = token.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()).sid
}
