/** A change that leaves a tenant without an administrator: the warning of the gateway, and the question of the commands. */

import t from 'tap'
import { startWorld } from '../../support/world.ts'
import { afar, signedIn } from './from-afar.ts'

const CODE = 'nobody_administers'
const codes = (answer: { json: { warnings?: { code: string }[] } }) =>
  (answer.json.warnings ?? []).map(({ code }) => code)

t.test('the warning in the answers of writes and of plans', async (t) => {
  const world = await startWorld(t)
  const ask = (method: string, path: string, body?: unknown) => world.admin(method, path, body)
  const [own] = (await ask('GET', '/v1/api-keys')).json.data
  const [seat] = (await ask('GET', '/v1/seats')).json.data
  const second = { name: 'Second', spaces: ['admin'], permissions: ['*'] }
  t.same(codes(await ask('POST', '/v1/seats', second)), [], 'the key of the caller administrates')
  const plan = (body: object) => ask('POST', '/v1/seats/plan', body)
  t.same(codes(await plan({ seats: {}, revoke: [own.id] })), [CODE])
  t.same(codes(await plan({ seats: {}, revoke: ['nonsense\0'] })), [])
  const emptied = { admin: { spaces: ['admin'], permissions: ['seats:read'] } }
  t.same(codes(await plan({ seats: emptied })), [CODE], 'no one holds the other Seat')
  t.same(codes(await plan({ seats: { root: { ...second, name: undefined, was: 'admin' } } })), [], 'renamed')

  await signedIn(world, { ann: 'ann@example.com' }, [seat.id])
  t.same(codes(await plan({ seats: {}, revoke: [own.id] })), [], 'ann administrates')
  t.same(codes(await plan({ seats: {}, revoke: [own.id], block: ['ann'] })), [CODE])
  const block = await ask('POST', '/v1/blocks', { user: 'ann' })
  t.same(codes(block), [], 'the key is left')
  t.same(codes(await plan({ seats: {}, revoke: [own.id] })), [CODE], 'a blocked user is no administrator')

  // The other Seats that the caller needs for the rest.
  const rest = ['seats:create', 'seats:read', 'seats:update', 'api-keys:create', 'blocks:create']
  const left = await ask('PUT', `/v1/seats/${seat.id}`, { permissions: rest })
  t.match(left.json.warnings, [{ path: '', code: CODE, message: /seatgate bootstrap --tenant acme/ }])
  t.same(codes(await ask('POST', '/v1/seats', { name: 'C', spaces: [], permissions: [] })), [CODE])
  t.same(codes(await ask('POST', '/v1/api-keys', { name: 'k', seats: [] })), [CODE])
  t.same(codes(await ask('POST', '/v1/blocks', { user: 'eve' })), [CODE])
  t.same(codes(await ask('POST', '/v1/seats/apply', { seats: {} })), [CODE])
})

t.test('the warning in the answer of a file that takes the rights of the caller', async (t) => {
  const taking = [
    { seats: { admin: { spaces: ['main'], permissions: ['*'] } } },
    { seats: { Second: { spaces: ['admin'], permissions: ['*'] } }, prune: true },
  ]
  for (const file of taking) {
    const world = await startWorld(t)
    await world.seat('Second', ['admin'], ['*'])
    t.same(codes(await world.admin('POST', '/v1/seats/apply', file)), [CODE], 'no one holds the other Seat')
  }
})

t.test('outside the admin space nothing is said', async (t) => {
  const world = await startWorld(t)
  await world.seat('Manager', ['s1'], ['seats:create', 'seats:read', 'a:b'])
  const [own] = (await world.admin('GET', '/v1/api-keys')).json.data
  const headers = { authorization: `Bearer ${await world.token(['s1:Manager'])}`, space: 's1' }
  const sent = JSON.stringify({ seats: {}, revoke: [own.id] })
  const json = { ...headers, 'content-type': 'application/json' }
  t.same(codes(await world.client.send('POST', '/v1/seats/plan', json, sent)), [])
})

t.test('the commands ask, or need --yes', async (t) => {
  const world = await startWorld(t)
  const { run, done } = afar(t, world, world.keys['acme'] ?? '')
  const [own] = (await world.admin('GET', '/v1/api-keys')).json.data
  await done('seats', 'create', 'Second', '--in', 'admin', '--permission', '*')
  for (const args of [
    ['keys', 'revoke', own.id],
    ['seats', 'update', 'admin', '--remove', '*', '--add', 'seats:read'],
  ]) {
    const { code, err, out } = await run(args)
    t.match({ code, out }, { code: 1, out: '' }, args.join(' '))
    t.match(err, /warning: no API key in force[^]*\(nobody_administers\)/)
    t.match(err, 'nothing was written: it would leave no administrator, which needs --yes')
  }
  const deleting = await run(
    ['seats', 'delete', 'admin'],
    {},
    { ask: async (asked) => (asked.startsWith('Delete') ? 'yes' : null) },
  )
  t.match(deleting, {
    code: 1,
    err: /warning: no API key in force[^]*nothing was written: it would leave no/,
  })
  t.match((await world.admin('GET', '/v1/seats')).json.data, [{ name: 'admin', permissions: ['*'] }])
  await signedIn(world, { ann: 'ann@example.com' }, [(await world.admin('GET', '/v1/seats')).json.data[0].id])
  t.match(await run(['users', 'block', 'ann@example.com']), { code: 0 }, 'the key is left')
  t.match(await run(['keys', 'revoke', own.id, '--yes']), { code: 0, out: /revoked/ })
})

t.test('without the permission for plans a key is revoked all the same', async (t) => {
  const world = await startWorld(t)
  await world.seat('Revoker', ['admin'], ['api-keys:delete', 'api-keys:list', 'api-keys:read', 'a:b'])
  const made = (await world.admin('POST', '/v1/api-keys', { name: 'revoker', seats: ['Revoker'] })).json
  const { run } = afar(t, world, made.key)
  t.match(await run(['keys', 'revoke', made.id]), { code: 0, out: /revoked/ })
})
