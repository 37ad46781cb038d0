/** `/v1/grants`. */

import t from 'tap'
import { inSpace } from '../store/conformance.ts'
import { type Api, SEAT, SEATS, startApi } from './support.ts'

const GRANTS = '/v1/grants'
const GRANT = '/v1/grants/{id}'
const HOUR = 3_600_000

function at(api: Api, milliseconds: number): string {
  return new Date(api.clock + milliseconds).toISOString()
}

async function seat(api: Api, name: string, spaces = ['main'], permissions = ['trainings:list']) {
  return (await api.body(`POST ${SEATS}`, { body: { name, spaces, permissions } })).id
}

t.test('a grant is announced before it is answered', async (t) => {
  const api = await startApi(t)
  const viewer = await seat(api, 'Viewer')
  const until = at(api, HOUR)
  const body = { user: 'eve', seat: 'Viewer', until, reason: 'on call' }
  const made = await api.body(`POST ${GRANTS}`, { body })
  const now = at(api, 0)
  t.same(made, {
    ...{ id: made.id, user: 'eve', seat: 'Viewer', seat_id: viewer, from: now, until, reason: 'on call' },
    ...{ created_by: 'alice', created_at: now },
  })
  t.same(api.announced.at(-1)?.changes, [{ tenant: 'acme', kind: 'grant', key: '"eve"' }])
  t.same(await api.body(`GET ${GRANTS}`), { data: [made], has_more: false, count: 1 })
  t.match(await api.body('GET /v1/users', {}), {
    data: [{ sub: 'eve', seats: [], grants: [{ id: made.id, seat: 'Viewer', until }], last_sign_in: null }],
  })
  await api.body(`PUT ${SEAT}`, { id: viewer, body: { name: 'Reader' } })
  t.match(await api.body(`GET ${GRANTS}`), { data: [{ seat: 'Reader', seat_id: viewer }] })
  const before = api.announced.length
  t.match(await api.call(`DELETE ${GRANT}`, { id: made.id }), { status: 204, refused: null })
  t.same(api.announced[before]?.changes, [{ tenant: 'acme', kind: 'grant', key: '"eve"' }])
  t.same((await api.body(`GET ${GRANTS}`)).data, [])
  t.match(await api.call(`DELETE ${GRANT}`, { id: made.id }), { refused: { refused: 'grant_not_found' } })
})

t.test('from and until', async (t) => {
  const api = await startApi(t)
  await seat(api, 'Viewer')
  const grant = { user: 'eve', seat: 'Viewer' }
  const create = async (times: object) => api.body(`POST ${GRANTS}`, { body: { ...grant, ...times } })
  const later = { from: at(api, HOUR), until: at(api, 2 * HOUR) }
  t.match(await create(later), later)
  for (const from of [null, at(api, -HOUR), '1970-01-01T00:00:00Z', at(api, 0)])
    t.equal((await create({ from, until: at(api, 1) })).from, at(api, 0), String(from))
  const elsewhere = '2030-01-01T03:00:00+02:00'
  t.equal((await create({ until: elsewhere })).until, '2030-01-01T01:00:00.000Z')
  const faults: [times: object, path: string][] = [
    [{}, '/until'],
    [{ until: null }, '/until'],
    [{ until: at(api, 0) }, '/until'],
    [{ until: at(api, -1) }, '/until'],
    [{ until: '2h' }, '/until'],
    [{ until: '2035-01-01' }, '/until'],
    [{ until: 7 }, '/until'],
    [{ until: at(api, HOUR), from: at(api, HOUR) }, '/until'],
    [{ until: at(api, HOUR), from: at(api, 2 * HOUR) }, '/until'],
    [{ until: at(api, HOUR), from: 'now' }, '/from'],
  ]
  for (const [times, path] of faults) {
    const { refused } = await api.call(`POST ${GRANTS}`, { body: { ...grant, ...times } })
    t.match(refused, { refused: 'input_invalid', faults: [{ path }] }, JSON.stringify(times))
  }
})

t.test('wrong bodies', async (t) => {
  const api = await startApi(t)
  await seat(api, 'Viewer')
  const grant = { user: 'eve', seat: 'Viewer', until: at(api, HOUR) }
  const announced = api.announced.length
  const cases: [body: unknown, path: string][] = [
    [undefined, ''],
    [{ ...grant, user: '' }, '/user'],
    [{ ...grant, user: 7 }, '/user'],
    [{ ...grant, user: 'x'.repeat(16 * 1024 + 1) }, '/user'],
    [{ ...grant, user: '\ud800' }, '/user'],
    [{ ...grant, seat: '' }, '/seat'],
    [{ ...grant, seat: 'Nothing' }, '/seat'],
    [{ ...grant, seat: 'viewer' }, '/seat'],
    [{ ...grant, seat: ['Viewer'] }, '/seat'],
    [{ ...grant, reason: 'x'.repeat(1025) }, '/reason'],
    [{ ...grant, for: '1h' }, '/for'],
  ]
  for (const [body, path] of cases) {
    const { refused } = await api.call(`POST ${GRANTS}`, { body })
    t.match(refused, { refused: 'input_invalid', faults: [{ path }] }, `${JSON.stringify(body)}`.slice(0, 99))
  }
  t.equal(api.announced.length, announced)
})

t.test('lists', async (t) => {
  const api = await startApi(t)
  const editor = await seat(api, 'Editor')
  await seat(api, 'Viewer')
  const user = 'a b+c&d'
  const grants = [
    { user, seat: 'Viewer', until: at(api, HOUR) },
    { user, seat: editor, until: at(api, 2 * HOUR) },
    { user: 'bob', seat: 'Viewer', until: at(api, 3 * HOUR) },
  ]
  const ids: string[] = []
  for (const body of grants) ids.push((await api.body(`POST ${GRANTS}`, { body })).id)
  const list = async (query: Record<string, string>) => {
    const { data } = await api.body(`GET ${GRANTS}`, { query: `${new URLSearchParams(query)}` })
    return data.map(({ id }: { id: string }) => ids.indexOf(id))
  }
  t.same(await list({}), [0, 1, 2])
  t.same(await list({ user }), [0, 1])
  t.same(await list({ user: 'nobody' }), [])
  t.same(await list({ seat: 'Viewer' }), [0, 2])
  t.same(await list({ seat: editor, user }), [1])
  t.same(await list({ seat: 'Nothing' }), [])
  t.same(await list({ ending_before: at(api, 2 * HOUR) }), [0])
  t.same(await list({ limit: '2' }), [0, 1])
  t.same(await list({ limit: '2', after: ids[1] ?? '' }), [2])
  for (const query of [
    'until=x',
    'user=',
    'seat=',
    'user=a&user=b',
    'ending_before=2h',
    'limit=0',
    'limit=101',
    'after=x',
    'limit=1&stray=1',
  ]) {
    const { refused } = await api.call(`GET ${GRANTS}`, { query })
    t.match(refused, { refused: 'input_invalid' }, query)
  }
})

t.test('outside the admin space, only the Seats of the space are granted and seen', async (t) => {
  const api = await startApi(t)
  await seat(api, 'Viewer')
  await seat(api, 'Owner', ['main'], ['*'])
  await seat(api, 'Lab', ['lab'])
  await seat(api, 'Both', ['main', 'lab'])
  const scope = inSpace('main', 'grants:create', 'trainings:list')
  const grant = async (named: string, as = scope) =>
    api.call(`POST ${GRANTS}`, { scope: as, body: { user: 'eve', seat: named, until: at(api, HOUR) } })
  const { body } = await grant('Viewer')
  t.match((await grant('Owner')).refused, { refused: 'grant_exceeds_own' })
  const missing = (await grant('Nothing')).refused
  t.match(missing, { refused: 'input_invalid', faults: [{ path: '/seat' }] })
  for (const hidden of ['Lab', 'Both']) t.same((await grant(hidden)).refused, missing, hidden)
  t.equal((await grant('Owner', inSpace('main', '*'))).status, 200)
  t.equal((await grant('Lab', inSpace('admin', '*'))).status, 200)
  const seats = async (as = scope) =>
    (await api.body(`GET ${GRANTS}`, { scope: as })).data.map((each: { seat: string }) => each.seat)
  t.same(await seats(), ['Viewer', 'Owner'])
  t.same(await seats(inSpace('lab', '*')), ['Lab'])
  t.same(await seats(inSpace('admin', '*')), ['Viewer', 'Owner', 'Lab'])
  for (const from of [{ scope: inSpace('lab', '*') }, { tenant: 'globex' }])
    t.match((await api.call(`DELETE ${GRANT}`, { ...from, id: body.id })).refused, {
      refused: 'grant_not_found',
    })
  const deletion = { scope: inSpace('main', 'grants:delete'), id: body.id }
  t.equal((await api.call(`DELETE ${GRANT}`, deletion)).status, 204, 'needs no permission of the Seat')
})

t.test('the audit lists grants', async (t) => {
  const api = await startApi(t)
  await seat(api, 'Viewer')
  const body = { user: 'eve', seat: 'Viewer', until: at(api, HOUR) }
  const { id } = await api.body(`POST ${GRANTS}`, { body })
  await api.call(`DELETE ${GRANT}`, { id })
  const { data } = await api.body('GET /v1/audit', { query: `target=${id}` })
  const target = { kind: 'grant', id, name: 'eve' }
  t.match(data, [
    { action: 'grant.delete', target, before: { id, seat: 'Viewer' }, after: null },
    { action: 'grant.create', target, before: null, after: { id, user: 'eve' } },
  ])
})
