/** A provider names a user by the id that SCIM gave the user: an opaque subject of a revocation and of an event. */

import { randomUUID } from 'node:crypto'
import t from 'tap'
import { outcome } from '../revocations/support.ts'
import { startSignIn } from '../sign-in/world.ts'
import { EVENTS, Transmitter } from '../support/transmitter.ts'
import { giveScim, ScimWorld } from './support.ts'

const transmitter = await Transmitter.start(t)
const { audience, issuer } = transmitter
const world = await startSignIn(t, {
  acme: { revocation: true, events: { audience, issuer, jwksUri: null, authorization: null } },
})
await giveScim(world, 'scim: { token: "${TOKEN}" }')
const scim = new ScimWorld(world.gateway)

async function program(user: string) {
  world.user(user)
  const visitor = world.visitor(user)
  const { json } = await visitor.signIn()
  return async () => outcome(await visitor.ask('/v1/me', { token: json.access_token }))
}

async function revoke(id: string): Promise<number> {
  const aud = `${world.origin}/auth/oidc/global-token-revocation/acme`
  const now = Math.floor(Date.now() / 1000)
  const times = { iat: now, exp: now + 300, jti: randomUUID() }
  const token = await world.acme.sign({ iss: world.acme.issuer, aud, ...times })
  const body = { sub_id: { format: 'opaque', id } }
  return (await world.visitor().postJson(aud, body, { authorization: `Bearer ${token}` })).status
}

const push = async (type: string, id: string) =>
  (await transmitter.push(`${world.origin}/auth/ssf/acme`, type, { format: 'opaque', id })).status

t.test('the id of a SCIM user is the user, and no one else', async (t) => {
  const [alice, bob] = [await program('alice'), await program('bob')]
  const id = await scim.user('a@acme.example', { externalId: 'alice' })
  t.equal(await revoke(id), 204)
  t.same([await alice(), await bob()], ['401 token_revoked', 'allow'])
  const again = await program('alice')
  t.equal(await push(EVENTS.sessionRevoked, id), 202)
  t.same([await again(), await bob()], ['401 token_revoked', 'allow'])
  const group = await scim.group('Viewer')
  t.equal(await revoke(group), 404, 'the id of a group')
})

t.test('a sub that is the id of a SCIM user is the sub', async (t) => {
  const id = await scim.user('c@acme.example', { externalId: 'carol' })
  const [carol, named] = [await program('carol'), await program(id)]
  t.equal(await revoke(id), 204)
  t.same([await named(), await carol()], ['401 token_revoked', 'allow'])
})
