/** A browser's session over HTTP/2, whose cookies may come as several fields (RFC 9113, section 8.2.3). */

import t from 'tap'
import { ask, authority, openSession } from '../http2/support.ts'
import { startSignIn } from './world.ts'

const secure = authority.issue({ names: ['a.example', '127.0.0.1'] })
const world = await startSignIn(t, { secure })
await world.gateway.seat('Viewer', ['main'], ['trainings:list'])
world.user('alice', { memberOf: ['Viewer'] })
const visitor = world.visitor()
await visitor.page('/pages/a')
const crumbs = [...visitor.cookies(world.origin)].map(([name, value]) => `${name}=${value}`)
const session = openSession(t, world.gateway.securePort)
const get = (cookie: string | string[], more: Record<string, string> = {}) =>
  ask(session, { ':path': '/v1/trainings', space: 'main', cookie, ...more })

t.test('the cookies of the session beside those of the service, in one field or several', async (t) => {
  const all = ['theme=dark', ...crumbs, 'lang=en']
  for (const cookie of [all.join('; '), all]) {
    t.equal((await get(cookie)).status, 200)
    t.equal(world.gateway.upstream.seen.at(-1)?.headers.cookie, 'theme=dark; lang=en')
  }
})

t.test('a cut value, and two sessions in two fields, are no session', async (t) => {
  const [crumb = ''] = crumbs
  t.equal(crumbs.length, 1)
  t.equal((await get([crumb.slice(0, -4), crumb.slice(-4)])).status, 401)
  const before = world.gateway.upstream.seen.length
  const [name = ''] = crumb.split('=')
  t.not((await get([crumb, `${name}=other`])).status, 200)
  t.equal(world.gateway.upstream.seen.length, before)
})
