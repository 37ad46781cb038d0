/** Questions about requests of pages of other origins. */

import t from 'tap'
import { APP, corsOf, useTables } from '../support/cors.ts'
import { forwardFields, startAsking } from './support.ts'

const { world, ask, key } = await startAsking(t)
await useTables(world, {
  app: {
    cors: `{ origins: [${APP}], credentials: true }`,
    routes: ['GET /app/{id}: trainings:read', 'PUT /app/{id}: trainings:update'],
  },
})

function preflight(origin: string, method: string) {
  const fields = { origin, 'access-control-request-method': method }
  return ask('/auth/forward', { ...forwardFields('OPTIONS', '/app/7'), ...fields })
}

t.test('a granted preflight is allowed without an identity', async (t) => {
  const answer = await preflight(APP, 'PUT')
  t.equal(answer.status, 200)
  t.equal(answer.headers['x-seatgate-user'], '')
  t.match(corsOf(answer), { 'allow-origin': APP })
})

t.test('another one is refused, without a header that grants', async (t) => {
  for (const answer of [await preflight('https://evil.example', 'PUT'), await preflight(APP, 'DELETE')]) {
    t.equal(answer.status, 403)
    t.equal(answer.json.code, 'preflight_refused')
    t.same(corsOf(answer), {})
  }
})

t.test('a page can read a refusal that the proxy passes on', async (t) => {
  const fields = { ...forwardFields('PUT', '/app/7'), origin: APP, 'x-api-key': key, space: 'main' }
  const answer = await ask('/auth/forward', fields)
  t.equal(answer.status, 403)
  t.match(corsOf(answer), { 'allow-origin': APP })
})
