/** What providers publish that is unusual and clear: members that are null, keys that share a name. */

import t from 'tap'
import { HostileProvider } from './hostile-provider.ts'
import { freshWorld } from './world.ts'

t.test('members of the discovery document that are null', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  Object.assign(provider.metadata, {
    userinfo_endpoint: null,
    end_session_endpoint: null,
    token_endpoint_auth_methods_supported: null,
    authorization_response_iss_parameter_supported: null,
    code_challenge_methods_supported: null,
  })
  await provider.takes(world)
  const page = await provider.signIn(world)
  t.equal(page.status, 200)
  Object.assign(provider.metadata, { token_endpoint: null })
  await provider.takes(world)
  t.match((await world.visitor().begin()).json, { status: 503 }, 'what sign-in needs')
})

t.test('two keys with one kid', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.newKey('same')
  const first = provider.key
  await provider.newKey('same')
  await provider.takes(world)
  const signIn = () => provider.signIn(world)
  t.equal((await signIn()).status, 200, 'the second key')
  provider.key = first
  t.equal((await signIn()).status, 200, 'the first key')
  const other = await HostileProvider.start(t)
  provider.key = other.key
  t.not((await signIn()).status, 200, 'another key under that name')
})
