/** A request cannot name one space to the gateway and another to the upstream. */

import t from 'tap'
import { startWorld } from '../support/world.ts'
import { roundTrip } from '../support/raw-client.ts'

const table = (space: string, path: string, more = '') =>
  `${more}space: ${space}\nupstream: main\nroutes:\n  GET ${path}: docs:read\n`

const TABLES = {
  'param.yaml': table('{ param: org }', '/o/{org}/a'),
  'fixed.yaml': table('{ fixed: main }', '/fixed'),
  'query.yaml': table('{ query: space }', '/query'),
  'underscore.yaml': table('{ query: org_id }', '/underscore'),
  'header.yaml': table('{ header: X-Org }', '/header'),
  'label.yaml': table('{ host_label: 1 }', '/label', 'hosts: ["*.apps.example", "[::1]", 10.0.0.1, box]\n'),
  'deep.yaml': table('{ host_label: 9 }', '/deep'),
}

const world = await startWorld(t, {
  routes: ['GET /space: docs:read', 'GET /me: authenticated'],
  tables: TABLES,
})
await world.seat('Reader', ['main'], ['docs:read'])
const token = await world.token(['main:Reader'])

/** `200 main` with the space that reached the upstream, or the code. */
async function ask(target: string, ...lines: readonly string[]): Promise<string> {
  const host = lines.some((line) => line.startsWith('Host:')) ? [] : ['Host: a']
  const head = [`GET ${target} HTTP/1.1`, ...host, `Authorization: Bearer ${token}`, ...lines]
  const before = world.upstream.seen.length
  const answer = await roundTrip(world.port, `${head.join('\r\n')}\r\nConnection: close\r\n\r\n`)
  const seen = world.upstream.seen[before]
  if (seen !== undefined) return `200 ${seen.headers['x-seatgate-space']}`
  return JSON.parse(answer.slice(answer.indexOf('{'))).code
}

t.test('each source, without a Space header and with the same one', async (t) => {
  for (const lines of [[], ['Space: main']]) {
    t.equal(await ask('/o/main/a', ...lines), '200 main')
    t.equal(await ask('/fixed', ...lines), '200 main')
    t.equal(await ask('/query?a=b&space=main', ...lines), '200 main')
    t.equal(await ask('/query?space=m%61in', ...lines), '200 main')
    t.equal(await ask('/query?sp%61ce=main', ...lines), '200 main')
    t.equal(await ask('/header', 'X-Org: main', ...lines), '200 main')
    t.equal(await ask('/label', 'Host: MAIN.apps.example.:80', ...lines), '200 main')
  }
})

t.test('a Space header that says otherwise is a conflict, also where it would be allowed', async (t) => {
  t.equal(await ask('/o/main/a', 'Space: other'), 'space_conflict')
  t.equal(await ask('/o/other/a', 'Space: main'), 'space_conflict')
  t.equal(await ask('/fixed', 'Space: other'), 'space_conflict')
  t.equal(await ask('/fixed', 'Space: MAIN'), 'space_conflict', 'ids of spaces are case-sensitive')
  t.equal(await ask('/query?space=main', 'Space: other'), 'space_conflict')
  t.equal(await ask('/query?space=other', 'Space: main'), 'space_conflict')
  t.equal(await ask('/header', 'X-Org: main', 'Space: other'), 'space_conflict')
  t.equal(await ask('/label', 'Host: main.apps.example', 'Space: other'), 'space_conflict')
})

t.test('a missing source is space_required, whatever the Space header says', async (t) => {
  for (const lines of [[], ['Space: main']]) {
    t.equal(await ask('/query', ...lines), 'space_required')
    t.equal(await ask('/query?spaces=main', ...lines), 'space_required')
    t.equal(await ask('/query?SPACE=main', ...lines), 'space_required', 'in another case')
    t.equal(await ask('/header', ...lines), 'space_required')
    for (const host of ['[::1]', '10.0.0.1'])
      t.equal(await ask('/label', `Host: ${host}`, ...lines), 'space_required')
    t.equal(await ask('/deep', ...lines), 'space_required')
  }
  t.equal(await ask('/label', 'Host: box'), 'no_seat_in_space')
})

t.test('a query parameter that is sent twice, in any spelling, is refused', async (t) => {
  const before = world.upstream.seen.length
  const queries = [
    'space=main&space=main',
    'space=main&sp%61ce=other',
    'sp%61ce=main&space=other',
    '%73%70%61%63%65=main&space=main',
    'space=main&SPACE=other',
    'Space=other&space=main',
    'space=main&space[]=other',
    'space[]=other&space=main',
    'space[0]=other&space=main',
    'space%5B%5D=other&space=main',
    // Express (qs) and Rack leave out brackets that a name begins with, and Rack those that it ends with.
    'space=main&[space]=other',
    'space=main&%5Bspace%5D=other',
    'space=main&[[space=other',
    'space=main&space]=other',
    'space=main&]space=other',
    // qs with allowDots.
    'space=main&space.0=other',
    'space=main&space',
    'space=main&+space=other',
    'space=main&%20space=other',
    'space=main&space%00x=other',
    // LATIN SMALL LETTER LONG S: S in upper case. Java's equalsIgnoreCase compares so.
    'space=main&%C5%BFpace=other',
    'space=main&\xc5\xbfpace=other',
    'space=main&\xe2\x80\x83space=other',
    // A letter of full width: s where names are normalised (NFKC).
    'space=main&%EF%BD%93pace=other',
    'space=main;space=other',
    'a=b;space=other&space=main',
    'space=main&a=b;space=other',
    'a=b;space=main',
  ]
  for (const query of queries) t.equal(await ask(`/query?${query}`), 'request_malformed', query)
  // PHP writes `_` in place of a bracket that is not closed, of a dot and of a space.
  for (const name of ['org[id', 'org.id', 'org+id', 'org_id[', 'ORG[ID', 'org%5Bid'])
    t.equal(await ask(`/underscore?org_id=main&${name}=other`), 'request_malformed', name)
  t.equal(world.upstream.seen.length, before)
})

t.test('a parameter of another name is none of these spellings', async (t) => {
  for (const name of ['spaces', 'space_x', 'my[space]', 'my.space', 'space-x', '[spaces]'])
    t.equal(await ask(`/query?space=main&${name}=other`), '200 main', name)
})

t.test('a value that is no space id, or not decodable, is refused', async (t) => {
  const before = world.upstream.seen.length
  for (const value of [
    '',
    'a/b',
    'a%2Fb',
    'a%20b',
    'a+b',
    '%zz',
    '%',
    '%C3',
    '%2561',
    'a,b',
    '-a',
    '*',
    'main;x=1',
  ])
    t.equal(await ask(`/query?space=${value}`), 'request_malformed', value)
  t.equal(await ask('/query?%zz=1&space=main'), 'request_malformed', 'a name that is not decodable')
  t.equal(await ask('/query?\xc3=1&space=main'), 'request_malformed', 'in bytes')
  for (const value of ['a%20b', '%C3%A9', '-a', '*', 'a,b', 'a:b'])
    t.equal(await ask(`/o/${value}/a`), 'request_malformed', value)
  for (const value of ['a b', 'a:b', '', 'a/b'])
    t.equal(await ask('/header', `X-Org: ${value}`), 'request_malformed', value)
  t.equal(await ask('/label', 'Host: -a.apps.example'), 'request_malformed')
  t.equal(await ask('/fixed', 'Space: a b'), 'request_malformed', 'a malformed Space header')
  t.equal(await ask('/fixed', 'Space: main', 'Space: main'), 'request_malformed')
  t.equal(world.upstream.seen.length, before)
})

t.test('a header that is sent twice, or in another spelling, is refused', async (t) => {
  const before = world.upstream.seen.length
  t.equal(await ask('/header', 'X-Org: main', 'x-org: main'), 'request_malformed')
  t.equal(await ask('/header', 'X-Org: main,other'), 'request_malformed')
  t.equal(await ask('/header', 'X-Org: main', 'X_Org: other'), 'request_malformed')
  t.equal(await ask('/header', 'X.Org: main'), 'request_malformed')
  t.equal(world.upstream.seen.length, before)
})

t.test('tables without a source are as before', async (t) => {
  t.equal(await ask('/space?space=main'), 'space_required')
  t.equal(await ask('/space', 'X-Org: main'), 'space_required')
  t.equal(await ask('/space?space=other', 'Space: main'), '200 main')
  t.equal(await ask('/me'), '200 undefined')
})

t.test('the log has the space and where it was read from, never the query', async (t) => {
  const requests = () => world.log().filter((line) => line['msg'] === 'request')
  const before = requests().length
  await ask('/query?space=main&secret=x')
  await ask('/space', 'Space: main')
  const [query, header] = requests().slice(before)
  t.match(query, { space: 'main', space_by: 'query', path: '/query' })
  t.match(header, { space: 'main', space_by: undefined })
  t.notMatch(world.logText(), /secret/)
})
