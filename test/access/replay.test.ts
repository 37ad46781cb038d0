/** What a replay makes of single lines: each reason not to judge one, and what the counts say. */

import t from 'tap'
import { seatsByName } from '../../src/access/offline-engine.ts'
import type { ReplaySubject } from '../../src/access/replay/judge.ts'
import type { Reason } from '../../src/access/replay/unjudged-reasons.ts'
import { Replay } from '../../src/access/replay/replayed-log.ts'
import { tablesOf } from './random-tables.ts'

const SEATS = [{ name: 'Viewer', spaces: ['main'], permissions: ['a:read'] }]
const TABLES = tablesOf({
  lines: ['GET /a: a:read', 'GET /me: authenticated', 'GET /open: public', 'GET /b;c: public > semicolons'],
})

function subjectOf(more: Partial<ReplaySubject> = {}): ReplaySubject {
  const common = {
    tables: TABLES,
    seats: seatsByName(SEATS),
    onlyTenant: 'acme',
    tenants: new Set(['acme', 'globex']),
  }
  return { ...common, targetBytes: 100, ...more }
}

const REQUEST = {
  level: 'info',
  time: '2026-01-05T00:00:00.003Z',
  request_id: 'id',
  msg: 'request',
  status: 200,
}
const TOKEN = { tenant: 'acme', user: 'alice', auth: 'bearer', issued_at: 17 }
const ALLOWED = {
  method: 'GET',
  path: '/a',
  code: 'allow',
  permission: 'a:read',
  ...TOKEN,
  space: 'main',
  seats: ['Viewer:grants'],
}

async function resultOf(line: unknown, more: Partial<ReplaySubject> = {}) {
  const replay = new Replay(subjectOf(more))
  await replay.add(typeof line === 'string' ? line : JSON.stringify({ ...REQUEST, ...(line as object) }))
  return replay.result()
}

/** The reason, or the answers then and now. */
async function outcomeOf(line: unknown, more: Partial<ReplaySubject> = {}): Promise<string> {
  const { unjudged, groups, same } = await resultOf(line, more)
  const [group] = groups
  return Object.keys(unjudged)[0] ?? (group === undefined ? `same ${same}` : `${group.from} → ${group.to}`)
}

t.test('preflights', async (t) => {
  const line = { method: 'OPTIONS', path: '/a', preflight: true, route: 'GET /a', upstream: 'main' }
  t.equal(await outcomeOf({ ...line, code: 'allow' }), 'preflight')
  t.equal(await outcomeOf({ ...line, code: 'preflight_refused', status: 403 }), 'preflight')
  t.equal(await outcomeOf({ method: 'OPTIONS', path: '/a', code: 'method_not_allowed' }), 'same 1')
})

t.test('lines that are no requests', async (t) => {
  const lines: [string, Reason][] = [
    ['{"level":"info","msg":"listening"}', 'other_line'],
    ['{"msg":"request","method":"GET","path":"/a","code":"allow"}', 'other_line'],
    ['[1]', 'other_line'],
    ['17', 'other_line'],
    ['null', 'other_line'],
    ['"request"', 'other_line'],
    ['{"__proto__":{"msg":"request","request_id":"x","path":"/a"}}', 'other_line'],
    ['127.0.0.1 - - [05/Jan/2026] "GET / HTTP/1.1" 200', 'not_json'],
    [JSON.stringify({ ...REQUEST, ...ALLOWED }).slice(0, -9), 'not_json'],
    [`${'['.repeat(300_000)}`, 'not_json'],
    [`${'['.repeat(300_000)}${']'.repeat(300_000)}`, 'other_line'],
    ['\0\0\0', 'not_json'],
    [`${JSON.stringify({ ...REQUEST, ...ALLOWED })}\0`, 'not_json'],
  ]
  for (const [line, reason] of lines) t.equal(await outcomeOf(line), reason, line.slice(0, 60))
  for (const line of ['', ' ', '\r', '\t \r']) t.equal((await resultOf(line)).requests, 0)
  t.equal(await outcomeOf(`${JSON.stringify({ ...REQUEST, ...ALLOWED })}\r`), 'same 1')
  t.equal(
    await outcomeOf(
      `{"a":${'['.repeat(9999)}${']'.repeat(9999)},${JSON.stringify({ ...REQUEST, ...ALLOWED }).slice(1)}`,
    ),
    'same 1',
  )
  t.equal(
    await outcomeOf(
      `{"__proto__":{"path":"/open"},"constructor":1,${JSON.stringify({ ...REQUEST, ...ALLOWED }).slice(1)}`,
    ),
    'same 1',
  )
})

t.test('fields that the gateway does not write', async (t) => {
  for (const more of [
    { method: 7 },
    { method: null },
    { method: 'GET\u001b[2J' },
    { method: '' },
    { path: 7 },
    { path: {} },
    { code: 7 },
    { code: null },
    { permission: [] },
    { space: {} },
    { tenant: 7 },
    { tenant: undefined },
    { user: undefined },
    { tenant: undefined, user: undefined },
    { seats: 'Viewer' },
    { seats: [7] },
    { seats: ['Viewer'] },
    { seats: ['+1 more', 'Viewer:grants'] },
    { seat_ids: {} },
    { seat_ids: [{}] },
    { issued_at: '17' },
  ])
    t.equal(await outcomeOf({ ...ALLOWED, ...more }), 'malformed_line', JSON.stringify(more))
})

t.test('requests without a decision', async (t) => {
  t.equal(await outcomeOf({ status: 431, code: 'headers_too_large' }), 'not_decided')
  t.equal(
    await outcomeOf({ method: 'GET', path: null, status: 400, code: 'request_malformed' }),
    'not_decided',
  )
  t.equal(await outcomeOf({ method: 'GET', path: null, status: 503, code: 'unavailable' }), 'not_decided')
  t.equal(
    await outcomeOf({ ...ALLOWED, status: 503, code: 'unavailable' }),
    'not_decided',
    'of an older version',
  )
  t.equal(await outcomeOf({ ...ALLOWED, code: 'a code to come' }), 'not_decided')
})

t.test('a refusal behind the decision', async (t) => {
  for (const code of [
    'body_too_large',
    'unavailable',
    'upstream_timeout',
    'request_malformed',
    'permission_denied',
  ])
    t.equal(await outcomeOf({ ...ALLOWED, code, decision: 'allow' }), 'same 1', code)
  for (const code of ['upstream_unreachable', 'upstream_protocol_error', 'upstream_timeout'])
    t.equal(await outcomeOf({ ...ALLOWED, code }), 'same 1', `${code}, of an older version`)
  const signIn = { method: 'GET', path: '/open', permission: 'public' }
  t.equal(await outcomeOf({ ...signIn, code: 'token_invalid', decision: 'allow' }), 'same 1')
  t.equal(await outcomeOf({ ...signIn, code: 'token_invalid' }), 'same 1', 'of an older version')
})

t.test('no credential was read', async (t) => {
  const open = { method: 'GET', path: '/a', code: 'allow', permission: 'public' }
  t.equal(await outcomeOf(open), 'credential_not_read')
  t.equal(await outcomeOf({ ...open, path: '/me' }), 'credential_not_read')
  t.equal(await outcomeOf({ ...open, path: '/open' }), 'same 1')
  t.equal(await outcomeOf({ ...open, path: '/gone' }), 'allow → route_not_found')
  const missing = { method: 'GET', path: '/a', code: 'route_not_found' }
  t.equal(await outcomeOf(missing), 'credential_not_read')
  t.equal(await outcomeOf({ ...missing, path: '/open' }), 'route_not_found → allow')
  t.equal(await outcomeOf({ ...missing, method: 'POST' }), 'route_not_found → method_not_allowed')
})

t.test('a refused credential stays refused where one is needed', async (t) => {
  for (const code of ['credentials_missing', 'credentials_ambiguous', 'api_key_expired', 'token_invalid']) {
    const line = { method: 'GET', path: '/a', code, permission: 'x:y' }
    t.equal(await outcomeOf(line), 'same 1')
    t.equal(await outcomeOf({ ...line, path: '/me' }), 'same 1')
    t.equal(await outcomeOf({ ...line, path: '/open' }), `${code} → allow`)
    t.equal(await outcomeOf({ ...line, path: '/gone' }), `${code} → route_not_found`)
  }
})

t.test('paths that cannot be read, and methods', async (t) => {
  const bad = { method: 'GET', path: '//a', code: 'path_ambiguous' }
  for (const path of ['//a', '/%zz', '/a#', '/x;y', '/a%2Fb'])
    t.equal(await outcomeOf({ ...bad, path }), 'same 1', path)
  t.equal(await outcomeOf({ ...bad, path: '/b;c' }), 'path_ambiguous → allow')
  const long = { method: 'GET', path: `/${'a'.repeat(200)}`, code: 'uri_too_long' }
  t.equal(await outcomeOf(long), 'same 1')
  t.equal(await outcomeOf({ ...long, path: '/a' }), 'target_not_logged')
  t.equal(
    await outcomeOf({ ...bad, path: '/a', code: 'request_malformed' }),
    'same 1',
    'a Host or a target that is no path',
  )
  t.equal(await outcomeOf({ ...ALLOWED, method: 'PATCH' }), 'allow → method_not_allowed')
  t.equal(
    await outcomeOf({ ...ALLOWED, method: 'PURGE' }),
    'allow → request_malformed',
    'no method that is accepted',
  )
})

t.test('a malformed Space, and a repeated one', async (t) => {
  const malformed = { ...ALLOWED, code: 'request_malformed', space: undefined, seats: undefined }
  t.equal(await outcomeOf(malformed), 'same 1')
  t.equal(await outcomeOf({ ...malformed, path: '/me' }), 'same 1')
  t.equal(await outcomeOf({ ...malformed, path: '/open' }), 'request_malformed → allow')
  const repeated = { method: 'GET', path: '/a', code: 'request_malformed', permission: 'x:y' }
  for (const path of ['/a', '/me', '/open']) t.equal(await outcomeOf({ ...repeated, path }), 'same 1', path)
  t.equal(await outcomeOf({ ...repeated, path: '/gone' }), 'request_malformed → route_not_found')
  const none = { ...ALLOWED, code: 'space_required', space: undefined, seats: undefined }
  t.equal(await outcomeOf(none), 'same 1')
  t.equal(await outcomeOf({ ...none, path: '/me' }), 'space_required → allow')
})

t.test('a request of another tenant, on an entry for every tenant', async (t) => {
  const refused = { ...ALLOWED, code: 'tenant_mismatch', seats: ['Viewer:named'] }
  t.equal(await outcomeOf(refused), 'tenant_mismatch → allow')
  t.equal(await outcomeOf({ ...refused, path: '/me' }), 'tenant_mismatch → allow')
  const { space: _, seats: __, ...spaceless } = refused
  t.equal(await outcomeOf(spaceless), 'space_not_logged')
  t.equal(await outcomeOf({ ...spaceless, path: '/me' }), 'tenant_mismatch → allow', 'where no space counts')
})

t.test('Seats that the line does not have', async (t) => {
  const older = { ...ALLOWED, issued_at: undefined }
  t.equal(await outcomeOf(older), 'seats_not_logged')
  t.equal(await outcomeOf({ ...older, path: '/me' }), 'same 1', 'where no Seat counts')
  t.equal(await outcomeOf({ ...ALLOWED, tenant: 'globex' }), 'other_tenant')
  t.equal(await outcomeOf({ ...ALLOWED, tenant: 'globex', path: '/me' }), 'same 1')
  for (const path of ['/a', '/me'])
    t.equal(await outcomeOf({ ...ALLOWED, path, tenant: 'gone' }), 'tenant_not_configured')
  t.equal(await outcomeOf({ ...ALLOWED, tenant: 'gone', path: '/open' }), 'same 1')
  const key = { ...ALLOWED, issued_at: undefined, seat_ids: ['01J'] }
  t.equal(await outcomeOf(key), 'same 1', 'by the name in the line')
  t.equal(await outcomeOf({ ...key, permission: 'authenticated', seats: undefined }), 'seat_names_not_logged')
  t.equal(await outcomeOf({ ...key, seat_ids: [], seats: undefined }), 'allow → no_seat_in_space')
})

t.test('lists that are cut', async (t) => {
  const cut = (...names: string[]) => ({
    ...ALLOWED,
    seats: [...names.map((name) => `${name}:unknown`), '+5 more'],
  })
  t.equal(await outcomeOf(cut('Viewer', 'Other')), 'same 1', 'one that grants is enough')
  t.equal(await outcomeOf(cut('Other')), 'seats_truncated')
  t.equal(await outcomeOf({ ...cut('Other'), path: '/me' }), 'same 1')
  t.equal(
    await outcomeOf({ ...ALLOWED, seats: ['+5 more:grants', 'Viewer:grants'] }),
    'same 1',
    'a Seat of that name',
  )
})

t.test('names with colons, and verdicts of another time', async (t) => {
  const seats = seatsByName([{ name: 'ns:Viewer', spaces: ['main'], permissions: ['a:read'] }])
  t.equal(
    await outcomeOf(
      { ...ALLOWED, code: 'permission_denied', seats: ['ns:Viewer:lacks_permission'] },
      { seats },
    ),
    'permission_denied → allow',
  )
  t.equal(await outcomeOf({ ...ALLOWED, seats: ['ns:Viewer:named'] }, { seats }), 'same 1')
})

t.test('groups, and the callers of each', async (t) => {
  const replay = new Replay(subjectOf())
  const add = async (line: object) => replay.add(JSON.stringify({ ...REQUEST, ...line }))
  const lost = { ...ALLOWED, seats: ['Gone:grants'] }
  for (let turn = 0; turn < 9; turn++) await add({ ...lost, user: `u${turn % 3}` })
  await add({ ...lost, user: 'u0' })
  await add({ method: 'GET', path: '/open', code: 'route_not_found' })
  await add(ALLOWED)
  await add({ code: 'unavailable' })
  t.same(replay.result(), {
    requests: 13,
    same: 1,
    changed: 11,
    unjudged: { not_decided: 1 },
    groups: [
      {
        from: 'allow',
        to: 'permission_denied',
        method: 'GET',
        route: 'GET /a',
        count: 10,
        callers: [
          { caller: 'acme/u0', count: 4 },
          { caller: 'acme/u1', count: 3 },
          { caller: 'acme/u2', count: 3 },
        ],
      },
      {
        from: 'route_not_found',
        to: 'allow',
        method: 'GET',
        route: 'GET /open',
        count: 1,
        callers: [{ caller: null, count: 1 }],
      },
    ],
  })
})

t.test('any number of groups and callers takes bounded memory', async (t) => {
  const lines = Array.from({ length: 2500 }, (_, index) => `GET /r${index}: a:read`)
  const replay = new Replay(subjectOf({ tables: tablesOf({ lines }) }))
  const most = 5000
  for (let index = 0; index < most; index++) {
    const user = index % 2 === 0 ? 'often' : `u${index}${'x'.repeat(1000)}`
    await replay.add(
      JSON.stringify({ ...REQUEST, ...ALLOWED, path: `/r${index % 2500}`, seats: ['Gone:grants'], user }),
    )
  }
  const { changed, groups } = replay.result()
  t.equal(changed, most)
  t.equal(groups.length, 2001)
  t.equal(
    groups.reduce((sum, { count }) => sum + count, 0),
    most,
  )
  const rest = groups.find(({ method }) => method === '*')
  t.match(rest, { route: null, count: 1000, callers_approximate: true })
  t.equal(rest?.callers[0]?.caller, 'acme/often')
  for (const { callers } of groups) for (const { caller } of callers) t.ok((caller ?? '').length < 300)
})
