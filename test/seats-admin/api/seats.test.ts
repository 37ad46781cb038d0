import t from 'tap'
import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { inSpace } from '../store/conformance.ts'
import { until } from '../../support/until.ts'
import { KEY, KEYS, SEAT, SEATS, startApi, UNADMINISTERED } from './support.ts'

const VIEWER = { name: 'Viewer', spaces: ['one', 'two'], permissions: ['trainings:list', '*'] }
const START = '2030-01-01T00:00:00.000Z'

t.test('the endpoints and their required permissions', async (t) => {
  const { endpoints } = await startApi(t)
  t.same(
    endpoints.map(({ method, path, permission }) => [`${method} ${path}`, permission]),
    [
      [`POST ${SEATS}`, 'seats:create'],
      [`GET ${SEATS}`, 'seats:list'],
      [`GET ${SEAT}`, 'seats:read'],
      [`PUT ${SEAT}`, 'seats:update'],
      [`DELETE ${SEAT}`, 'seats:delete'],
      ['POST /v1/seats/plan', 'seats:read'],
      ['POST /v1/seats/apply', 'seats:update'],
      [`POST ${KEYS}`, 'api-keys:create'],
      [`GET ${KEYS}`, 'api-keys:list'],
      [`GET ${KEY}`, 'api-keys:read'],
      [`DELETE ${KEY}`, 'api-keys:delete'],
      ['GET /v1/users', 'users:list'],
      ['GET /v1/users/{sub}', 'users:read'],
      ['GET /v1/sessions', 'sessions:list'],
      ['DELETE /v1/sessions/{id}', 'sessions:delete'],
      ['POST /v1/blocks', 'blocks:create'],
      ['GET /v1/blocks', 'blocks:list'],
      ['DELETE /v1/blocks/{id}', 'blocks:delete'],
      ['POST /v1/grants', 'grants:create'],
      ['GET /v1/grants', 'grants:list'],
      ['DELETE /v1/grants/{id}', 'grants:delete'],
      ['POST /v1/revocations', 'revocations:create'],
      ['GET /v1/revocations', 'revocations:list'],
      ['GET /v1/revocations/{id}', 'revocations:list'],
      ['GET /v1/scim/comparison', 'users:list'],
      ['GET /v1/scim/unseen-users', 'users:list'],
      ['GET /v1/scim/groups', 'users:list'],
      ['GET /v1/scim/members', 'users:list'],
      ['GET /v1/audit', 'audit:list'],
    ],
  )
})

t.test('lifecycle of a Seat, with the exact fields of each response', async (t) => {
  const api = await startApi(t)
  const made = await api.call(`POST ${SEATS}`, { body: VIEWER })
  t.equal(made.status, 200)
  const { id } = made.body
  t.ok(isUlid(id))
  const created = { id, ...VIEWER, created_by: 'alice', created_at: START }
  t.strictSame(made.body, { ...created, warnings: UNADMINISTERED })
  t.strictSame(await api.body(`GET ${SEAT}`, { id }), { ...created, updated_at: START })
  const item = { id, ...VIEWER, member_count: 0, member_count_exact: false, created_at: START }
  t.strictSame(await api.body(`GET ${SEATS}`), { data: [item], has_more: false, count: 1 })

  api.clock += 1234
  const later = '2030-01-01T00:00:01.234Z'
  const updated = await api.call(`PUT ${SEAT}`, { id, by: 'bob', body: { permissions: [] } })
  const changed = { ...created, permissions: [], updated_by: 'bob', updated_at: later }
  t.equal(updated.status, 200)
  t.strictSame(updated.body, { ...changed, warnings: UNADMINISTERED })
  t.strictSame(await api.body(`GET ${SEAT}`, { id }), changed)

  api.clock += 1000
  const touched = await api.body(`PUT ${SEAT}`, { id, by: 'carol', body: {} })
  const touches = { updated_by: 'carol', updated_at: '2030-01-01T00:00:02.234Z', warnings: UNADMINISTERED }
  t.strictSame(touched, { ...changed, ...touches }, 'PUT {}')

  const gone = await api.call(`DELETE ${SEAT}`, { id })
  t.strictSame(gone, { status: 204, body: undefined, refused: null })
  for (const method of ['GET', 'PUT', 'DELETE']) {
    t.equal(
      (await api.call(`${method} ${SEAT}`, { id, body: {} })).refused?.refused,
      'seat_not_found',
      method,
    )
  }
})

t.test('an invalid id is not found', async (t) => {
  const api = await startApi(t)
  for (const id of ['', 'x', '../seats', '\ud800', 'a/b', 'x'.repeat(9000)]) {
    for (const [endpoint, code] of [
      [`GET ${SEAT}`, 'seat_not_found'],
      [`PUT ${SEAT}`, 'seat_not_found'],
      [`DELETE ${SEAT}`, 'seat_not_found'],
      [`GET ${KEY}`, 'api_key_not_found'],
      [`DELETE ${KEY}`, 'api_key_not_found'],
    ] as const) {
      t.equal((await api.call(endpoint, { id, body: {} })).refused?.refused, code)
    }
  }
})

t.test('a write is announced before its response; a refused write is not announced', async (t) => {
  const gate = Promise.withResolvers<void>()
  const api = await startApi(t, () => gate.promise)
  let answered = false
  const write = api.call(`POST ${SEATS}`, { body: VIEWER }).then((answer) => {
    answered = true
    return answer
  })
  await until(() => api.announced.length > 0, 'an announcement', { pause: 1 })
  t.equal((await api.store.seatByName('acme', 'Viewer')).value.seat?.name, 'Viewer', 'stored by then')
  t.notOk(answered)
  gate.resolve()
  const { id } = (await write).body
  const { head } = await api.store.changesSince(null)
  t.equal(head.seq, 2)
  t.strictSame(api.announced, [
    {
      ...head,
      changes: [
        { tenant: 'acme', kind: 'seat', key: id },
        { tenant: 'acme', kind: 'seat-name', key: 'Viewer' },
      ],
    },
  ])
  await api.call(`POST ${SEATS}`, { body: VIEWER })
  await api.call(`PUT ${SEAT}`, { id: 'x', body: {} })
  await api.call(`GET ${SEATS}`)
  t.equal(api.announced.length, 1)
  await api.call(`PUT ${SEAT}`, { id, body: {} })
  await api.call(`DELETE ${SEAT}`, { id })
  t.equal(api.announced.length, 3)
})

t.test('a write whose announcement fails gets no 2xx', async (t) => {
  const api = await startApi(t, () => Promise.reject(new Error('deaf')))
  await t.rejects(api.call(`POST ${SEATS}`, { body: VIEWER }), /deaf/)
})

t.test('an unavailable store is reported as such', async (t) => {
  const api = await startApi(t)
  await api.store.close()
  for (const endpoint of [`POST ${SEATS}`, `GET ${SEATS}`]) {
    await t.rejects(api.call(endpoint, { body: VIEWER }), { name: 'StoreUnavailable' }, endpoint)
  }
})

t.test('precedence: name taken, grant exceeded, not found', async (t) => {
  const api = await startApi(t)
  const { id } = await api.body(`POST ${SEATS}`, {
    body: { name: 'A', spaces: ['one'], permissions: ['a:b'] },
  })
  const far = await api.body(`POST ${SEATS}`, {
    body: { name: 'far', spaces: ['two'], permissions: ['a:b'] },
  })
  const scope = inSpace('one', 'a:b')
  const codeOf = async (endpoint: string, input: object) =>
    (await api.call(endpoint, { scope, ...input })).refused?.refused
  const seat = (name: string, permission = 'a:b') => ({ name, spaces: ['one'], permissions: [permission] })
  t.equal(await codeOf(`POST ${SEATS}`, { body: seat('A') }), 'seat_name_taken')
  t.equal(await codeOf(`POST ${SEATS}`, { body: seat('A', 'c:d') }), 'grant_exceeds_own')
  t.equal(await codeOf(`POST ${SEATS}`, { body: seat('A', 'nonsense') }), 'input_invalid')
  t.equal(
    await codeOf(`PUT ${SEAT}`, { id, body: { name: 'far' } }),
    'grant_exceeds_own',
    'by an invisible Seat',
  )
  t.equal(await codeOf(`GET ${SEAT}`, { id: far.id }), 'seat_not_found', 'an invisible Seat is not found')
  t.equal(await codeOf(`PUT ${SEAT}`, { id: far.id, body: {} }), 'seat_not_found')
  t.equal(await codeOf(`DELETE ${SEAT}`, { id: far.id }), 'seat_not_found')
  t.equal(await codeOf(`PUT ${SEAT}`, { id: 'x', body: {} }), 'seat_not_found')
  t.equal(await codeOf(`PUT ${SEAT}`, { id: 'x', body: { name: '' } }), 'input_invalid')
})

t.test('pages', async (t) => {
  const api = await startApi(t)
  for (let at = 0; at < 23; at++) {
    await api.body(`POST ${SEATS}`, { body: { name: `s${at}`, spaces: [], permissions: [] } })
  }
  const first = await api.body(`GET ${SEATS}`)
  t.match([first.count, first.has_more, first.data.length], [20, true, 20])
  const after = first.data[19].id
  await api.call(`DELETE ${SEAT}`, { id: after })
  const second = await api.body(`GET ${SEATS}`, { query: `after=${after}&limit=2` })
  t.same(
    second.data.map((each: { name: string }) => each.name),
    ['s20', 's21'],
  )
  t.match([second.count, second.has_more], [2, true])
  const last = await api.body(`GET ${SEATS}`, { query: `limit=100&after=${second.data[1].id}` })
  t.match([last.count, last.has_more, last.data[0].name], [1, false, 's22'])
})
