/** `seatgate who-can` and `seatgate can`, on the configured store and on a file of Seats. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bootstrapTenant, openSqliteStore } from '../../seats-admin/index.ts'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const FILES = { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES }

const SEAT = { name: 'Viewer', spaces: ['main'], permissions: ['trainings:list'] }

interface Stored {
  readonly cwd: string
  readonly seat: string
  readonly key: string
  /** The API key that `ben` owns. */
  readonly ofBlocked: string
  /** The grant of `gil`, until 2099. */
  readonly grant: string
}

const NAME = 'Viewer\u001b[31m'

/** The first Seat and its key; another one, which `ann`, `ben` and a key of each hold. `ben` is blocked. */
async function storedHolders(t: Test): Promise<Stored> {
  const cwd = folderWith(t, FILES)
  const store = await openSqliteStore({ path: join(cwd, 'seatgate.db'), timeout: 60_000 })
  const now = Date.now()
  await bootstrapTenant(store, { tenant: 'acme', adminSpace: 'admin', now })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const writer = { tenant: 'acme', by: 'test', scope, now }
  const seat = await store.createSeat(writer, { ...SEAT, name: NAME, spaces: ['main', 'dev'] })
  if (!('value' in seat)) throw new Error(seat.detail)
  const { id } = seat.value
  await store.recordSignIn('acme', { sub: 'ann', email: 'ann@acme.example', name: null, at: 0 }, [id])
  await store.recordSignIn('acme', { sub: 'ben', email: null, name: null, at: 0 }, [id])
  const until = Date.UTC(2099, 0, 1)
  const grant = await store.createGrant(writer, { user: 'gil', seat: id, from: null, until, reason: null })
  if (!('value' in grant)) throw new Error(grant.detail)
  await store.createBlock(writer, { user: 'ben', until: null, reason: null })
  const [key = '', ofBlocked = ''] = await Promise.all(
    ['ann', 'ben'].map(async (owner) => {
      const made = await store.createApiKey(writer, { name: 'ci', seats: [NAME], expiresAt: null, owner })
      if (!('value' in made)) throw new Error(made.detail)
      return made.value.id
    }),
  )
  await store.close()
  return { cwd, seat: id, key, ofBlocked, grant: grant.value.id }
}

const SEATS = {
  tenant: 'acme',
  seats: {
    Viewer: { spaces: ['main', 'dev'], permissions: ['trainings:list'] },
    Admin: { spaces: ['admin'], permissions: ['*'] },
  },
}

t.test('no store yet', async (t) => {
  const empty = await seatgateHere(folderWith(t, FILES), ['who-can', 'GET', '/v1/trainings'])
  t.match(empty, { code: 0, err: /note: there is no store at/, out: /0 Seats, 0 API keys, 0 users/ })
})

t.test('the store', async (t) => {
  const { cwd, seat, key, ofBlocked, grant } = await storedHolders(t)

  const { code, out } = await seatgateHere(cwd, ['who-can', 'GET', '/v1/trainings'])
  t.equal(code, 0)
  t.match(out, 'GET /v1/trainings (routes/a.yaml:3) requires trainings:list\ntenant acme, in any space\n')
  t.match(
    out,
    '  "admin" in admin (holds *)\n  "Viewer\\u001b[31m" in main, dev\n',
    'nothing controls the terminal',
  )
  t.match(out, new RegExp(`^ {2}"ci" ${key} by "Viewer.*", owned by ann$`, 'm'))
  t.notMatch(out, ofBlocked, 'requests by the key of a blocked owner are refused')
  t.match(out, '  ann <ann@acme.example> by "Viewer')
  t.match(out, /^ {2}ann .*1970-01-01T00:00:00.000Z$/m)
  t.match(out, /^ {2}gil by "Viewer\\u001b\[31m" until 2099-01-01T00:00:00Z$/m)
  t.match(out, /^ {2}ben by "Viewer.*1970-01-01T00:00:00.000Z, BLOCKED$/m)
  t.match(
    out.replaceAll('\n', ' '),
    /2 Seats, 2 API keys, 3 users\. The users are not exact\. Callers with tokens of other issuers are not known\. $/,
  )

  const json = JSON.parse(
    (await seatgateHere(cwd, ['who-can', 'GET', '/v1/trainings', '--space', 'dev', '--json'])).out,
  )
  const user = { last_sign_in: '1970-01-01T00:00:00.000Z', seats: [NAME] }
  t.same(json, {
    method: 'GET',
    path: '/v1/trainings',
    route: 'GET /v1/trainings',
    permission: 'trainings:list',
    tenant: 'acme',
    space: 'dev',
    exact: false,
    seats: [{ id: seat, name: NAME, spaces: ['dev'], by: 'permission' }],
    api_keys: [{ id: key, name: 'ci', owner: 'ann', expires_at: null, last_used_at: null, seats: [NAME] }],
    users: [
      { ...user, sub: 'ann', email: 'ann@acme.example', blocked: false },
      { ...user, sub: 'ben', email: null, blocked: true },
      {
        ...{ sub: 'gil', email: null, last_sign_in: null, seats: [NAME], blocked: false },
        grants: [{ id: grant, seat: NAME, until: '2099-01-01T00:00:00.000Z' }],
      },
    ],
  })
  for (const holder of [
    ['--user', 'ann'],
    ['--api-key-id', key],
    ['--seat', NAME],
  ]) {
    const can = await seatgateHere(cwd, ['can', ...holder, '--json'])
    t.equal(can.err, '')
    const rows = JSON.parse(can.out)
    t.match(rows[0], { method: 'GET', path: '/v1/trainings', space: 'dev', seat: NAME })
    for (const { exact } of rows) t.equal(exact, holder[0] !== '--user')
    t.match(rows[1], { path: '/v1/trainings', space: 'main' })
    t.match(rows[2], { path: '/v1/me', permission: 'authenticated', space: null, seat: null })
  }
  const refused = await seatgateHere(cwd, ['can', '--api-key-id', ofBlocked])
  t.match(refused.err, 'this API key is owned by a blocked user: all but public routes are refused')
  t.notMatch(refused.out, '/v1/trainings')
  for (const [option, none, err] of [
    ['--user', 'eve', /no sign-in of a user "eve"/],
    ['--api-key-id', 'x', /has no API key x/],
    ['--seat', 'Editor', /has no Seat "Editor"$/m],
    ['--seat', 'Admim', /has no Seat "Admim" \(did you mean "admin"\?\)/],
    ['--user', 'bem', /no sign-in of a user "bem" at tenant acme is known \(did you mean "ben"\?\); tokens/],
  ] as const)
    t.match(await seatgateHere(cwd, ['can', option, none]), { code: 1, out: '', err })
  const token = ['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'admni']
  t.match(await seatgateHere(cwd, token), {
    code: 1,
    out: '',
    err: /tenant acme has no Seat "admni" \(did you mean "admin"\?\)/,
  })
  const ofAnn = await seatgateHere(cwd, ['can', '--user', 'ann'])
  t.same(await seatgateHere(cwd, ['can', '--user', 'Ann@acme.example']), ofAnn, 'an address is its user')
  const granted = await seatgateHere(cwd, ['can', '--user', 'gil'])
  t.match(granted.out, /^GET \/v1\/trainings {2}.* {2}in dev, main {2}until 2099-01-01T00:00:00Z$/m)
  const blocked = await seatgateHere(cwd, ['can', '--user', 'ben'])
  t.match(blocked, { code: 0, err: /this user is blocked: all but public routes are refused/ })
  t.notMatch(blocked.out, /trainings:list|authenticated/)
  t.match(blocked.out, /public/)
})

t.test('a file, without variables and store', async (t) => {
  const cwd = folderWith(t, { ...FILES, 'seats.yaml': JSON.stringify(SEATS) })
  const run = (...args: string[]) =>
    seatgateHere(cwd, [...args, '--seats', 'seats.yaml'], { ACME_SECRET: '' })
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
  t.match(await run('can', '--seat', 'Viewr'), {
    code: 1,
    err: /no Seat "Viewr" \(did you mean "Viewer"\?\)/,
  })
})

t.test('answers without a list', async (t) => {
  const cwd = folderWith(t, { ...FILES, 'seats.yaml': JSON.stringify(SEATS) })
  const who = (method: string, path: string) =>
    seatgateHere(cwd, ['who-can', method, path, '--seats', 'seats.yaml'])
  const stored = await seatgateHere(cwd, ['who-can', 'GET', '/v1/me'])
  t.match(stored, { code: 0, out: /open to every caller/ })
  t.match(await who('GET', '/v1/me'), { code: 0, out: /open to every caller/ })
  t.match(await who('GET', '/docs/x'), { code: 0, out: /is public/ })
  t.match(await who('GET', '/none'), { code: 3, out: /no route matches GET \/none/ })
  t.match(await who('POST', '/v1/trainings'), { code: 3, out: /no route matches/ })
  t.match(await who('GET', '/a/../b'), { code: 1, err: /path_ambiguous/ })
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
    const { code, err, out } = await seatgateHere(cwd, args)
    t.equal(code, 2, args.join(' '))
    t.match(err, message)
    t.equal(out, '')
  }
  t.match(await seatgateHere(cwd, ['who-can', 'GET', '/x', '--tenant', 'none']), {
    code: 1,
    err: /has no tenant "none"/,
  })
})
