/**
 * The fields beside the status of gRPC: a refusal is HTTP 200, which caches would keep (RFC 9111, section 4.2.2) and give to
 * clients that are not of gRPC, as the content type of a request is no part of their key.
 */

import t, { type Test } from 'tap'
import { ask, openSession, startSecured } from '../http2/support.ts'
import { APP } from '../support/cors.ts'

const world = await startSecured(t, {
  top: ['rate_limits: { one: { limit: 1/h, per: route } }'],
  routes: ['GET /items: authenticated', 'GET /limited: { permission: public, rate_limit: [one] }'],
  tables: {
    'cors.yaml': `prefix: /page
cors: { origins: [${APP}], credentials: true }
upstream: main
routes: { GET /items: authenticated, POST /items: authenticated }
`,
  },
})
const session = openSession(t, world.securePort)

async function refused(t: Test, path: string, more: Readonly<Record<string, string>> = {}) {
  const { status, headers, body } = await ask(session, {
    ':path': path,
    'content-type': 'application/grpc',
    ...more,
  })
  t.equal(status, 200, path)
  t.equal(body, '', path)
  t.equal(headers['content-type'], 'application/grpc', path)
  return headers
}

t.test('no cache keeps a refusal', async (t) => {
  for (const [path, status] of [
    ['/items', '16'],
    ['/nowhere', '12'],
    ['/items/..', '13'],
    ['/page/items', '16'],
  ] as const)
    t.match(await refused(t, path), { 'grpc-status': status, 'cache-control': 'no-store' }, path)
})

t.test('the page of a listed origin can read it, and Vary is there for every origin', async (t) => {
  const listed = await refused(t, '/page/items', { origin: APP })
  t.match(listed, {
    'grpc-status': '16',
    'access-control-allow-origin': APP,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  })
  for (const more of [{}, { origin: 'null' }, { origin: 'https://evil.example' }]) {
    const other = await refused(t, '/page/items', more)
    t.equal(other['access-control-allow-origin'], undefined)
    t.equal(other.vary, 'Origin')
  }
  t.equal((await refused(t, '/items', { origin: APP })).vary, undefined, 'a table without cors')
})

t.test('what is left of a rate limit', async (t) => {
  const call = { ':path': '/limited', 'content-type': 'application/grpc' }
  t.match((await ask(session, call)).headers, { 'ratelimit-policy': /one/, ratelimit: /r=0/ }, 'it passes')
  const limited = await refused(t, '/limited')
  t.match(limited, { 'grpc-status': '8', 'ratelimit-policy': /one/, ratelimit: /r=0/ })
  t.match(limited['grpc-retry-pushback-ms'], /^\d+$/)
  t.equal(limited['retry-after'], undefined)
})
