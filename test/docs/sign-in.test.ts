/** The messages of `sign-in.md`, between a gateway, a program and a real provider. */

import t from 'tap'
import { startSignIn } from '../sign-in/world.ts'
import { exchangesOf } from './messages.ts'
import { differences } from './same.ts'

const world = await startSignIn(t)
await world.gateway.seat('Viewer', ['main'], ['trainings:list'])
world.user('alice', { name: 'Alice', memberOf: ['Viewer'] })
const visitor = world.visitor('alice')
const [login, callback, refresh, list, end, ...more] = exchangesOf('docs/sign-in.md')

/** With the provider of this test. */
function shownHere(shown: unknown): unknown {
  return JSON.parse(JSON.stringify(shown).replaceAll('https://login.acme.example', world.acme.issuer))
}

t.test('login, callback, refresh, sessions', async (t) => {
  t.same(more, [], 'no other message')
  const begun = await visitor.postJson(world.origin + login?.target, JSON.parse(login?.body ?? ''))
  t.equal(begun.status, login?.status)
  t.same(differences(shownHere(login?.shown), begun.json), [])

  const back = await visitor.walk(begun.json.authorization_url)
  t.match(back.url, `${world.origin}${callback?.target.split('?')[0]}?`)
  t.equal(back.status, callback?.status)
  t.same(differences(callback?.shown, back.json), [])

  t.match(JSON.parse(refresh?.body ?? ''), { refresh_token: 'sgr_acme.…' })
  const next = await visitor.postJson(world.origin + refresh?.target, {
    refresh_token: back.json.refresh_token,
  })
  t.equal(next.status, refresh?.status)
  t.same(differences(refresh?.shown, next.json), [])

  const sent = (headers = {}) => ({ ...headers, 'x-api-key': world.gateway.keys['acme'] ?? '' })
  const { client } = world.gateway
  const listed = await client.send('GET', list?.target ?? '', sent(list?.headers))
  t.same(differences(list?.shown, listed.json), [])
  const target = `${end?.target.split('/').slice(0, -1).join('/')}/${listed.json.data[0].id}`
  t.equal((await client.send('DELETE', target, sent(end?.headers))).status, end?.status)
  const token = next.json.access_token
  t.match((await visitor.ask('/v1/me', { token })).json, { status: 401, code: 'token_invalid' })
})
