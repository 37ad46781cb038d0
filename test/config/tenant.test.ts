/** `tenant` of a table and of an entry, and the warning of pages whose space no browser sends. */

import t, { type Test } from 'tap'
import { Folder, SECRET } from './support.ts'

const MAIN = `tenants:
  acme: { token: { secrets: ['${SECRET}'] } }
  globex:
    token: { secrets: ['${SECRET}, of globex'] }
    oidc: { issuer: https://id.example, client_id: gateway, client_secret: '${SECRET}', redirect_uri: https://gw.example/auth/oidc/callback }
upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }
routes: [routes.yaml]
`

function load(t: Test, table: string) {
  return new Folder(t, { 'gateway.config.yaml': MAIN, 'routes.yaml': `upstream: main\n${table}` }).load()
}

/** By path; null: callers of every tenant. */
async function tenantsOf(t: Test, table: string): Promise<Record<string, string | null>> {
  const { config } = await load(t, table)
  return Object.fromEntries((config?.routes ?? []).map(({ path, tenant = null }) => [path, tenant]))
}

/** `line:column` of each fault, with its key. */
async function faultsOf(t: Test, table: string): Promise<string[]> {
  const { faults } = await load(t, table)
  return faults.map(({ place, message }) => `${place.line}:${place.column} ${message.split(':')[0]}`)
}

t.test('that of the entry, or else of its table, or else of its sign-in', async (t) => {
  const entries = `routes:
  GET /short: docs:read
  GET /map: { permission: docs:read }
  GET /own: { permission: docs:read, tenant: acme }
  GET /every: { permission: docs:read, tenant: "*" }
  GET /page: { permission: authenticated, sign_in: globex }
  GET /shared: { permission: authenticated, sign_in: globex, tenant: "*" }
  GET /open: public
`
  const own = { '/own': 'acme', '/every': null, '/shared': null, '/open': null }
  t.same(await tenantsOf(t, entries), { ...own, '/short': null, '/map': null, '/page': 'globex' })
  t.same(await tenantsOf(t, `tenant: acme\n${entries}`), {
    ...own,
    '/short': 'acme',
    '/map': 'acme',
    '/page': 'acme',
  })
})

t.test('a tenant that there is not, and one of a public entry', async (t) => {
  t.same(await faultsOf(t, 'tenant: acne\nroutes: { GET /: docs:read }\n'), ['2:9 tenant'])
  t.same(await faultsOf(t, 'routes: { GET /: { permission: docs:read, tenant: Acme } }\n'), ['2:51 tenant'])
  t.same(await faultsOf(t, 'routes: { GET /: { permission: public, tenant: acme } }\n'), ['2:40 tenant'])
  t.same(await faultsOf(t, 'tenant: [acme]\nroutes: { GET /: docs:read }\n'), [
    '2:9 tenant must be a string such as "acme", not a list',
  ])
})

t.test('a page that takes its space from a header', async (t) => {
  const warned = async (entry: string, head = '') => {
    const { warnings } = await load(t, `${head}routes: { GET /a: { sign_in: globex, ${entry} } }\n`)
    return warnings
      .filter(({ code }) => code === 'space_unreachable')
      .map(({ place }) => `${place.line}:${place.column}`)
  }
  t.same(await warned('permission: docs:read'), ['2:30'])
  t.same(await warned('permission: docs:read, space: { header: X-Space }'), ['2:30'])
  t.same(await warned('permission: docs:read, space: { fixed: main }'), [])
  t.same(await warned('permission: docs:read, space: { query: space }'), [])
  t.same(await warned('permission: docs:read', 'space: { fixed: main }\n'), [])
  t.same(await warned('permission: authenticated'), [])
})
