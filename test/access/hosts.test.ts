/** Questions about tables by host, and about routes that read their space elsewhere. */

import t from 'tap'
import { proveOnly, provePublic } from '../../src/access/assertions.ts'
import { accessRows, isRowId, rowId } from '../../src/access/callable-routes.ts'
import { changesOf } from '../../src/access/access-change.ts'
import { CaseEngine } from '../../src/access/policy.ts'
import { differences } from '../../src/access/difference.ts'
import { seatsByName } from '../../src/access/offline-engine.ts'
import { Replay } from '../../src/access/replay/replayed-log.ts'
import type { Tables } from '../../src/access/tables.ts'
import { queryOfRequest } from '../../src/access/permission-holders.ts'
import type { RouteEntry } from '../../src/config/config.ts'
import { methodsOf } from '../../src/config/methods.ts'
import { compileTable } from '../../src/decision/router/table.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { SpaceSource } from '../../src/model/space-source.ts'
import { readLine } from './random-tables.ts'

interface Built {
  readonly line: string
  readonly space?: SpaceSource
  readonly prefix?: string
  readonly stripPrefix?: boolean
}

function tables(base: string, ...all: (string | Built)[]): Tables {
  const upstream = { allowSemicolons: false, allowEncodedSlashes: false, basePath: base }
  const upstreams = new Map([['plain', upstream]])
  const entries = all.map((each, at): RouteEntry => {
    if (typeof each === 'string') return readLine(each, at)
    const { line, ...more } = each
    return { ...readLine(line, at), ...more }
  })
  const { table, faults } = compileTable(entries, upstreams, [])
  if (faults.length > 0) throw new Error(faults[0]?.message)
  return { table, methods: methodsOf({ methods: [] }), upstreams }
}

const FIXED: SpaceSource = { kind: 'fixed', space: 'main' }
const LABEL: SpaceSource = { kind: 'host_label', label: 1 }
const QUERY: SpaceSource = { kind: 'query', name: 'space' }

t.test('assertions are about every host, or about the one they name', async (t) => {
  const side = tables('', 'GET a.example/x: public', 'GET *.example/x: p:q', 'GET /x: p:q')
  const patterns = [{ method: 'GET', path: '/y', hosts: [] }]
  t.match(provePublic(side, patterns).counterexample, { method: 'GET', host: 'a.example', path: '/x' })
  t.equal(provePublic(side, patterns, '*.other').counterexample, null)
  t.equal(provePublic(side, patterns, 'b.example').counterexample, null)
  t.match(
    provePublic(side, patterns, '*.example').counterexample,
    { host: 'a.example' },
    'a.example is one of them',
  )
  const may = { method: 'GET', path: '/x', hosts: [] }
  t.match(proveOnly(side, { tenant: 'acme', seats: [] }, [], may).counterexample, {
    host: 'a.example',
    seat: null,
  })
  t.equal(proveOnly(side, { tenant: 'acme', seats: [] }, [], may, 'b.example').counterexample, null)
  const reached = (host: string) =>
    [...proveOnly(side, { tenant: 'acme', seats: [] }, [], may, host).reached].map(({ id }) => id)
  t.same(reached('b.example'), ['GET *.example/x'])
  t.same(reached('other'), ['GET /x'])
})

t.test('who can: the host chooses the entry, and the request its space', async (t) => {
  const side = tables(
    '',
    { line: 'GET *.example/x: p:q', space: LABEL },
    { line: 'GET /x: p:q', space: FIXED },
    { line: 'GET /o/{org}: p:q', space: { kind: 'param', name: 'org' } },
    { line: 'GET /q: p:q', space: QUERY },
  )
  const ask = (path: string, host: string | null = null, space: string | null = null) => {
    const question = queryOfRequest(side, { method: 'GET', path, host, space })
    return question instanceof Refusal ? question.code : `${question.route?.id} ${question.space}`
  }
  t.equal(ask('/x', 'Main.example:80'), 'GET *.example/x main')
  t.equal(ask('/x', 'main.example', 'main'), 'GET *.example/x main')
  t.equal(ask('/x', 'main.example', 'other'), 'space_conflict')
  t.equal(ask('/x'), 'GET /x main')
  t.equal(ask('/x', null, 'other'), 'space_conflict')
  t.equal(ask('/o/dev'), 'GET /o/{org} dev')
  t.equal(ask('/o/a%20b'), 'request_malformed')
  t.equal(ask('/q'), 'GET /q null')
  t.equal(ask('/q', null, 'main'), 'GET /q main')
  t.equal(ask('/q?space=dev'), 'GET /q dev')
  t.equal(ask('/q?space=dev', null, 'main'), 'space_conflict')
  t.equal(ask('/x', 'a..example'), 'request_malformed')
})

t.test('can: only in spaces that a request of the route can have', async (t) => {
  const side = tables(
    '',
    { line: 'GET a.example,*.b.example/x: p:q', space: { kind: 'host_label', label: 1 } },
    { line: 'GET c.example/x: p:q', space: LABEL },
    { line: 'GET /x: p:q', space: FIXED },
  )
  const { routes } = side.table
  const spaces = ['a', 'main', 'Z']
  const seats = [{ name: 'S', spaces: new Set(spaces), permissions: new Set(['p:q']) }]
  const rows = (allowed: boolean) =>
    [...accessRows(routes, { accepted: true, seats }, { tenant: 'acme', space: null, allowed })].map(
      (row) => {
        t.ok(isRowId(routes, rowId(row)), rowId(row))
        return `${row.host ?? '-'} ${row.space}`
      },
    )
  t.same(rows(true), ['a.example,*.b.example a', 'a.example,*.b.example main', '- main'])
  t.same(rows(false), [
    'a.example,*.b.example Z',
    'c.example Z',
    'c.example a',
    'c.example main',
    '- Z',
    '- a',
  ])
  const after = [
    ...accessRows(routes, { accepted: true, seats }, { tenant: 'acme', space: null, allowed: true }),
  ].map(rowId)
  t.equal(new Set(after).size, after.length)
  const rest = accessRows(
    routes,
    { accepted: true, seats },
    { tenant: 'acme', space: null, allowed: true, after: after[0] ?? '' },
  )
  t.same([...rest].map(rowId), after.slice(1), 'from page to page')
})

t.test('diff: another source, another prefix and another base path are differences', async (t) => {
  const kinds = (before: Tables, after: Tables) =>
    changesOf(differences(before, after), null).map(({ kind, old, new: now }) => ({ kind, old, now }))
  const plain = tables('', 'GET /x: p:q')
  t.match(kinds(plain, tables('', { line: 'GET /x: p:q', space: FIXED })), [
    { kind: 'changed', now: { space: 'fixed main' } },
  ])
  t.match(kinds(plain, tables('/api', 'GET /x: p:q')), [{ kind: 'rerouted', now: { base_path: '/api' } }])
  const kept = tables('', { line: 'GET /x: p:q', prefix: '/code' })
  const stripped = tables('', { line: 'GET /x: p:q', prefix: '/code', stripPrefix: true })
  t.match(kinds(kept, stripped), [{ kind: 'rerouted', now: { strip_prefix: '/code' } }])
  t.same(kinds(kept, tables('', 'GET /code/x: p:q')), [], 'a prefix that is kept is only written otherwise')
  const param = (name: string) => tables('', { line: `GET /{${name}}: p:q`, space: { kind: 'param', name } })
  t.same(kinds(param('a'), param('b')), [], 'the name of a parameter decides nothing')
  t.same(kinds(tables('', 'GET /x: public'), tables('', { line: 'GET /x: public', space: FIXED })), [])
  const [change] = changesOf(differences(plain, tables('', 'GET /x: p:q', 'GET a.example/y: public')), null)
  t.match(change, {
    kind: 'became_public',
    host: 'a.example',
    pattern: '/y',
    witness: { host: 'a.example', path: '/y' },
  })
})

t.test('policy cases: the host, and the space of the request', async (t) => {
  const side = tables(
    '',
    { line: 'GET *.example/x: p:q', space: LABEL },
    { line: 'GET /q: p:q', space: QUERY },
  )
  const seats = [{ name: 'S', spaces: ['main'], permissions: ['p:q'] }]
  const engine = new CaseEngine(side, 'acme', seats, 8192)
  const ask = (target: string, host: string | null, space: string | null = null) =>
    engine.decide({ method: 'GET', target, host, seats: ['S'], space }).code
  t.equal(ask('/x', 'main.example'), 'allow')
  t.equal(ask('/x', 'dev.example'), 'no_seat_in_space')
  t.equal(ask('/x', 'main.example', 'dev'), 'space_conflict')
  t.equal(ask('/x', null), 'route_not_found')
  t.equal(ask('/q?space=main', null), 'allow')
  t.equal(ask('/q', null, 'main'), 'space_required')
})

const COMMON = {
  level: 'info',
  request_id: 'id',
  msg: 'request',
  status: 200,
  method: 'GET',
  path: '/x',
  code: 'allow',
}
const TOKEN = {
  tenant: 'acme',
  user: 'alice',
  auth: 'bearer',
  issued_at: 17,
  permission: 'p:q',
  space: 'main',
}
const LINE = { ...COMMON, ...TOKEN, seats: ['S:grants'] }

t.test('replay: by the host and the source of the line', async (t) => {
  const outcome = async (side: Tables, more: object) => {
    const seats = seatsByName([{ name: 'S', spaces: ['main'], permissions: ['p:q'] }])
    const replay = new Replay({
      tables: side,
      seats,
      onlyTenant: 'acme',
      tenants: new Set(['acme']),
      targetBytes: 100,
    })
    await replay.add(JSON.stringify({ ...LINE, ...more }))
    const { unjudged, groups, same } = replay.result()
    const [group] = groups
    return Object.keys(unjudged)[0] ?? (group === undefined ? `same ${same}` : `${group.from} → ${group.to}`)
  }
  const byHost = tables('', 'GET a.example/x: p:q', 'GET /y: p:q')
  t.equal(await outcome(byHost, { host: 'a.example' }), 'same 1')
  t.equal(await outcome(byHost, { host: 'A.example.' }), 'same 1')
  t.equal(await outcome(byHost, { host: 'b.example' }), 'allow → route_not_found')
  t.equal(await outcome(byHost, { host: null }), 'allow → route_not_found')
  t.equal(await outcome(byHost, {}), 'host_not_logged')
  t.equal(await outcome(tables('', 'GET /x: p:q'), {}), 'same 1', 'without hosts it does not matter')
  const by = (space: SpaceSource) => tables('', { line: 'GET /x: p:q', space })
  t.equal(await outcome(by(FIXED), {}), 'same 1')
  t.equal(await outcome(by({ kind: 'fixed', space: 'dev' }), {}), 'allow → space_conflict')
  t.equal(
    await outcome(by({ kind: 'fixed', space: 'dev' }), { space_by: 'fixed' }),
    'allow → no_seat_in_space',
  )
  t.equal(await outcome(by(QUERY), { space_by: 'query' }), 'same 1')
  t.equal(await outcome(by(QUERY), {}), 'space_not_logged')
  t.equal(await outcome(tables('', 'GET /x: p:q'), { space_by: 'query' }), 'space_not_logged')
  t.equal(await outcome(by({ kind: 'header', name: 'x-org' }), { space_by: 'header' }), 'same 1')
  const conflict = { code: 'space_conflict', space: undefined, seats: undefined, space_by: 'fixed' }
  t.equal(await outcome(by(FIXED), conflict), 'same 1')
  t.equal(await outcome(tables('', 'GET /x: p:q'), conflict), 'space_not_logged')
  const missing = { code: 'space_required', space: undefined, seats: undefined, space_by: 'query' }
  t.equal(await outcome(by(QUERY), missing), 'same 1')
  t.equal(await outcome(by(LABEL), { host: 'main.example', space_by: 'host_label' }), 'same 1')
  t.equal(await outcome(by(LABEL), { space_by: 'host_label' }), 'host_not_logged')
  t.equal(await outcome(byHost, { host: 7 }), 'malformed_line')
  t.equal(await outcome(byHost, { host: 'a.example', space_by: 'x' }), 'malformed_line')
})
