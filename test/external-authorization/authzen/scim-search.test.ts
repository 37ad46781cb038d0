/** Searches of subjects in a tenant whose users have the Seats of their SCIM groups. */

import t, { type Test } from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { BASE, GROUP, ORIGIN, TOKEN, USER } from '../../scim/support.ts'
import { onRoute, question, signIn, startPep } from './support.ts'

const oidc = `oidc: { issuer: https://login.example, client_id: c, redirect_uri: ${ORIGIN}/auth/oidc/callback }`

async function startProvided(t: Test, user: string) {
  const acme = [oidc, `scim: { token: "\${TOKEN}", user: ${user} }`, 'seats_from: scim']
  const pep = await startPep(t, { acme, env: { TOKEN } })
  const { world } = pep
  const viewer = await world.seat('Viewer', ['main'], ['trainings:list', 'trainings:read'])
  await signIn(world, { ann: [viewer] })
  const provided = async (path: string, body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' }
    const { status, json } = await world.client.send('POST', BASE + path, headers, JSON.stringify(body))
    if (status !== 201) throw new Error(JSON.stringify(json))
    return json.id
  }
  const userOf = (name: string) => provided('/Users', { schemas: [USER], userName: name, externalId: name })
  const found = async () => {
    const asked = {
      ...question('user:', 'GET', 'route:/v1/trainings/{id}', 'main'),
      subject: { type: 'user' },
    }
    const { json } = await pep.ask('/access/v1/search/subject', asked)
    return json.results.map(({ id }: { id: string }) => id)
  }
  const decide = (sub: string) => pep.decide(onRoute(`user:${sub}`, 'GET', '/v1/trainings/{id}', 'main'))
  return { world, provided, userOf, found, decide }
}

t.test('subjects are the active members of groups now', async (t) => {
  const { provided, userOf, found, decide } = await startProvided(t, 'externalId')
  t.same(await found(), [], 'the sign-in gives nothing')
  const members = [await userOf('ben'), await userOf('cid')].map((value) => ({ value }))
  await provided('/Groups', { schemas: [GROUP], displayName: 'Viewer', members })
  t.same(await found(), ['ben', 'cid'])
  t.match(await decide('ann'), /^false /)
  t.match(await decide('ben'), /^true /)
})

t.test('where a claim says who a user is, by the key that the sign-in has recorded', async (t) => {
  const { world, provided, userOf, found, decide } = await startProvided(t, '{ claim: oid }')
  const store = await openStore(world.config.store)
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  const actor = { kind: 'provider', name: null } as const
  await store.recordScimMember(
    { tenant: 'acme', by: 'scim', actor, scope, now: Date.now() },
    'ann',
    'key of ann',
  )
  await store.close()
  await provided('/Groups', {
    schemas: [GROUP],
    displayName: 'Viewer',
    members: [{ value: await userOf('key of ann') }],
  })
  t.same(await found(), ['ann'])
  t.match(await decide('ann'), /^true /)
  const explained = await world.admin('POST', '/v1/access/explain', {
    ...{ method: 'GET', path: '/v1/trainings/1', space: 'main', user: 'ann' },
  })
  t.match(explained.json, { answer: 'allow' })
  t.notMatch(explained.json.reason, 'is not known')
})
