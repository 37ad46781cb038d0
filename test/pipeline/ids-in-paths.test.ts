/** Ids in the paths of built-in endpoints: any characters, percent-encoded. Paths of services keep their rules. */

import t from 'tap'
import { openSqliteStore } from '../../seats-admin/index.ts'
import { builtInOperations } from '../../src/composition.ts'
import { startWorld } from '../support/world.ts'

const SUBS = [
  'aGVsbG8/d29ybGQ+/w==',
  'https://orcid.org/0000-0002-1825-0097',
  'CORP\\ann',
  'ann;tenant=acme',
  'a/b;c\\d',
  '/ann',
  'ann/',
  'a//b',
  'ann\u0001\u007f',
  'ann%2Fb',
  'a?b#c',
  'jörg …',
  '...',
  '..ann',
]

t.test('a user of any sub is read', async (t) => {
  const world = await startWorld(t)
  const store = await openSqliteStore({ path: world.storeFile, timeout: 60_000 })
  t.teardown(() => store.close())
  for (const sub of SUBS) await store.recordSignIn('acme', { sub, email: null, name: null, at: 0 }, [])
  for (const sub of SUBS) {
    const { status, json, body } = await world.admin('GET', `/v1/users/${encodeURIComponent(sub)}`)
    t.match({ status, sub: json.sub }, { status: 200, sub }, `${JSON.stringify(sub)}: ${body}`)
  }
  const lower = await world.admin('GET', `/v1/users/${encodeURIComponent('a/b;c\\d').toLowerCase()}`)
  t.equal(lower.json.sub, 'a/b;c\\d', 'lower-case hex digits')
})

t.test('every id in a path', async (t) => {
  const world = await startWorld(t)
  const paths = builtInOperations().filter(
    ({ path, requirement }) => path.includes('{') && requirement !== 'public',
  )
  t.equal(paths.length, 11)
  for (const { method, path } of paths) {
    const ask = (id: string) =>
      world.admin(method, path.replace(/\{\w+\}/, id), method === 'PUT' ? {} : undefined)
    for (const sub of ['a/b', 'a\\b', 'a;b', 'a\0', '/'])
      t.equal((await ask(encodeURIComponent(sub))).status, 404, `${method} ${path}: ${JSON.stringify(sub)}`)
    for (const id of ['..', '%2e%2e', 'a%2F..', 'a%2F.%2Fb', '..%3Ba', '%2E', 'a;b', '%ff', '%zz', 'a\\b']) {
      const { status, json } = await ask(id)
      t.match(
        { status, code: json.code },
        { status: 400, code: 'path_ambiguous' },
        `${method} ${path}: ${id}`,
      )
    }
  }
})

t.test('below a prefix too, while the paths of services keep their rules', async (t) => {
  const world = await startWorld(t, {
    routes: ['GET /v1/users/{sub}: a:b', 'GET /files/*: a:b', 'GET /open/{x}: public'],
    top: ['api: { prefix: /_seatgate }'],
  })
  const hidden = ['a%2Fb', 'a%5Cb', 'a%3Bb', 'a%00', 'a%7F']
  for (const path of ['/v1/users/', '/files/', '/open/', '/nowhere/'])
    for (const id of hidden)
      t.equal((await world.client.send('GET', path + id, {})).json.code, 'path_ambiguous', path + id)
  for (const id of hidden) {
    const { status, json } = await world.admin('GET', `/_seatgate/v1/users/${id}`)
    t.match({ status, code: json.code }, { status: 404, code: 'user_not_found' }, id)
  }
})
