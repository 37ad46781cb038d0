/** Re-evaluation of WebSockets and streams of provider sessions and provider tokens. */

import { readFileSync, writeFileSync } from 'node:fs'
import { decodeJwt } from 'jose'
import t from 'tap'
import { idTokenOf } from '../sign-in/id-token.ts'
import { startSignIn } from '../sign-in/world.ts'
import { until } from '../support/until.ts'
import { openHeld, HELD_ROUTES, serveEvents } from './held.ts'
import { sendHandshake, startWebSocketUpstream } from './support.ts'

const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
const routes = [
  ...HELD_ROUTES,
  'GET /bye: public',
  'GET /pages/*: { permission: authenticated, sign_in: acme }',
]
const world = await startSignIn(t)
const { gateway } = world
const { file } = gateway.config
writeFileSync(file, readFileSync(file, 'utf8').replace(gateway.upstream.url, upstream.url))
await world.configure({ routes })

/** Header lines of a user who has signed in with a browser. */
async function signedIn(user: string) {
  world.user(user, { memberOf: ['Viewer'] })
  const visitor = world.visitor(user)
  await visitor.page('/pages/a')
  const cookies = [...visitor.cookies(world.origin)].map(([name, value]) => `${name}=${value}`).join('; ')
  return { visitor, lines: [`Cookie: ${cookies}`, `Origin: ${world.origin}`, 'Space: main'] }
}

const seat = await gateway.seat('Viewer', ['main'], ['trainings:list'])

t.test('a session after logout', async (t) => {
  const { visitor, lines } = await signedIn('alice')
  const other = await signedIn('bob')
  const [held, kept] = [await openHeld(gateway.port, lines), await openHeld(gateway.port, other.lines)]
  t.equal((await visitor.logout()).status, 200)
  await held.cut(t, 'token_invalid')
  await kept.staysOpen(t)
  kept.end()
})

t.test('a token of sign-in, after each way in which its session can end', async (t) => {
  world.user('grace', { memberOf: ['Viewer'] })
  // Each in a session of its own at the provider, which ends as a whole.
  const program = async () => {
    const visitor = world.visitor('grace')
    const { access_token: token, refresh_token: handle } = (await visitor.signIn()).json
    return {
      visitor,
      token,
      handle,
      held: await openHeld(gateway.port, [`Authorization: Bearer ${token}`, 'Space: main']),
    }
  }
  const kept = await program()
  const [loggedOut, replayed, ended] = [await program(), await program(), await program()]
  t.equal((await world.visitor().logout({ refresh_token: loggedOut.handle })).status, 200)
  await loggedOut.held.cut(t, 'token_invalid')
  const next = await replayed.visitor.refresh(replayed.handle)
  t.equal(next.status, 200)
  await replayed.held.staysOpen(t)
  t.equal((await replayed.visitor.refresh(replayed.handle)).status, 401)
  await replayed.held.cut(t, 'token_invalid')
  const { sid } = decodeJwt(ended.token)
  t.equal((await gateway.admin('DELETE', `/v1/sessions/${sid}`)).status, 204)
  await ended.held.cut(t, 'token_invalid')
  await kept.held.staysOpen(t)
  kept.held.end()
})

t.test("a cookie opens a WebSocket only for pages of the gateway's own origin", async (t) => {
  const { lines } = await signedIn('carol')
  for (const origin of [['Origin: https://evil.example'], [], ['Origin: null']]) {
    const client = await sendHandshake(gateway.port, '/ws', [
      ...lines.filter((line) => !line.startsWith('Origin')),
      ...origin,
    ]).gone()
    t.equal(client.status, 401, String(origin))
  }
})

t.test("a provider's token whose Seat has changed", async (t) => {
  await world.configure({ acme: { acceptProviderTokens: true }, routes })
  world.user('dave', { memberOf: ['Viewer'] })
  const token = await idTokenOf(world.visitor('dave'), world.acme)
  const lines = [`Authorization: Bearer ${token}`, 'Space: main']
  const held = await openHeld(gateway.port, lines)
  const elsewhere = await openHeld(gateway.port, lines, '/me')
  await gateway.admin('PUT', `/v1/seats/${seat}`, { permissions: ['trainings:read'] })
  await held.cut(t, 'permission_denied')
  await elsewhere.staysOpen(t)
  await world.configure({ routes })
  await elsewhere.cut(t, 'token_invalid')
})

t.test('Seats that are removed at the provider apply when the session is mapped again', async (t) => {
  await gateway.admin('PUT', `/v1/seats/${seat}`, { permissions: ['trainings:list'] })
  await world.configure({ token: ['lifetime: 3s'], routes })
  const { lines } = await signedIn('erin')
  const { lines: others } = await signedIn('frank')
  const [held, kept] = [await openHeld(gateway.port, lines), await openHeld(gateway.port, others)]
  world.user('erin', { memberOf: [] })
  await held.cut(t, 'no_seat_in_space')
  await kept.staysOpen(t)
  kept.end()
  await until(() => upstream.sockets.every(({ closed }) => closed), 'the end at the upstream')
})
