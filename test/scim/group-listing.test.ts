/** The groups of SCIM, as administrators read them: `GET /v1/scim/groups` and `GET /v1/scim/members`. */

import t from 'tap'
import { startScim } from './support.ts'

const scim = await startScim(t, { acme: ['seats_from: scim'] })
const { world } = scim
const viewer = await world.seat('Viewer', ['main'], ['trainings:list'])
const ann = await scim.user('ann', { displayName: 'Ann A.' })
const off = await scim.user('off', { active: false })
const group = await scim.group('Viewer', [ann, off])
const none = await scim.group('Staff', [ann])

const read = async (query: string, by: 'groups' | 'members' = 'groups') =>
  (await world.admin('GET', `/v1/scim/${by}${query}`)).json

const VIEWER = {
  ...{ id: group, display_name: 'Viewer', member_count: 2, active_count: 1 },
  ...{ seat_id: viewer, gives_seat: true },
}
const STAFF = {
  ...{ id: none, display_name: 'Staff', member_count: 1, active_count: 1 },
  ...{ seat_id: null, gives_seat: false },
}

t.test('groups, with the Seats that they give', async (t) => {
  t.strictSame(await read(''), { data: [VIEWER, STAFF], has_more: false, count: 2 })
  t.strictSame(await read('?limit=1'), { data: [VIEWER], has_more: true, count: 1 })
  t.strictSame((await read(`?limit=1&after=${group}`)).data, [STAFF])
  t.strictSame((await read('?q=STA')).data, [STAFF])
  t.strictSame((await read(`?id=${group}`)).data, [VIEWER])
  t.strictSame((await read(`?id=${viewer}`)).data, [])
  for (const query of [`?id=${group}&q=a`, `?id=${group}&after=${none}`, '?id=Viewer', '?q=', '?member=ann'])
    t.equal((await read(query)).code, 'input_invalid', query)
})

t.test('members, with the users whom they are', async (t) => {
  const { data } = await read(`?group=${group}`, 'members')
  t.strictSame(data, [
    { id: ann, user_name: 'ann', display_name: 'Ann A.', active: true, users: ['ann'] },
    { id: off, user_name: 'off', display_name: null, active: false, users: ['off'] },
  ])
  const first = await read(`?group=${group}&limit=1`, 'members')
  t.match(first, { data: [{ id: ann }], has_more: true })
  t.match(await read(`?group=${group}&limit=1&after=${ann}`, 'members'), {
    data: [{ id: off }],
    has_more: false,
  })
  t.strictSame((await read(`?group=${viewer}`, 'members')).data, [], 'no group has this id')
  t.equal((await read('', 'members')).code, 'input_invalid')
})

t.test('nothing outside the admin space, and of a tenant without SCIM', async (t) => {
  await world.seat('Reader', ['main'], ['users:list'])
  const { key } = (await world.admin('POST', '/v1/api-keys', { name: 'reader', seats: ['Reader'] })).json
  for (const path of ['/v1/scim/groups', `/v1/scim/groups?id=${group}`, `/v1/scim/members?group=${group}`])
    t.match((await world.client.send('GET', path, { 'x-api-key': key, space: 'main' })).json, {
      data: [],
      has_more: false,
    })
  const token = { authorization: `Bearer scim-token-of-acme-scim-token-of-acme`, space: 'admin' }
  t.equal((await world.client.send('GET', '/v1/scim/groups', token)).status, 401, 'the token of the provider')
  const other = await startScim(t, { globex: false })
  const globex = { 'x-api-key': other.world.keys['globex'] ?? '', space: 'admin' }
  for (const path of ['/v1/scim/groups', `/v1/scim/members?group=${group}`])
    t.match(await other.world.client.send('GET', path, globex), {
      status: 404,
      json: { code: 'scim_not_configured' },
    })
  await other.group('Viewer')
  const [before] = (await other.world.admin('GET', '/v1/scim/groups')).json.data
  t.match(before, { seat_id: null, gives_seat: false })
  await other.world.seat('Viewer', ['main'], [])
  const [after] = (await other.world.admin('GET', '/v1/scim/groups')).json.data
  t.ok(after.seat_id)
  t.equal(after.gives_seat, false, 'the claim of the provider gives the Seats of this tenant')
})
