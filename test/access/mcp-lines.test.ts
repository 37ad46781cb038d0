/** Questions about all calls at once: the difference of two tables, and proofs. */

import t, { type Test } from 'tap'
import { proveOnly, provePublic } from '../../src/access/assertions.ts'
import { differences } from '../../src/access/difference.ts'
import { seatsByName } from '../../src/access/offline-engine.ts'
import { Judge } from '../../src/access/replay/judge.ts'
import { readLine } from '../../src/access/replay/logged-request.ts'
import { mcpTables, server } from './mcp-tables.ts'

async function diff(t: Test, before: string, after: string): Promise<string[]> {
  const all = differences(await mcpTables(t, before), await mcpTables(t, after))
  return all.map(
    ({ before: one, after: other, witness }) =>
      `${witness.method} ${witness.host ?? ''}${witness.path}: ${one?.requirement ?? 'none'} -> ${other?.requirement ?? 'none'}`,
  )
}

const METHODS = ['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'subscriptions/listen']

t.test('differences', async (t) => {
  const one = server('tools: { a: p:q, b: p:q }', 'resources: { "x://y/*": p:q }')
  t.same(await diff(t, one, one), [])
  t.same(await diff(t, one, server('tools: { b: p:q, a: p:q }', 'resources: { "x://y/*": p:q }')), [])
  t.same(
    await diff(
      t,
      one,
      server('tools: { a: r:s, c: p:q }', 'resources: { "x://y/*": p:q, "x://y/z": public }'),
    ),
    [
      'tool /mcp#a: p:q -> r:s',
      'tool /mcp#b: p:q -> none',
      'tool /mcp#c: none -> p:q',
      'resource /mcp#x://y/z: p:q -> public',
    ],
  )
  t.same(await diff(t, one, server('tools: { a: p:q, b: p:q }')), ['resource /mcp#x://y/x: p:q -> none'])
  const nothing = `routes: { 'GET /a': public }\n`
  const metadata = 'GET /.well-known/oauth-protected-resource/mcp: none -> public'
  t.same(await diff(t, nothing, `${nothing}${server('tools: { a: p:q }')}`), [
    metadata,
    'tool /mcp#a: none -> p:q',
    ...METHODS.map((name) => `method /mcp#${name}: none -> authenticated`),
  ])
})

t.test('a setting of the server', async (t) => {
  t.same(await diff(t, server(), server('list: whole')), ['POST /mcp: * -> *'])
})

t.test('a server in place of a route', async (t) => {
  const route = `routes: { 'POST /mcp': public }\n`
  const all = await diff(t, route, server('tools: { a: p:q }'))
  t.ok(all.includes('POST /mcp: public -> *'))
  t.ok(all.includes('tool /mcp#a: none -> p:q'))
})

t.test('hosts', async (t) => {
  const [one, other] = [
    `host: a.example\n${server('tools: { a: p:q }')}`,
    `host: b.example\n${server('tools: { a: p:q }')}`,
  ]
  const all = await diff(t, one, other)
  t.ok(all.includes('tool a.example/mcp#a: p:q -> none'), all.join('\n'))
  t.ok(all.includes('tool b.example/mcp#a: none -> p:q'))
})

t.test('proofs', async (t) => {
  const tables = await mcpTables(t, server('tools: { a: p:q, b: public }'))
  const anything = { method: 'ANY', path: '/*', hosts: [] }
  const inTable = { tenant: 'acme', seats: [{ name: 'Viewer', spaces: ['main'], permissions: ['p:q'] }] }
  const wellKnown = { method: 'GET', path: '/.well-known/*', hosts: [] }
  t.match(provePublic(tables, [wellKnown]).counterexample, { method: 'tool', path: '/mcp#b' })
  const post = { method: 'POST', path: '/mcp', hosts: [] }
  t.equal(provePublic(tables, [wellKnown, post]).counterexample, null)
  t.match(proveOnly(tables, inTable, [], post).counterexample, {
    method: 'tool',
    path: '/mcp#a',
    seat: 'Viewer',
  })
  t.ok(provePublic(tables, [anything]).reached.size > 0)
})

t.test('a replay decides a logged call by its line', async (t) => {
  const line = (name: string | null, method = 'tools/call') =>
    readLine(
      JSON.stringify({
        ...{ msg: 'request', request_id: 'a', method: 'POST', path: '/mcp', host: 'gw.example' },
        ...{ status: 200, code: 'allow', mcp_method: method, ...(name === null ? {} : { mcp_name: name }) },
        ...{ permission: 'p:q', tenant: 'acme', user: 'alice', auth: 'bearer', issued_at: 1 },
        ...{ space: 'main', seats: ['Viewer:grants'] },
      }),
    )
  const seats = seatsByName([{ name: 'Viewer', spaces: ['main'], permissions: ['p:q'] }])
  const judged = async (table: string, ...asked: Parameters<typeof line>) => {
    const tables = await mcpTables(t, table)
    const judge = new Judge({
      tables,
      seats,
      onlyTenant: 'acme',
      tenants: new Set(['acme']),
      targetBytes: 8192,
    })
    const request = line(...asked)
    return typeof request === 'string' ? request : judge.judge(request)
  }
  t.same(await judged(server('tools: { a: p:q }'), 'a'), { to: 'allow', route: 'tool /mcp#a' })
  t.same(await judged(server('tools: { a: r:s }'), 'a'), { to: 'permission_denied', route: 'tool /mcp#a' })
  t.match(await judged(server('tools: { b: p:q }'), 'a'), { to: 'route_not_found' })
  t.match(await judged(server(), null, 'tools/list'), { to: 'allow', route: 'method /mcp#tools/list' })
})
