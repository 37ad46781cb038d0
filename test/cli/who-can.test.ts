/** `seatgate who-can` and `seatgate can`, on the configured store and on a file of Seats. */

import { join } from 'node:path'
import t from 'tap'
import { openSqliteStore } from '../../seats-admin/index.ts'
import { CONFIG, folderWith, ROUTES, seatgate } from './command-line.ts'

const FILES = { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES }
const SEAT = { name: 'Viewer', spaces: ['main'], permissions: ['trainings:list'] }
const SEATS = {
  tenant: 'acme',
  seats: {
    Viewer: { spaces: ['main', 'dev'], permissions: ['trainings:list'] },
    Admin: { spaces: ['admin'], permissions: ['*'] },
  },
}

t.test('the store', async (t) => {
  const cwd = folderWith(t, FILES)
  const empty = await seatgate(cwd, ['who-can', 'GET', '/v1/trainings'])
  t.match(empty, { code: 0, err: /note: there is no store at/, out: /0 Seats, 0 API keys, 0 users/ })
  await seatgate(cwd, ['bootstrap', '--tenant', 'acme'])
  const store = await openSqliteStore({ path: join(cwd, 'seatgate.db') })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const writer = { tenant: 'acme', by: 'test', scope, now: Date.now() }
  const seat = await store.createSeat(writer, {
    name: 'Viewer\u001b[31m',
    spaces: ['main', 'dev'],
    permissions: ['trainings:list'],
  })
  if (!('value' in seat)) throw new Error(seat.detail)
  await store.recordSignIn('acme', { sub: 'ann', email: 'ann@acme.example', name: null, at: 0 }, [
    seat.value.id,
  ])
  const key = await store.createApiKey(writer, { name: 'ci', seats: [seat.value.name], expiresAt: null })
  if (!('value' in key)) throw new Error(key.detail)
  await store.close()

  const { code, out } = await seatgate(cwd, ['who-can', 'GET', '/v1/trainings'])
  t.equal(code, 0)
  t.match(out, 'GET /v1/trainings (routes/a.yaml:3) requires trainings:list\ntenant acme, in any space\n')
  t.match(
    out,
    '  "admin" in admin (holds *)\n  "Viewer\\u001b[31m" in main, dev\n',
    'nothing controls the terminal',
  )
  t.match(out, `  "ci" ${key.value.id} by "Viewer`)
  t.match(out, '  ann <ann@acme.example> by "Viewer')
  t.match(
    out.replaceAll('\n', ' '),
    /2 Seats, 2 API keys, 1 user\. Callers with tokens of other issuers are not known\. $/,
  )

  const json = JSON.parse(
    (await seatgate(cwd, ['who-can', 'GET', '/v1/trainings', '--space', 'dev', '--json'])).out,
  )
  t.same(json, {
    method: 'GET',
    path: '/v1/trainings',
    route: 'GET /v1/trainings',
    permission: 'trainings:list',
    tenant: 'acme',
    space: 'dev',
    seats: [{ id: seat.value.id, name: seat.value.name, spaces: ['dev'], by: 'permission' }],
    api_keys: [
      { id: key.value.id, name: 'ci', expires_at: null, last_used_at: null, seats: [seat.value.name] },
    ],
    users: [
      {
        sub: 'ann',
        email: 'ann@acme.example',
        last_sign_in: '1970-01-01T00:00:00.000Z',
        seats: [seat.value.name],
        blocked: false,
      },
    ],
  })
  for (const holder of [
    ['--user', 'ann'],
    ['--api-key-id', key.value.id],
    ['--seat', seat.value.name],
  ]) {
    const rows = JSON.parse((await seatgate(cwd, ['can', ...holder, '--json'])).out)
    t.match(rows[0], { method: 'GET', path: '/v1/trainings', space: 'dev', seat: seat.value.name })
    t.match(rows[1], { path: '/v1/trainings', space: 'main' })
    t.match(rows[2], { path: '/v1/me', permission: 'authenticated', space: null, seat: null })
  }
  t.match(await seatgate(cwd, ['can', '--user', 'eve']), {
    code: 1,
    out: '',
    err: /no sign-in of a user "eve"/,
  })
  t.match(await seatgate(cwd, ['can', '--api-key-id', 'x']), { code: 1, err: /has no API key x/ })
  t.match(await seatgate(cwd, ['can', '--seat', 'Editor']), { code: 1, err: /has no Seat "Editor"/ })
})

t.test('a blocked user', async (t) => {
  const cwd = folderWith(t, FILES)
  await seatgate(cwd, ['bootstrap', '--tenant', 'acme'])
  const store = await openSqliteStore({ path: join(cwd, 'seatgate.db') })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const writer = { tenant: 'acme', by: 'test', scope, now: Date.now() }
  const seat = await store.createSeat(writer, SEAT)
  if (!('value' in seat)) throw new Error(seat.detail)
  for (const sub of ['ann', 'ben'])
    await store.recordSignIn('acme', { sub, email: null, name: null, at: 0 }, [seat.value.id])
  await store.createBlock(writer, { user: 'ben', until: null, reason: null })
  await store.close()
  const who = await seatgate(cwd, ['who-can', 'GET', '/v1/trainings'])
  t.match(who.out, '  ann by "Viewer", 1970-01-01T00:00:00.000Z\n')
  t.match(who.out, '  ben by "Viewer", 1970-01-01T00:00:00.000Z, BLOCKED\n')
  const { users } = JSON.parse((await seatgate(cwd, ['who-can', 'GET', '/v1/trainings', '--json'])).out)
  t.match(users, [
    { sub: 'ann', blocked: false },
    { sub: 'ben', blocked: true },
  ])
  const can = await seatgate(cwd, ['can', '--user', 'ben'])
  t.match(can, { code: 0, err: /this user is blocked: all but public routes are refused/ })
  t.notMatch(can.out, /trainings:list|authenticated/)
  t.match(can.out, /public/)
  t.match(await seatgate(cwd, ['can', '--user', 'ann']), { err: '', out: /trainings:list/ })
})

t.test('a file, without variables and store', async (t) => {
  const cwd = folderWith(t, { ...FILES, 'seats.yaml': JSON.stringify(SEATS) })
  const run = (...args: string[]) => seatgate(cwd, [...args, '--seats', 'seats.yaml'], { ACME_SECRET: '' })
  const who = await run('who-can', '--permission', 'trainings:list', '--json')
  t.match(JSON.parse(who.out), {
    method: null,
    seats: [
      { name: 'Viewer', spaces: ['main', 'dev'], by: 'permission' },
      { name: 'Admin', spaces: ['admin'], by: '*' },
    ],
    api_keys: [],
    users: [],
  })
  t.match(who.err, 'API keys and users are not known')
  t.match(
    (await run('can', '--seat', 'Viewer')).out,
    'GET /v1/trainings  trainings:list → trainings  in dev, main\n',
  )
  const not = JSON.parse((await run('can', '--seat', 'Viewer', '--not', '--space', 'main', '--json')).out)
  t.ok(not.length > 5)
  t.ok(not.every(({ space, seat }: { space: string; seat: null }) => space === 'main' && seat === null))
  t.notOk(not.some(({ path }: { path: string }) => ['/v1/trainings', '/v1/me', '/docs/*'].includes(path)))
  t.match(await run('can', '--user', 'ann'), { code: 2, err: /need the store/ })
})

t.test('answers without a list', async (t) => {
  const cwd = folderWith(t, FILES)
  t.match(await seatgate(cwd, ['who-can', 'GET', '/v1/me']), { code: 0, out: /open to every caller/ })
  t.match(await seatgate(cwd, ['who-can', 'GET', '/docs/x']), { code: 0, out: /is public/ })
  t.match(await seatgate(cwd, ['who-can', 'GET', '/none']), { code: 3, out: /no route matches GET \/none/ })
  t.match(await seatgate(cwd, ['who-can', 'POST', '/v1/trainings']), { code: 3, out: /no route matches/ })
  t.match(await seatgate(cwd, ['who-can', 'GET', '/a/../b']), { code: 1, err: /path_ambiguous/ })
})

t.test('wrong usage', async (t) => {
  const cwd = folderWith(t, FILES)
  const cases: [args: string[], message: RegExp][] = [
    [['who-can'], /either METHOD and PATH, or --permission/],
    [['who-can', 'GET'], /either METHOD and PATH/],
    [['who-can', 'GET', '/x', '--permission', 'a:b'], /either METHOD and PATH/],
    [['who-can', '--permission', 'ab'], /not a permission/],
    [['who-can', 'GET', '/x', '--space', 'a b'], /not a space id/],
    [['can'], /one of --seat, --api-key-id and --user/],
    [['can', '--seat', 'A', '--user', 'b'], /exclude each other/],
    [['can', '--seat', 'A', '--space', ''], /not a space id/],
  ]
  for (const [args, message] of cases) {
    const { code, err, out } = await seatgate(cwd, args)
    t.equal(code, 2, args.join(' '))
    t.match(err, message)
    t.equal(out, '')
  }
  t.match(await seatgate(cwd, ['who-can', 'GET', '/x', '--tenant', 'none']), {
    code: 1,
    err: /has no tenant "none"/,
  })
})
