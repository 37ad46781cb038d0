/**
 * A user whom the provider deactivates: after the answer, no cookie, token, refresh token or owned API key of
 * theirs is accepted, and no sign-in. What ended stays ended when they are active again.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { entries, outcome } from '../revocations/support.ts'
import type { Visitor } from '../sign-in/visitor.ts'
import { startSignIn } from '../sign-in/world.ts'
import { ScimWorld, TOKEN } from './support.ts'

const signIn = await startSignIn(t)
const { gateway } = signIn
signIn.secrets.add(TOKEN)
const { file } = gateway.config
writeFileSync(
  file,
  readFileSync(file, 'utf8').replace(/^( {2}acme: .*) \}$/m, '$1, scim: { token: "${TOKEN}" } }'),
)
await gateway.reload({ TOKEN })
const scim = new ScimWorld(gateway)
await gateway.seat('Viewer', ['main'], ['trainings:list'])

interface SignedIn {
  readonly id: string
  readonly sub: string
  readonly page: Visitor
  readonly tool: { readonly visitor: Visitor; readonly token: string; readonly handle: string }
  readonly key: string
}

/** A user of SCIM who is signed in with a browser and a program, and owns an API key. */
async function signedIn(name: string): Promise<SignedIn> {
  signIn.user(name, { memberOf: ['Viewer'] })
  const page = signIn.visitor(name)
  await page.page('/pages/a')
  const visitor = signIn.visitor(name)
  const { json } = await visitor.signIn()
  const sub: string = json.user.sub
  const created = await gateway.admin('POST', '/v1/api-keys', { name, seats: ['Viewer'], owner: sub })
  const id = await scim.user(`${name}@acme.example`, { externalId: sub })
  const tool = { visitor, token: json.access_token, handle: json.refresh_token }
  return { id, sub, page, tool, key: created.json.key }
}

/** What each credential is worth. The refresh token comes last, as it is used up. */
async function worth({ page, tool, key }: SignedIn): Promise<readonly string[]> {
  return [
    outcome(await page.ask('/v1/me')),
    outcome(await tool.visitor.ask('/v1/me', { token: tool.token })),
    outcome(await gateway.client.send('GET', '/v1/me', { 'x-api-key': key })),
    outcome(await tool.visitor.refresh(tool.handle)),
  ]
}

const ENDED = ['401 token_revoked', '401 token_revoked', '401 api_key_revoked', '401 token_revoked']
const ALL = ['allow', 'allow', 'allow', 'allow']

t.test('each form of a deactivation ends all that the user has', async (t) => {
  const bystander = await signedIn('bystander')
  const forms: readonly ((user: SignedIn, name: string) => Promise<{ readonly status: number }>)[] = [
    ({ id }) => scim.patch(`/Users/${id}`, { op: 'replace', value: { active: false } }),
    ({ id }) => scim.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' }),
    ({ id, sub }, name) =>
      scim.send('PUT', `/Users/${id}`, { userName: `${name}@acme.example`, externalId: sub, active: false }),
  ]
  for (const [at, deactivate] of forms.entries()) {
    const name = `leaver${at}`
    const user = await signedIn(name)
    t.equal((await deactivate(user, name)).status, 200)
    t.same(await worth(user), ENDED)
    t.equal(outcome(await signIn.visitor(name).signIn()), '403 caller_blocked')
    const blocks: readonly { readonly user: string }[] = (await gateway.admin('GET', '/v1/blocks')).json.data
    t.match(
      blocks.find((each) => each.user === user.sub),
      { origin: 'scim' },
    )
  }
  t.same(await worth(bystander), ALL)
})

t.test('active again: what ended stays ended, and a new sign-in is accepted', async (t) => {
  const user = await signedIn('back')
  await scim.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false })
  t.equal((await scim.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: true })).status, 200)
  t.same(await worth(user), ENDED)
  t.equal(outcome(await signIn.visitor('back').signIn()), 'allow')
})

t.test('a repeated deactivation is answered, and makes no second revocation', async (t) => {
  const user = await signedIn('again')
  const deactivate = () => scim.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false })
  t.equal((await deactivate()).status, 200)
  const revocations = async () =>
    (await gateway.admin('GET', `/v1/revocations?subject=${encodeURIComponent(`user:${user.sub}`)}`)).json
      .data
  t.match(await revocations(), [{ state: 'closed', what: 'all' }])
  t.equal((await deactivate()).status, 200)
  t.equal((await revocations()).length, 1)
  const mine = (await entries(gateway)).filter(({ target }) => target.name?.includes('again') === true)
  t.match(mine[0], { actor: { kind: 'provider', id: 'scim' } })
})

t.test('a deleted user loses the same, and may come back', async (t) => {
  const user = await signedIn('gone')
  const group = await scim.group('Gone', [user.id])
  t.equal((await scim.send('DELETE', `/Users/${user.id}`)).status, 204)
  t.same(await worth(user), ENDED)
  t.same(await scim.members(group), [])
  t.equal(outcome(await signIn.visitor('gone').signIn()), 'allow', 'no block stays')
  t.not(await scim.user('gone@acme.example', { externalId: user.sub }), user.id)
})

t.test('a sign-in from before a deletion, or a deactivation that is lifted, does not complete', async (t) => {
  for (const [name, end] of Object.entries({
    deleted: ({ id }: SignedIn) => scim.send('DELETE', `/Users/${id}`),
    lifted: async ({ id }: SignedIn) => {
      await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
      return scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })
    },
    renamed: ({ id }: SignedIn) =>
      scim.patch(`/Users/${id}`, { op: 'replace', path: 'externalId', value: 'another' }),
  })) {
    const user = await signedIn(name)
    const visitor = signIn.visitor(name)
    const callback = await visitor.answer()
    t.ok((await end(user)).status < 300, name)
    t.equal(outcome(await visitor.send(callback.href)), '401 token_invalid', name)
    t.equal(outcome(await signIn.visitor(name).signIn()), 'allow', `${name}: a sign-in from after it`)
  }
})

t.test('another user of the same name in another tenant keeps all', async (t) => {
  signIn.user('alice', {}, signIn.globex)
  const visitor = signIn.visitor('alice')
  const { json } = await visitor.signIn('globex')
  const id = await scim.user('alice@acme.example', { externalId: json.user.sub })
  t.equal((await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })).status, 200)
  t.equal(outcome(await visitor.ask('/v1/me', { token: json.access_token })), 'allow')
})
