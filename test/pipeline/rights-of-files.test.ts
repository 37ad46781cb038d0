/** Files of Seats applied by callers with some rights: each change needs what its single write needs, and no more. */

import t from 'tap'
import { startWorld } from '../support/world.ts'

const VIEWER = { spaces: ['main'], permissions: ['trainings:list'] }
const MAIN_VIEWER = { Viewer: VIEWER }

t.test('a caller with seats:grant applies what its other rights allow', async (t) => {
  const world = await startWorld(t)
  await world.seat('Granter', ['admin'], ['seats:grant', 'seats:update'])
  await world.seat('Maker', ['admin'], ['seats:create'])
  await world.seat('Viewer', ['main'], [])
  const apply = async (seats: readonly string[], body: object) => {
    const headers = {
      authorization: `Bearer ${await world.token(seats.map((name) => `admin:${name}`))}`,
      space: 'admin',
      'content-type': 'application/json',
    }
    const { status, json } = await world.client.send('POST', '/v1/seats/apply', headers, JSON.stringify(body))
    return status === 200 ? json.changes.length : `${json.code} ${json.detail.match(/seats:\w+/)}`
  }
  t.equal(await apply(['Granter'], { seats: MAIN_VIEWER }), 1, 'an update')
  const two = { seats: { ...MAIN_VIEWER, Editor: { ...VIEWER, permissions: ['*'] } } }
  t.equal(await apply(['Granter'], two), 'permission_denied seats:create')
  t.equal(await apply(['Granter', 'Maker'], two), 1, 'a creation, by the right of a second Seat')
  t.equal(await apply(['Granter', 'Maker'], { ...two, prune: true }), 'permission_denied seats:delete')
})
