/** Questions about handshakes of WebSockets, as proxies pass them: with Upgrade of the client, or without. */

import t from 'tap'
import { forwardFields, nginxFields, startAsking } from './support.ts'

const { ask, key } = await startAsking(t)

const HANDSHAKE = {
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
}
const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket' }

t.test('a handshake is decided like that of a client, and the connection stays one of HTTP', async (t) => {
  const caller = { 'x-api-key': key, space: 'main' }
  for (const more of [HANDSHAKE, { ...HANDSHAKE, ...UPGRADE }]) {
    t.equal(
      (await ask('/auth/nginx', { ...nginxFields('GET', '/v1/trainings/7'), ...caller, ...more })).status,
      200,
    )
    t.equal(
      (await ask('/auth/forward', { ...forwardFields('GET', '/v1/trainings/7'), ...caller, ...more })).status,
      200,
    )
    t.equal((await ask('/auth/nginx', { ...nginxFields('GET', '/v1/trainings/7'), ...more })).status, 401)
  }
})

t.test('a malformed handshake is refused', async (t) => {
  const status = async (more: Record<string, string>, method = 'GET') =>
    (await ask('/auth/nginx', { ...nginxFields(method, '/docs/a'), ...more })).status
  t.equal(await status(HANDSHAKE), 200)
  t.equal(await status({ ...HANDSHAKE, 'sec-websocket-key': 'short' }), 400)
  t.equal(await status({ 'sec-websocket-version': '13' }), 400)
  t.equal(await status({ 'sec-websocket-key': HANDSHAKE['sec-websocket-key'] }), 400)
  t.equal(await status({ ...HANDSHAKE, 'sec-websocket-version': '8' }), 426)
  t.equal(await status({ ...HANDSHAKE, connection: 'Upgrade', upgrade: 'websocket, h2c' }), 400)
  t.equal(await status(HANDSHAKE, 'POST'), 400)
})

t.test('Upgrade to another protocol is ignored, as on the front door', async (t) => {
  const fields = { ...nginxFields('GET', '/docs/a'), connection: 'Upgrade', upgrade: 'h2c' }
  t.equal((await ask('/auth/nginx', fields)).status, 200)
})
