import t from 'tap'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const files = { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES }

/** Of faults, and of warnings with their code. */
const placesIn = (err: string) =>
  err
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^(\S+?:\d+:\d+): .*?(?: \[(\w+)\])?$/, '$1 $2').trimEnd())

t.test('invalid usage is exit 2, with the usage on standard error', async (t) => {
  const cwd = folderWith(t, files)
  for (const args of [
    [],
    ['nonsense'],
    ['toString'],
    ['check', '--nonsense'],
    ['check', 'extra'],
    ['check', '--config'],
    ['routes', '--json=yes'],
    ['explain', 'GET'],
    ['explain', 'GET', '/', '--token', 'a', '--api-key', 'b'],
    ['explain', '', '/'],
    ['explain', 'GET', ''],
    ['token', '--tenant', 'acme'],
    ['token', '--tenant', 'acme', '--sub', 'a'],
    ['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'b', '--lifetime', 'soon'],
    ['bootstrap', 'acme'],
    ['bootstrap', '--tenant', ''],
    ['token', '--tenant', '', '--sub', 'a', '--seat', 'b'],
    ['start', '--port', '80'],
  ]) {
    const { code, out, err } = await seatgateHere(cwd, args)
    t.equal(code, 2, args.join(' '))
    t.equal(out, '')
    t.match(err, /usage: *\n? *seatgate/, args.join(' '))
    t.notMatch(err, /\n +at /, 'no stack')
  }
})

t.test('help is exit 0, on standard output', async (t) => {
  const cwd = folderWith(t, {})
  t.match(await seatgateHere(cwd, ['--help']), { code: 0, out: /^ {2}explain +Shows the decision/m, err: '' })
  t.match(await seatgateHere(cwd, ['explain', '--help']), { code: 0, out: /^usage: seatgate explain/ })
})

t.test('routes: the origins of a table with cors, beside its entries', async (t) => {
  const open = `cors: { origins: [HTTPS://App.example] }\nupstream: trainings\nroutes: { GET /open: public }\n`
  const { out, code } = await seatgateHere(folderWith(t, { ...files, 'routes/open.yaml': open }), [
    'routes',
    '--json',
  ])
  t.equal(code, 0)
  const rows: { path: string; cors?: string[] }[] = JSON.parse(out)
  const listed = rows.filter(({ cors }) => cors !== undefined).map(({ path, cors }) => [path, cors])
  t.same(listed, [['/open', ['https://app.example']]])
})

t.test('check: no errors, or all of them by position', async (t) => {
  const good = folderWith(t, files)
  t.match(await seatgateHere(good, ['check']), {
    code: 0,
    out: /no faults \(3 routes, 1 upstream\)/,
    err: '',
  })
  const bad = folderWith(t, {
    'gateway.config.yaml': CONFIG.replace('ops:', 'opps:'),
    'routes/trainings.yaml': `${ROUTES}  GET /v1/seats: seats:list\n  GET /docs/*: public2\n  GET /a//b: public\n`,
  })
  const { code, out, err } = await seatgateHere(bad, ['check'])
  t.equal(code, 1)
  t.equal(out, '')
  t.same(placesIn(err), [
    'gateway.config.yaml:2:1',
    'routes/trainings.yaml:6:3',
    'routes/trainings.yaml:7:3',
    'routes/trainings.yaml:8:3',
    'gateway.config.yaml: 4 faults',
  ])
})

t.test(
  'check: methods that fall back to an entry that requires less, and parameters of other routers',
  async (t) => {
    const table = `upstream: trainings
routes:
  GET /v1/admin/x: admin:x
  ANY /v1/*: public
  GET /v2/:id: x:y
`
    const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': table })
    const { code, err } = await seatgateHere(cwd, ['check'])
    t.equal(code, 0)
    t.same(placesIn(err), [
      'routes/trainings.yaml:3:3 wider_fallback',
      'routes/trainings.yaml:5:3 foreign_parameter',
    ])
    t.match(
      (await seatgateHere(cwd, ['explain', 'POST', '/v1/admin/x'])).out,
      /^allow\n/,
      'the fallback happens',
    )
  },
)

t.test('check: crossing entries are a warning', async (t) => {
  const cwd = folderWith(t, {
    ...files,
    'routes/more.yaml':
      'upstream: trainings\nroutes:\n  GET /v1/{x}/b: public\n  GET /v1/a/{y}: authenticated\n',
  })
  const { code, err } = await seatgateHere(cwd, ['check'])
  t.equal(code, 0)
  t.same(placesIn(err), ['routes/more.yaml:4:3 crossing_entries'])
})

t.test('check: a missing file', async (t) => {
  const { code, err } = await seatgateHere(folderWith(t, {}), ['check', '--config', 'nowhere.yaml'])
  t.equal(code, 1)
  t.match(err, /^nowhere\.yaml:1:1: /)
})

t.test('routes: the compiled table', async (t) => {
  const cwd = folderWith(t, files)
  const { code, out } = await seatgateHere(cwd, ['routes', '--json'])
  t.equal(code, 0)
  const rows = JSON.parse(out)
  t.same(rows[0], {
    method: 'GET',
    path: '/v1/trainings',
    permission: 'trainings:list',
    upstream: 'trainings',
    file: 'routes/trainings.yaml',
    line: 3,
  })
  t.match(
    (await seatgateHere(cwd, ['routes'])).out,
    /GET +\/v1\/trainings +trainings:list +trainings +routes\/trainings\.yaml:3/,
  )
})

t.test('bootstrap, token, explain', async (t) => {
  const cwd = folderWith(t, files)
  const made = await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme', '--json'])
  t.equal(made.code, 0, made.err)
  const { key } = JSON.parse(made.out)
  t.match(key, /^sk_[A-Za-z0-9]+$/)
  t.match(await seatgateHere(cwd, ['bootstrap', '--tenant', 'nobody']), {
    code: 1,
    err: /no tenant "nobody"/,
  })

  const token = await seatgateHere(cwd, ['token', '--tenant', 'acme', '--sub', 'alice', '--seat', 'admin'])
  t.match(token, { code: 0, out: /^[\w-]+\.[\w-]+\.[\w-]+\n$/ })
  const claims = JSON.parse(Buffer.from(token.out.split('.')[1] ?? '', 'base64url').toString())
  t.match(claims, {
    sub: 'alice',
    tenant_id: 'acme',
    is_sso: false,
    hash_perm: ['admin:admin'],
    exp: Number,
    iat: Number,
  })
  t.match(await seatgateHere(cwd, ['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'Nobody']), {
    code: 1,
    err: /no Seat "Nobody"/,
  })

  const explain = (...args: string[]) => seatgateHere(cwd, ['explain', ...args])
  const allowed = await explain('GET', '/v1/trainings', '--space', 'admin', '--api-key', key)
  t.equal(allowed.code, 0, allowed.err)
  t.match(allowed.out, /^allow\n/)
  t.match(allowed.out, /"admin" grants it/)
  const by = ['--tenant', 'acme', '--seat', 'admin']
  t.match((await explain('GET', '/v1/trainings', '--space', 'admin', ...by)).out, /^allow\n/)
  for (const caller of [by, ['--api-key', key]]) {
    const elsewhere = await explain('GET', '/v1/trainings', '--space', 's1', ...caller)
    t.match(elsewhere.out, /^no_seat_in_space\n[\s\S]*^ {2}granted in {2}admin$/m)
  }
  t.match(
    (await explain('GET', '/v1/trainings', '--space', 'admin', '--token', token.out.trim())).out,
    /^allow\n/,
  )
  t.match((await explain('GET', '/v1/trainings', '--space', 'admin', '--token', 'x')).out, /^token_invalid\n/)
  t.match((await explain('GET', '/nowhere')).out, /^route_not_found\n/)
  t.match((await explain('GET', '/docs/a')).out, /^allow\n/)
  t.match((await explain('GET', '/v1/%2e%2e/admin')).out, /^path_ambiguous\n/)
  const record = JSON.parse((await explain('GET', '/v1/trainings', '--space', 'admin', '--json', ...by)).out)
  t.match(record, {
    answer: 'allow',
    code: 'allow',
    route: { id: 'GET /v1/trainings', place: { file: 'routes/trainings.yaml', line: 3 } },
    permission: 'trainings:list',
    space: 'admin',
    principal: { tenant: 'acme', method: 'bearer' },
    seats: [{ name: 'admin', verdict: 'grants' }],
    timings: { match: Number },
  })
})
