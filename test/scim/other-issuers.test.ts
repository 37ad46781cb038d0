/** With `seats_from: scim`, tokens of other issuers give what their issuer is configured to give, whatever the groups say. */

import t from 'tap'
import { CLIENT, HostileProvider } from '../oidc/hostile-provider.ts'
import { startScim } from './support.ts'

const issuer = await HostileProvider.start(t)
const scim = await startScim(t, {
  globex: false,
  acme: [
    'seats_from: scim',
    `issuers: [{ issuer: "${issuer.issuer}", audience: ${CLIENT}, algorithms: [ES256], seats: [Viewer], allow_insecure: true }]`,
  ],
})
const { world } = scim
await world.seat('Viewer', ['main'], ['trainings:list'])
await world.seat('Editor', ['main'], ['trainings:create'])

async function ask(method: string): Promise<string> {
  const authorization = `Bearer ${await issuer.sign(issuer.claims({ sub: 'ci' }))}`
  const { status, json } = await world.client.send(method, '/v1/trainings', { authorization, space: 'main' })
  return status < 300 ? 'allow' : json.code
}

t.test('groups give nothing to, and take nothing from, a user of another issuer', async (t) => {
  t.equal(await ask('GET'), 'allow')
  t.equal(await ask('POST'), 'permission_denied')
  const user = await scim.user('ci', { externalId: `${issuer.issuer}|ci` })
  const plain = await scim.user('plain', { externalId: 'ci' })
  await scim.group('Editor', [user, plain])
  t.equal(await ask('POST'), 'permission_denied')
  await scim.group('Viewer', [user])
  t.equal((await scim.send('DELETE', `/Users/${plain}`)).status, 204)
  t.equal(await ask('GET'), 'allow')
})
