/**
 * A hostile provider, or one with a stolen token: bodies and paths that two readers could take differently,
 * or that are large. Nothing of them takes effect, and the gateway goes on.
 */

import t, { type Test } from 'tap'
import { BASE, GLOBEX_TOKEN, startScim, TOKEN, USER } from '../scim/support.ts'
import { RawClient } from '../support/raw-client.ts'

const scim = await startScim(t)
const { world } = scim
const MiB = 1024 * 1024

const alice = await scim.user('alice')
const group = await scim.group('Viewer', [alice])

/** The state that no case changes. */
async function isAsBefore(t: Test, what: string): Promise<void> {
  const { json } = await scim.send('GET', '/Users?attributes=userName,active,externalId')
  t.match(json, { totalResults: 1, Resources: [{ id: alice, active: true, externalId: 'alice' }] }, what)
  t.same(await scim.members(group), [alice], what)
}

t.test('objects with the same member twice', async (t) => {
  for (const [path, method, body] of [
    [`/Users/${alice}`, 'PUT', '{"userName":"alice","active":true,"active":false}'],
    [`/Users/${alice}`, 'PUT', '{"userName":"alice","active":true,"Active":false}'],
    [`/Users/${alice}`, 'PUT', '{"userName":"alice","active":true,"\\u0061ctive":false}'],
    [
      `/Users/${alice}`,
      'PATCH',
      '{"Operations":[],"operations":[{"op":"replace","path":"active","value":false}]}',
    ],
    [
      `/Users/${alice}`,
      'PATCH',
      '{"Operations":[{"op":"add","Op":"remove","path":"externalId","value":"x"}]}',
    ],
    [`/Groups/${group}`, 'PUT', '{"displayName":"Viewer","members":[],"MEMBERS":null}'],
    [
      `/Groups/${group}`,
      'PATCH',
      `{"Operations":[{"op":"remove","path":"members","value":[{"value":"x","VALUE":"${alice}"}]}]}`,
    ],
    ['/Users', 'POST', '{"userName":"x","name":{"givenName":"a","GivenName":"b"}}'],
  ] as const)
    t.equal((await scim.send(method, path, body)).status, 400, body)
  await isAsBefore(t, 'nothing has changed')
})

t.test('names of prototypes are names', async (t) => {
  const before = Object.keys(Object.prototype).length
  const created = await scim.send(
    'POST',
    '/Users',
    '{"userName":"proto","__proto__":{"active":false,"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":{"__proto__":{"givenName":"x"}},"emails":[{"__proto__":{"value":"x"}}],"toString":"x"}',
  )
  t.match(created, { status: 201, json: { active: true, userName: 'proto' } })
  t.notMatch(created.body, /__proto__|polluted|constructor|toString|givenName|emails/)
  for (const path of [
    '__proto__',
    '__proto__.polluted',
    'constructor.prototype',
    'name.__proto__',
    'emails[__proto__ eq "x"].value',
  ])
    await scim.patch(`/Users/${created.json.id}`, { op: 'add', path, value: { polluted: 1 } })
  t.equal(Object.keys(Object.prototype).length, before)
  t.notOk('polluted' in {})
  t.equal((await scim.send('DELETE', `/Users/${created.json.id}`)).status, 204)
})

t.test('filters that would be wider elsewhere', async (t) => {
  for (const filter of [
    'userName eq "x" or userName pr',
    'userName eq "x" or "1" eq "1"',
    "userName eq 'x' or 1=1 --",
    'userName eq "x") or (userName pr',
    'userName eq "x"; userName pr',
    'userName eq "*"',
    'userName eq "%"',
    'userName eq "_lice"',
    'not (userName eq "x")',
    "userName eq \"x' OR '1'='1\"",
    'userName eq "\u0000"',
    'userName eq "\\u0000"',
    'userName eq "x" and',
    '',
    `${'('.repeat(2000)}userName eq "x"${')'.repeat(2000)}`,
    `userName eq "${'\\"'.repeat(2500)}"`,
    `userName eq "${'x'.repeat(2500)}`,
  ]) {
    const { status, json } = await scim.send('GET', `/Users?filter=${encodeURIComponent(filter)}`)
    if (status === 200) t.equal(json.totalResults, 0, filter)
    else t.ok(status === 400 || status === 414, filter.slice(0, 60))
  }
  for (const query of [
    'Filter=userName%20eq%20%22x%22',
    'filter=userName%20eq%20%22x%22&filter=',
    'filter[]=x',
    '%66ilter=userName+eq+%22x%22',
  ]) {
    const { status, json } = await scim.send('GET', `/Users?${query}`)
    t.ok(status === 400 || json.totalResults === 0, query)
  }
})

t.test('deep and malformed JSON', async (t) => {
  const depth = 5000
  for (const body of [
    '['.repeat(depth) + ']'.repeat(depth),
    `{"userName":"x","name":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`,
    '{"userName":"x"',
    '{"userName":"x"}}',
    '{"userName":"x",}',
    "{'userName':'x'}",
    'null',
    '[]',
    '"x"',
    '',
    '\ufeff{"userName":"x"}',
    '{"userName":"\\ud800"}',
    '{"userName":"a\\u0000b"}',
    '{"userName":["x"]}',
    '{"userName":{"toString":"x"}}',
    '{"userName":""}',
    `{"userName":"${'x'.repeat(300)}"}`,
    `{"userName":"x","title":"${'x'.repeat(300 * 1024)}"}`,
  ])
    t.equal((await scim.send('POST', '/Users', body)).status, 400, body.slice(0, 60))
  const broken = Buffer.concat([Buffer.from('{"userName":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' }
  t.equal((await world.client.send('POST', `${BASE}/Users`, headers, broken)).status, 400)
  await isAsBefore(t, 'nobody was made')
})

t.test('other types of content', async (t) => {
  for (const [type, status] of [
    ['application/json', 201],
    ['application/scim+json; charset=UTF-8', 201],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/json; charset=utf-16', 415],
    ['application/json, text/html', 415],
    ['application/xml', 415],
  ] as const) {
    const answer = await scim.send('POST', '/Users', { userName: 'typed' }, { 'content-type': type })
    t.equal(answer.status, status, type)
    t.equal(answer.headers['content-type'], 'application/scim+json')
    if (status === 201) await scim.send('DELETE', `/Users/${answer.json.id}`)
  }
  const coded = await scim.send('POST', '/Users', { userName: 'typed' }, { 'content-encoding': 'gzip' })
  t.equal(coded.status, 415)
})

t.test('paths', async (t) => {
  for (const id of [
    '..',
    '%2e%2e',
    '..%2fUsers',
    '%2e%2e%2f',
    '.',
    '%00',
    '%ff',
    `${alice}%2f`,
    `${alice};x`,
    `${alice}\\`,
  ]) {
    const { status } = await scim.send('GET', `/Users/${id}`)
    t.ok(status === 400 || status === 404, `${id}: ${status}`)
  }
  for (const id of [
    `${alice}%20`,
    alice.toLowerCase(),
    `${alice}x`,
    '*',
    "'%20or%20'1'='1",
    '__proto__',
    '%F0%9F%98%80',
  ])
    for (const [method, body] of [['GET'], ['PUT', { userName: 'x' }], ['DELETE']] as const)
      t.equal((await scim.send(method, `/Users/${id}`, body)).status, 404, `${method} ${id}`)
  await isAsBefore(t, 'nothing has changed')
})

t.test('ids of another tenant', async (t) => {
  const headers = { authorization: `Bearer ${GLOBEX_TOKEN}`, 'content-type': 'application/scim+json' }
  const send = (method: string, path: string, body?: object) =>
    world.client.send(
      method,
      `/scim/globex/v2${path}`,
      headers,
      body === undefined ? undefined : JSON.stringify(body),
    )
  const operation = { op: 'replace', path: 'active', value: false }
  for (const [method, path, body] of [
    ['GET', `/Users/${alice}`],
    ['PUT', `/Users/${alice}`, { userName: 'x', active: false }],
    ['PATCH', `/Users/${alice}`, { Operations: [operation] }],
    ['DELETE', `/Users/${alice}`],
    ['GET', `/Groups/${group}`],
    ['PUT', `/Groups/${group}`, { displayName: 'x', members: [] }],
    ['PATCH', `/Groups/${group}`, { Operations: [{ op: 'replace', path: 'members', value: [] }] }],
    ['DELETE', `/Groups/${group}`],
  ] as const)
    t.equal((await send(method, path, body)).status, 404, `${method} ${path}`)
  t.equal((await send('POST', '/Groups', { displayName: 'Viewer', members: [{ value: alice }] })).status, 400)
  const lists = [await send('GET', '/Users'), await send('GET', '/Groups')]
  t.same(
    lists.map(({ json }) => json.totalResults),
    [0, 0],
  )
  t.equal((await send('GET', `/Groups?filter=members.value%20eq%20%22${alice}%22`)).json.totalResults, 0)
  await isAsBefore(t, 'nothing has changed')
})

t.test('large bodies', async (t) => {
  const large = `{"userName":"x","title":"${'x'.repeat(8 * MiB)}"}`
  const tooLarge = await scim.send('POST', '/Users', large)
  t.match(tooLarge, { status: 413, json: { status: '413' } })
  const members = Array.from(
    { length: 100_001 },
    (_, at) => `01KAJ0Z1V5Q8T2C0W7M3${String(at).padStart(6, '0')}`,
  )
  const many = members.map((value) => ({ value }))
  t.match(await scim.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: many }), {
    status: 400,
    json: { scimType: 'invalidValue' },
  })
  const values = Array.from({ length: 50_000 }, (_, at) => ({ value: `${at}` }))
  t.equal((await scim.send('POST', '/Users', { userName: 'x', emails: values })).status, 400)
  const operations = Array.from({ length: 50_000 }, () => ({ op: 'add', path: 'title', value: 'x' }))
  t.equal((await scim.patch(`/Users/${alice}`, ...operations)).status, 400)
  const empty = `{"Operations":[${'{},'.repeat(300_000)}{}]}`
  t.equal(
    (await scim.send('PATCH', `/Users/${alice}`, empty)).status,
    400,
    'more objects than a group has members',
  )
  await isAsBefore(t, 'nothing has changed')
})

t.test('without the token, no body is read', async (t) => {
  const raw = new RawClient(world.port)
  const head = [
    `POST ${BASE}/Users HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${'x'.repeat(40)}`,
    'Content-Type: application/scim+json',
    `Content-Length: ${8 * MiB}`,
  ]
  raw.send(`${head.join('\r\n')}\r\n\r\n`)
  t.ok(await raw.until(/^HTTP\/1\.1 401 /), 'before a byte of the body was sent')
  raw.close()
})

t.test('a body that does not arrive', async (t) => {
  const { world: impatient } = await startScim(t, { top: ['limits: { body_timeout: 1s }'] })
  const raw = new RawClient(impatient.port)
  const head = [
    `POST ${BASE}/Users HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/scim+json',
    'Content-Length: 100',
  ]
  raw.send(`${head.join('\r\n')}\r\n\r\n{"userName":"slow"`)
  const answer = await raw.until('"detail"')
  t.match(answer, /^HTTP\/1\.1 408 /)
  t.match(answer, 'application/scim+json')
  raw.close()
})

t.test('a user with an attribute of the schema of groups, and the other way round', async (t) => {
  const GROUP_URN = 'urn:ietf:params:scim:schemas:core:2.0:Group'
  for (const [path, body] of [
    ['/Users', { schemas: [GROUP_URN], userName: 'x' }],
    ['/Groups', { schemas: [USER], displayName: 'x' }],
    ['/Users', { schemas: 'x', userName: 'x' }],
    ['/Users', { schemas: [], userName: 'x' }],
  ] as const)
    t.match(await scim.send('POST', path, body), { status: 400, json: { scimType: 'invalidSyntax' } })
})
