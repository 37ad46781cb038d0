/** Searches of subjects in a tenant whose users have the Seats of their SCIM groups. */

import t from 'tap'
import { BASE, GROUP, ORIGIN, TOKEN, USER } from '../../scim/support.ts'
import { onRoute, question, signIn, startPep } from './support.ts'

const oidc = `oidc: { issuer: https://login.example, client_id: c, redirect_uri: ${ORIGIN}/auth/oidc/callback }`
const acme = [oidc, 'scim: { token: "${TOKEN}" }', 'seats_from: scim']
const { world, ask, decide } = await startPep(t, { acme, env: { TOKEN } })
const viewer = await world.seat('Viewer', ['main'], ['trainings:list', 'trainings:read'])
await signIn(world, { ann: [viewer] })

async function provided(path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' }
  const { status, json } = await world.client.send('POST', BASE + path, headers, JSON.stringify(body))
  if (status !== 201) throw new Error(JSON.stringify(json))
  return json.id
}

const user = (name: string) => provided('/Users', { schemas: [USER], userName: name, externalId: name })

t.test('subjects are the active members of groups now', async (t) => {
  const found = async () => {
    const asked = {
      ...question('user:', 'GET', 'route:/v1/trainings/{id}', 'main'),
      subject: { type: 'user' },
    }
    const { json } = await ask('/access/v1/search/subject', asked)
    return json.results.map(({ id }: { id: string }) => id)
  }
  t.same(await found(), [], 'the sign-in gives nothing')
  const members = [await user('ben'), await user('cid')].map((value) => ({ value }))
  await provided('/Groups', { schemas: [GROUP], displayName: 'Viewer', members })
  t.same(await found(), ['ben', 'cid'])
  for (const [sub, answer] of [
    ['ann', 'false'],
    ['ben', 'true'],
  ] as const)
    t.match(
      await decide(onRoute(`user:${sub}`, 'GET', '/v1/trainings/{id}', 'main')),
      new RegExp(`^${answer} `),
    )
})
