/**
 * An administrator of one space probes for Seats and keys of other spaces: each response equals the response for a
 * missing one.
 */

import t from 'tap'
import type { Answer } from '../support/client.ts'
import { startWorld } from '../support/world.ts'

const RIGHTS = ['seats:create', 'seats:read', 'seats:update', 'seats:delete', 'seats:grant']
const KEY_RIGHTS = ['api-keys:create', 'api-keys:read', 'api-keys:delete']
const NONE = '01ARZ3NDEKTSV4RRFFQ69G5FAV'

/** A response without the parts that differ between any two responses. */
function comparable({ status, json, headers }: Answer): unknown {
  const { request_id: _id, ...problem } = json
  const { date: _date, 'x-request-id': _request, ...fields } = headers
  return { status, problem, fields }
}

t.test('Seats, names and keys of other spaces', async (t) => {
  const world = await startWorld(t)
  await world.seat('Local', ['s1'], [...RIGHTS, ...KEY_RIGHTS])
  const mine = await world.seat('Mine', ['s1'], ['a:b'])
  const hidden = {
    Far: await world.seat('Far', ['s2'], ['a:b']),
    Wide: await world.seat('Wide', ['s1', 's2'], ['a:b']),
    Nowhere: await world.seat('Nowhere', [], []),
  }
  const keyOf = async (seats: string[]) =>
    (await world.admin('POST', '/v1/api-keys', { name: 'k', seats })).json.id
  const keys = [await keyOf(['Far']), await keyOf(['Mine', 'Far']), await keyOf(['Wide']), await keyOf([])]
  const bearer = { authorization: `Bearer ${await world.token(['s1:Local'])}`, space: 's1' }
  const ask = async (method: string, path: string, body?: unknown) => {
    if (body === undefined) return comparable(await world.client.send(method, path, bearer))
    const headers = { ...bearer, 'content-type': 'application/json' }
    return comparable(await world.client.send(method, path, headers, JSON.stringify(body)))
  }

  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', {}],
    ['PUT', { name: 'Far' }],
    ['PUT', { spaces: ['s1'] }],
    ['PUT', { permissions: ['*'] }],
    ['DELETE', undefined],
  ] as const) {
    const nothing = await ask(method, `/v1/seats/${NONE}`, body)
    t.match(nothing, { status: 404, problem: { code: 'seat_not_found' } })
    for (const [name, id] of Object.entries(hidden))
      t.strictSame(await ask(method, `/v1/seats/${id}`, body), nothing, `${method} ${name}`)
  }
  for (const method of ['GET', 'DELETE']) {
    const nothing = await ask(method, `/v1/api-keys/${NONE}`)
    t.match(nothing, { status: 404, problem: { code: 'api_key_not_found' } })
    for (const id of keys) t.strictSame(await ask(method, `/v1/api-keys/${id}`), nothing, `${method} a key`)
  }
  const nothing = await ask('POST', '/v1/api-keys', { name: 'k', seats: ['Mine', 'None'] })
  t.match(nothing, { status: 400, problem: { code: 'input_invalid', errors: [{ path: '/seats/1' }] } })
  for (const name of Object.keys(hidden))
    t.strictSame(await ask('POST', '/v1/api-keys', { name: 'k', seats: ['Mine', name] }), nothing, name)

  const make = (name: string, spaces = ['s1']) =>
    ask('POST', '/v1/seats', { name, spaces, permissions: ['a:b'] })
  const exceeding = await make('Free', ['s2'])
  t.match(exceeding, { status: 403, problem: { code: 'grant_exceeds_own' } })
  for (const name of Object.keys(hidden)) {
    t.strictSame(await make(name), exceeding, `another ${name}`)
    t.strictSame(await ask('PUT', `/v1/seats/${mine}`, { name }), exceeding, `renamed to ${name}`)
  }
  t.match(
    await make('Mine'),
    { status: 409, problem: { code: 'seat_name_taken' } },
    'resources that the administrator may see get their own responses',
  )
  t.match(await make('Free'), { status: 200 })
  const all = (await world.admin('GET', '/v1/seats')).json.data.map((each: { name: string }) => each.name)
  t.same(all, ['admin', 'Local', 'Mine', 'Far', 'Wide', 'Nowhere', 'Free'])
})

t.test('the last administrator cannot be removed, by itself or by another', async (t) => {
  const world = await startWorld(t)
  const { data } = (await world.admin('GET', '/v1/seats')).json
  const path = `/v1/seats/${data[0].id}`
  for (const body of [{ permissions: [] }, { spaces: ['s1'] }, { permissions: ['seats:update'] }]) {
    const answer = await world.admin('PUT', path, body)
    t.match(answer, { status: 409, json: { code: 'last_administrator' } }, JSON.stringify(body))
  }
  t.match(await world.admin('DELETE', path), { status: 409, json: { code: 'last_administrator' } })
  t.equal((await world.admin('PUT', path, { name: 'root' })).status, 200)
  await world.seat('Second', ['admin'], ['seats:update', 'seats:grant'])
  t.equal((await world.admin('DELETE', path)).status, 204)
})
