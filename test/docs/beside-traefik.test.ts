/** Debian has no package of Traefik: its configuration in the manual is complete by its text. */

import t from 'tap'
import { parse } from 'yaml'
import { OVERRIDES } from '../../src/proxy/request-header-rules.ts'
import { blocksOf } from './pages.ts'

const block = blocksOf('docs/beside-other-proxies.md').find(({ text }) => text.includes('forwardAuth:'))
const { middlewares, routers } = parse(block?.text ?? '').http

t.test('removes each header that replaces the path or the method, before it asks', async (t) => {
  const removed = Object.entries(middlewares.clean.headers.customRequestHeaders)
  t.same(
    removed.map(([name, value]) => [name.toLowerCase(), value]).sort(),
    OVERRIDES.map((name) => [name, '']).sort(),
  )
  t.same(routers.service.middlewares, ['clean', 'seatgate', 'credentials'])
})

t.test('takes the identity and the cookies of the answer, and removes the credentials', async (t) => {
  const taken = middlewares.seatgate.forwardAuth.authResponseHeaders.map((name: string) => name.toLowerCase())
  for (const part of [
    'tenant',
    'user',
    'email',
    'space',
    'seats',
    'seats-count',
    'permission',
    'auth',
    'jwt',
  ])
    t.ok(taken.includes(`x-seatgate-${part}`), part)
  t.ok(taken.includes('cookie'))
  t.same(middlewares.credentials.headers.customRequestHeaders, { 'X-Api-Key': '', Authorization: '' })
})
