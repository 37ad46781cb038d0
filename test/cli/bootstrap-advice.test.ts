/** What `bootstrap` prints with a configuration: lines that suit its addresses, spaces and routes. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { adviceOn } from '../../src/cli/bootstrap-advice.ts'
import { loadConfig } from '../../src/config/load.ts'
import { CONFIG, folderWith, SECRET } from './command-line.ts'

interface Given {
  readonly listen?: string
  readonly space?: string
  readonly routes?: readonly string[]
  readonly key?: { readonly key: string | null; readonly file: string | null }
}

const PRINTED = { key: 'sk_x', file: null }

async function advice(
  t: Test,
  { listen = '127.0.0.1:8080', space = 'admin', routes = [], key = PRINTED }: Given,
) {
  const entries = ['GET /docs: public', ...routes].map((each) => `  ${each}\n`)
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG.replace('listen: 127.0.0.1:0', `listen: "${listen}"`),
    'routes/a.yaml': `upstream: trainings\nroutes:\n${entries.join('')}`,
  })
  const config = await loadConfig(join(cwd, 'gateway.config.yaml'), { ACME_SECRET: SECRET })
  const made = { tenant: 'acme', space, seat: 'admin', api_key_name: 'bootstrap', others: [], ...key }
  return adviceOn(made, config, {})
}

t.test('the key is printed once, and the commands take it from a variable', async (t) => {
  const text = await advice(t, {})
  t.equal(text.split('sk_x').length, 2)
  t.match(text, /^read -rs SEATGATE_API_KEY && export SEATGATE_API_KEY$/m)
  t.match(text, /^curl .* -H "x-api-key: \$SEATGATE_API_KEY" /m)
  const written = await advice(t, { key: { key: null, file: 'my keys/admin.key' } })
  t.notMatch(written, 'sk_x')
  t.match(written, /^export SEATGATE_API_KEY=\$\(cat 'my keys\/admin\.key'\)$/m)
})

t.test('what the key may do', async (t) => {
  const text = await advice(t, { space: 'ops' })
  t.match(text, /^Seat "admin" of acme holds every permission in space ops\.$/m)
  t.match(text, /^sk_x$/m)
  t.match(text, /any other space: requests there are answered 403 until/)
})

t.test('the address is one that this machine reaches', async (t) => {
  for (const [listen, url] of [
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/v1/seats'],
    ['0.0.0.0:80', 'http://127.0.0.1:80/v1/seats'],
    ['[::]:8080', "'http://[::1]:8080/v1/seats'"],
    ['[fe80::1]:8080', "'http://[fe80::1]:8080/v1/seats'"],
    ['gw.example:8443', 'http://gw.example:8443/v1/seats'],
    ['127.0.0.1:0', 'http://127.0.0.1:PORT/v1/seats'],
  ] as const)
    t.ok((await advice(t, { listen })).includes(`\ncurl ${url} -H`), listen)
})

t.test('a permission of a route, and a request to it', async (t) => {
  for (const [routes, permission, request] of [
    [[], 'example:read', 'http://127.0.0.1:8080/'],
    [['GET /v1/me: authenticated', 'GET /all: "*"'], 'example:read', 'http://127.0.0.1:8080/'],
    [['POST /a: a:b', 'GET /a/{id}: c:d', 'GET /b/*: e:f'], 'e:f', 'http://127.0.0.1:8080/b/'],
    [['POST /a: a:b', 'GET /a/{id}: c:d'], 'c:d', 'http://127.0.0.1:8080/a/1'],
    [['POST /a: a:b'], 'a:b', '-X POST http://127.0.0.1:8080/a'],
    [['ANY /a(b): a:b'], 'a:b', "'http://127.0.0.1:8080/a(b)'"],
  ] as const) {
    const text = await advice(t, { routes })
    t.ok(text.includes(`"permissions":["${permission}"]`), permission)
    t.ok(text.includes(`\ncurl ${request} -H "Authorization: Bearer $TOKEN" -H 'Space: main'`), request)
  }
})

t.test('the Seat is for another space than the admin space', async (t) => {
  const text = await advice(t, { space: 'main' })
  t.ok(text.includes(`-H 'Space: main'`))
  t.ok(text.includes('"spaces":["first"]'))
})
