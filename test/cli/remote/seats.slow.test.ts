/** `seatgate seats`, `keys`, `users` and `audit list` from afar: what they do, and what they print. */

import t from 'tap'
import { startWorld } from '../../support/world.ts'
import { afar, signedIn } from './from-afar.ts'

const world = await startWorld(t)
const key = world.keys['acme'] ?? ''
const { done, run } = afar(t, world, key)

t.test('seats', async (t) => {
  t.match(
    await done('seats', 'create', 'Viewer', '--in', 'main', 'dev', '--permission', 'trainings:list'),
    /^created Viewer [0-9A-Z]{26}\n$/,
  )
  const [name = '', id = ''] =
    (await done('seats', 'list')).trimEnd().split('\n').slice(1).at(-1)?.split(/ +/) ?? []
  t.equal(name, 'Viewer')
  t.equal(id, 'main,')
  t.match(
    await done('seats', 'show', 'Viewer'),
    /^name {9}Viewer\nid {11}[0-9A-Z]{26}\nspaces {7}main, dev\n/,
  )
  await done('seats', 'update', 'Viewer', '--add', 'trainings:read', '--remove-in', 'dev')
  const seat = JSON.parse(await done('seats', 'show', 'Viewer', '--json'))
  t.match(seat, { spaces: ['main'], permissions: ['trainings:list', 'trainings:read'] })
  await done('seats', 'update', seat.id, '--name', 'Reader', '--permission', 'trainings:read')
  t.match(await run(['seats', 'show', 'Viewer']), {
    code: 1,
    err: /there is no Seat "Viewer" that this API key may see/,
  })
  t.match(await run(['seats', 'show', 'Raeder']), {
    code: 1,
    err: /\(did you mean "Reader"\?\): "seatgate seats list"/,
  })
  t.match(await run(['seats', 'update', 'Reader', '--remove', 'a:b']), { code: 1, err: /does not have a:b/ })
  t.match(await run(['seats', 'create', 'Reader']), {
    code: 1,
    out: '',
    err: /^seatgate seats create: Another Seat .* \(409 seat_name_taken, request [0-9a-f-]{36}\)\n$/,
  })
  t.match(await run(['seats', 'create', 'Odd', '--in', 'a b', '--permission', 'x']), {
    code: 1,
    err: /\(400 input_invalid, request .*\)\n {2}space 1 \("a b"\) .*\n {2}permission 1 \("x"\) .*\n$/,
  })
  t.match(await run(['seats', 'update', 'admin', '--permission', 'seats:list']), {
    code: 1,
    err: /nobody_administers[^]*needs --yes/,
  })
  t.match(await run(['seats', 'update', 'admin', '--permission', 'seats:list', '--yes']), {
    code: 1,
    err: /409 last_administrator/,
  })
  await done('seats', 'delete', 'Reader', '--yes')

  const history = await done('seats', 'show', 'Reader', '--history')
  t.equal(
    history
      .replaceAll(/^\d{4}-\d\d-\d\dT[\d:]+Z/gm, 'TIME')
      .replaceAll(/request [0-9a-f-]{36}/g, 'request ID')
      .replaceAll(/[0-9A-Z]{26}/g, 'KEY'),
    `TIME seat.create by bootstrap (KEY)
    request ID
  + name "Viewer"
  + space main
  + space dev
  + permission trainings:list
TIME seat.update by bootstrap (KEY)
    request ID
  - space dev
  + permission trainings:read
TIME seat.update by bootstrap (KEY)
    request ID
  - name "Viewer"
  + name "Reader"
  - permission trainings:list
TIME seat.delete by bootstrap (KEY)
    request ID
  - name "Reader"
  - space main
  - permission trainings:read
`,
  )
})

t.test('lists of several pages', async (t) => {
  for (let at = 0; at < 130; at++) await world.seat(`Role ${at}`, ['many'], ['a:b'])
  const lines = (await done('seats', 'list')).trimEnd().split('\n')
  t.equal(lines.length, 1 + 1 + 130)
  t.ok(lines.every((line) => line.length <= 80))
  const { data } = JSON.parse(await done('seats', 'list', '--json'))
  t.equal(data.length, 131)
  t.match(await done('seats', 'show', 'Role 129'), 'Role 129', 'found on the second page')
})

t.test('keys', async (t) => {
  const { code, out, err } = await run(['keys', 'create', 'nightly', '--seat', 'Role 1', '--expires', '90d'])
  t.equal(code, 0)
  t.match(out, /^sk_\S+\n$/, 'nothing but the key')
  t.match(err, /^created API key "nightly" [0-9A-Z]{26}, until 20/)
  const sent = { 'x-api-key': out.trim(), space: 'many' }
  t.equal((await world.client.send('GET', '/v1/me', sent)).status, 200)
  t.match(await done('keys', 'list'), /"?nightly +Role 1 +until 20\d\d-\d\d-\d\d/)
  await done('keys', 'create', 'nightly', '--seat', 'Role 2')
  t.match(await run(['keys', 'revoke', 'nightly']), {
    code: 1,
    err: /2 API keys are named "nightly": give an id\n {2}[0-9A-Z]{26}, created /,
  })
  const [first] = JSON.parse(await done('keys', 'list', '--json')).data.filter(
    ({ name }: { name: string }) => name === 'nightly',
  )
  await done('keys', 'revoke', first.id)
  t.equal((await world.client.send('GET', '/v1/me', sent)).status, 401)
  await done('keys', 'revoke', 'nightly')
  t.notMatch(await done('keys', 'list'), 'nightly')
  t.match(await done('keys', 'list', '--all'), /nightly +Role 2 +revoked 20/)
  t.match(await run(['keys', 'create', 'x', '--seat', 'None']), {
    code: 1,
    err: /Seat 1 \("None"\) is not the name of a Seat/,
  })
  t.match(await run(['keys', 'create', 'x', '--seat', 'Role 2', '--seat', 'Rolle 2']), {
    code: 1,
    err: /Seat 2 \("Rolle 2"\) is not the name of a Seat\n {2}"Rolle 2": \(did you mean "Role 2"/,
  })
})

t.test('users', async (t) => {
  const viewers = await world.seat('Viewer', ['main'], ['trainings:list'])
  await signedIn(
    world,
    { alice: 'alice@example.com', bob: 'bob@example.com', 'a\u001b[31m': 'x@example.com' },
    [viewers],
  )
  const listed = await done('users', 'list')
  t.match(listed, /\nbob +bob@example\.com +2026-11-01T00:00:00Z {2}Viewer\n/)
  t.notMatch(listed, '\u001b')
  t.equal(JSON.parse(await done('users', 'list', '--q', 'BOB', '--json')).data.length, 1)

  const token = await world.token(['main:Viewer'], { sub: 'alice' })
  const asked = async () => {
    const headers = { authorization: `Bearer ${token}`, space: 'main' }
    const { status, json } = await world.client.send('GET', '/v1/me', headers)
    return [status, json?.code]
  }
  t.match(await done('users', 'block', 'Alice@Example.com', '--reason', 'left'), 'blocked alice\n')
  t.match(await asked(), [403, 'caller_blocked'])
  t.match(await done('users', 'list', '--q', 'alice'), 'BLOCKED')
  t.match(await done('users', 'unblock', 'alice@example.com'), 'unblocked alice\n')
  t.match((await asked())[1], undefined)
  t.match(await run(['users', 'unblock', 'alice']), { code: 1, err: /"alice" is not blocked/ })
  const unknown = await run(['users', 'block', 'carol', '--until', '1h'])
  t.match(unknown, { code: 0, out: /^blocked carol until /, err: /no sign-in of "carol" is known/ })
  t.match(await run(['users', 'block', 'carol', '--until', '2020-01-01T00:00:00Z']), {
    code: 2,
    err: /in the past/,
  })
})

t.test('audit', async (t) => {
  const table = await done('audit', 'list', '--limit', '3')
  t.equal(table.trimEnd().split('\n').length, 5, 'names, entries, and that there are more')
  t.match(table, /block\.create +bootstrap +carol/)
  const { data, has_more } = JSON.parse(await done('audit', 'list', '--limit', '120', '--json'))
  t.equal(data.length, 120)
  t.equal(has_more, true)
  const deleted = JSON.parse(await done('audit', 'list', '--action', 'seat.delete', '--json'))
  t.match(deleted.data, [{ action: 'seat.delete', target: { name: 'Reader' } }])
})

t.test('the audit of a name', async (t) => {
  const seat = await world.seat('Audited', ['main'], [])
  await done('keys', 'create', 'audited key', '--seat', 'Audited')
  const actions = async (...args: string[]) =>
    JSON.parse(await done('audit', 'list', '--json', ...args)).data.map(
      ({ action, target }: { action: string; target: { name: string } }) => `${action} ${target.name}`,
    )
  t.same(await actions('--target', 'Audited'), ['seat.create Audited'])
  t.same(await actions('--target', seat), ['seat.create Audited'], 'or the id')
  t.same(await actions('--target', 'audited key'), ['api_key.create audited key'])
  t.match(await actions('--actor', 'bootstrap', '--limit', '1'), ['api_key.create audited key'])
  await signedIn(world, { 'idp|eve': 'eve@example.com' }, [])
  t.same(await actions('--actor', 'eve@example.com'), [])
  t.match(await run(['audit', 'list', '--target', 'None']), { code: 0, out: 'no entries\n', err: '' })
  await done('keys', 'create', 'audited key', '--seat', 'Audited')
  t.equal((await actions('--target', 'audited key')).length, 2, 'both keys of this name')
  await done('seats', 'delete', 'Audited', '--yes')
  t.same(
    await actions('--target', 'Audited'),
    ['seat.delete Audited', 'seat.create Audited'],
    'also once it is gone',
  )
  t.same(await actions('--target', 'Audited', '--since', '1h'), await actions('--target', 'Audited'))
  t.same(await actions('--target', 'Audited', '--until', '1h'), [])
  t.match(await run(['audit', 'list', '--since', 'yesterday']), {
    code: 2,
    err: /neither a duration such as 10m nor/,
  })
})

t.test('a user with a slash in the sub', async () => {
  const sub = 'auth0|team/ann'
  await signedIn(world, { [sub]: 'ann@example.com', 'auth0|team/ann2': 'ann2@example.com' }, [])
  const blocked = await run(['users', 'block', sub])
  t.same(blocked, { code: 0, out: `blocked ${sub}\n`, err: '' }, 'it is known')
  t.equal(await done('users', 'unblock', sub), `unblocked ${sub}\n`)
})
