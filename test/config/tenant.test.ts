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

function folderWith(t: Test, table: string): Folder {
  return new Folder(t, { 'gateway.config.yaml': MAIN, 'routes.yaml': `upstream: main\n${table}` })
}

/** By path; null: callers of every tenant. */
async function tenantsOf(t: Test, table: string): Promise<Record<string, string | null>> {
  const { config } = await folderWith(t, table).load()
  return Object.fromEntries((config?.routes ?? []).map(({ path, tenant = null }) => [path, tenant]))
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
  const cases = {
    'tenant: acne\nroutes: { GET /: docs:read }\n': '2:9',
    'routes: { GET /: { permission: docs:read, tenant: Acme } }\n': '2:51',
    'routes: { GET /: { permission: public, tenant: acme } }\n': '2:40',
    'tenant: [acme]\nroutes: { GET /: docs:read }\n': '2:9',
  }
  for (const [table, place] of Object.entries(cases))
    await folderWith(t, table).faultsAt(t, `routes.yaml:${place}`)
})

t.test('a page that takes its space from a header', async (t) => {
  const warnedAt = async (places: readonly string[], entry: string, head = '') => {
    const folder = folderWith(t, `${head}routes: { GET /a: { sign_in: globex, ${entry} } }\n`)
    await folder.warningsAt(t, places)
  }
  const unreachable = ['space_unreachable routes.yaml:2:30']
  await warnedAt(unreachable, 'permission: docs:read')
  await warnedAt(unreachable, 'permission: docs:read, space: { header: X-Space }')
  await warnedAt([], 'permission: docs:read, space: { fixed: main }')
  await warnedAt([], 'permission: docs:read, space: { query: space }')
  await warnedAt([], 'permission: docs:read', 'space: { fixed: main }\n')
  await warnedAt([], 'permission: authenticated')
})
