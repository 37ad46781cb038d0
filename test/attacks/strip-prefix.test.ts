/**
 * A prefix that is stripped cannot be used to reach another path than the one that was decided on (as CVE-2026-40912 and
 * CVE-2026-48020 of Traefik, where two forms of the path were stripped apart).
 */

import t from 'tap'
import { startWorld, type World } from '../support/world.ts'
import { roundTrip } from '../support/raw-client.ts'

const TABLES = {
  'code.yaml': `prefix: /code
strip_prefix: true
upstream: main
routes:
  GET /*: public
  GET /admin/{id}: admin:read
`,
  'kept.yaml': 'prefix: /kept\nupstream: main\nroutes: { GET /a: public, GET /: public }\n',
}

const world = await startWorld(t, { routes: ['GET /other: public'], tables: TABLES })

/** What reached the upstream; the status where nothing did. */
async function sent(world: World, target: string): Promise<string | number> {
  const before = world.upstream.seen.length
  const answer = await roundTrip(world.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  return world.upstream.seen[before]?.url ?? Number(answer.slice(9, 12))
}

t.test('the forwarded path is the matched one without the prefix, byte for byte', async (t) => {
  const forwarded = {
    '/code/a': '/a',
    '/code/': '/',
    '/code': '/',
    '/code?q=/code': '/?q=/code',
    '/code/code/a': '/code/a',
    '/%63ode/%61': '/a',
    '/c%6fde': '/',
    '/code/caf%c3%a9?x=%2F': '/caf%C3%A9?x=%2F',
    '/code/a%20b': '/a%20b',
    '/code/a/': '/a/',
    '/kept/a': '/kept/a',
    '/kept': '/kept',
    '/kept/': '/kept/',
  }
  for (const [target, url] of Object.entries(forwarded)) t.equal(await sent(world, target), url, target)
})

t.test('no spelling gets past the prefix', async (t) => {
  const before = world.upstream.seen.length
  const refused = {
    '/codex': 404,
    '/codeadmin/1': 404,
    '/CODE/a': 404,
    '/code%2Fadmin%2F1': 400,
    '/code/..': 400,
    '/code/%2e%2e/x': 400,
    '/code/..%2fadmin': 400,
    '/code//admin/1': 400,
    '//code/a': 400,
    '/code/./admin/1': 400,
    '/code;/admin/1': 400,
    '/code/;/a': 400,
    '/code%5Cadmin': 400,
    '/code\\admin': 400,
    '/code%00/a': 400,
    '/code#/a': 400,
    '/x/../code/a': 400,
    '/code/admin/1': 401,
    '/code/%61dmin/1': 401,
    '/code/admin%2F1': 400,
  }
  for (const [target, status] of Object.entries(refused)) t.equal(await sent(world, target), status, target)
  t.equal(world.upstream.seen.length, before)
})

t.test('no header of the client is taken for a prefix', async (t) => {
  const head = 'GET /code/a HTTP/1.1\r\nHost: a\r\nX-Forwarded-Prefix: /evil\r\nX-Original-URL: /admin/1'
  await roundTrip(world.port, `${head}\r\nConnection: close\r\n\r\n`)
  const seen = world.upstream.seen.at(-1)
  t.equal(seen?.url, '/a')
  t.equal(seen?.headers['x-forwarded-prefix'], undefined)
})

t.test('a base path comes before what is left', async (t) => {
  const world = await startWorld(t, {
    routes: ['GET /other: public', 'GET /*: public'],
    upstream: ['base_path: /api/v2'],
    tables: TABLES,
  })
  const forwarded = {
    '/code/a?b=c': '/api/v2/a?b=c',
    '/code': '/api/v2/',
    '/kept/a': '/api/v2/kept/a',
    '/other': '/api/v2/other',
    '/': '/api/v2/',
    '/code/..': 400,
    '/..': 400,
    '/%2e%2e/x': 400,
  }
  for (const [target, url] of Object.entries(forwarded)) t.equal(await sent(world, target), url, target)
})

t.test('an absolute target is stripped alike', async (t) => {
  t.equal(await sent(world, 'http://a/code/b'), '/b')
  t.equal(await sent(world, 'http://a/code'), '/')
  t.equal(await sent(world, 'http://a/code/../b'), 400)
})
