/** Commands that show or ask tables by host. */

import t from 'tap'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const NAMED = `hosts: [api.example, "*.api.example"]
prefix: /code
strip_prefix: true
space: { host_label: 1 }
upstream: trainings
routes: { GET /a: code:read }
`
const FILES = { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES }
const SEATS = 'tenant: acme\nseats: { Coder: { spaces: [main, dev], permissions: [code:read] } }\n'

t.test('routes: a column and a member for hosts, only where there are some', async (t) => {
  const plain = folderWith(t, FILES)
  const [row] = JSON.parse((await seatgateHere(plain, ['routes', '--json'])).out)
  t.notOk('host' in row)
  const cwd = folderWith(t, { ...FILES, 'routes/b.yaml': NAMED })
  const rows = JSON.parse((await seatgateHere(cwd, ['routes', '--json'])).out)
  t.match(rows[0], { host: null, path: '/v1/trainings' })
  const named = rows.find(({ permission }: { permission: string }) => permission === 'code:read')
  t.match(named, { host: 'api.example,*.api.example', path: '/code/a', method: 'GET' })
  const { out } = await seatgateHere(cwd, ['routes', '--permission', 'code:read'])
  t.match(out, /^GET +api\.example,\*\.api\.example +\/code\/a +code:read/)
})

t.test('explain --host', async (t) => {
  const cwd = folderWith(t, { ...FILES, 'routes/b.yaml': NAMED })
  const explain = (...args: string[]) => seatgateHere(cwd, ['explain', 'GET', '/code/a', ...args])
  const missing = await explain()
  t.match(missing, { out: /^route_not_found/, err: /--host names one/ })
  const caller = ['--tenant', 'acme', '--seat', 'Coder']
  const found = await explain('--host', 'Main.api.example:443', ...caller)
  t.match(
    found.out,
    /^no_seat_in_space[^]*GET api\.example\+1\/code\/a → trainings \(routes\/b\.yaml:6\)[^]*space +main/,
  )
  t.match((await explain('--host', 'main.api.example', '--space', 'dev', ...caller)).out, /^space_conflict/)
  t.match((await explain('--host', 'a b')).out, /^request_malformed/)
  t.match((await explain('--host', '%61pi.example')).out, /^request_malformed/)
})

t.test('answers name the host, and commands say that tables name hosts', async (t) => {
  const logged = (host: string | null) =>
    `${JSON.stringify({ time: '2026-01-05T00:00:01.000Z', request_id: host ?? 'none', method: 'GET', path: '/code/a', host, status: 404, code: 'route_not_found', msg: 'request' })}\n`
  const log = logged('elsewhere.example') + logged(null)
  const cwd = folderWith(t, { ...FILES, 'routes/b.yaml': NAMED, 'seats.yaml': SEATS, log })
  t.equal((await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])).code, 0)
  const note = /^note: route tables name hosts, and th/m
  const run = (...args: string[]) => seatgateHere(cwd, args)
  t.match(await run('explain', 'GET', '/code/a', '--host', 'Elsewhere.example:80'), {
    out: /^route_not_found\s+No entry of the route table matches this path at elsewhere\.example\./,
  })
  t.match(await run('explain', 'POST', '/code/a', '--host', 'a.api.example'), {
    out: /^method_not_allowed\s+This path at a\.api\.example takes GET/,
  })
  t.match(await run('explain', '--from', 'log', 'elsewhere.example'), {
    out: /at elsewhere\.example/,
    err: '',
  })
  t.match(await run('explain', '--from', 'log', 'none'), { out: /this path\./, err: note })
  t.match(await run('who-can', 'GET', '/code/a', '--seats', 'seats.yaml'), { code: 3, err: note })
  const known = await run('who-can', 'GET', '/code/a', '--host', 'a.api.example', '--seats', 'seats.yaml')
  t.notMatch(known.err, note)
})

t.test('who-can --host, can, test and diff', async (t) => {
  const policy = `${SEATS}cases:
  - { request: "GET /code/a", host: main.api.example, seats: [Coder], expect: allow }
  - { request: "GET /code/a", host: other.api.example, seats: [Coder], expect: no_seat_in_space }
assert:
  - { host: "*.api.example", only: [Coder], may: "ANY /**" }
  - { only: [], may: "GET /code/a" }
`
  const cwd = folderWith(t, { ...FILES, 'routes/b.yaml': NAMED, 'policy.yaml': policy, 'seats.yaml': SEATS })
  const seats = ['--seats', 'seats.yaml']
  const who = await seatgateHere(cwd, [
    'who-can',
    'GET',
    '/code/a',
    '--host',
    'dev.api.example',
    '--json',
    ...seats,
  ])
  t.match(JSON.parse(who.out), {
    host: 'dev.api.example',
    space: 'dev',
    seats: [{ name: 'Coder', spaces: ['dev'] }],
  })
  const can = await seatgateHere(cwd, ['can', '--seat', 'Coder', '--json', ...seats])
  const rows = JSON.parse(can.out).filter(({ seat }: { seat: string | null }) => seat !== null)
  t.match(rows[0], { host: 'api.example,*.api.example', path: '/code/a', space: 'dev' })
  const tested = await seatgateHere(cwd, ['test', 'policy.yaml', '--format', 'json'])
  t.match(JSON.parse(tested.out), {
    passed: 3,
    failed: 1,
    cases: [{ host: 'main.api.example' }, {}],
    assertions: [
      { ok: true },
      { ok: false, counterexample: { request: 'GET /code/a', host: 'api.example' } },
    ],
  })
  const before = folderWith(t, FILES)
  const diff = await seatgateHere(cwd, ['diff', before, '.'])
  t.equal(diff.code, 3)
  t.match(diff.out, /^added {2}GET api\.example,\*\.api\.example\/code\/a\n/)
  t.match(diff.out, /code:read → trainings, space: host_label 1, without \/code \(routes\/b\.yaml:6\)/)
  t.match(diff.out, / e\.g\. GET api\.example\/code\/a/)
})

t.test('assertions take hosts as routes and diff print them, and one host of several', async (t) => {
  const open = 'hosts: [docs.example]\nupstream: trainings\nroutes: { GET /a: public }\n'
  const asserting = async (assertions: string) => {
    const policy = `${SEATS}assert:\n${assertions}`
    const cwd = folderWith(t, {
      ...FILES,
      'routes/b.yaml': NAMED,
      'routes/c.yaml': open,
      'policy.yaml': policy,
    })
    const { code, out, err } = await seatgateHere(cwd, ['test', 'policy.yaml', '--format', 'json'])
    return code === 1 ? err : JSON.parse(out).assertions
  }
  const [row] = (
    await seatgateHere(folderWith(t, { ...FILES, 'routes/b.yaml': NAMED }), [
      'routes',
      '--permission',
      'code:read',
    ])
  ).out.split('\n')
  const [method, hosts, path] = row?.split(/ {2,}/) ?? []
  t.match(
    await asserting(`  - { only: [Coder], may: "${method}  ${hosts}  ${path}" }
  - { only: [], may: "GET api.example,*.api.example/code/a" }
  - { only: [], may: "GET one.api.example/code/a" }
  - { only: [Coder], may: "ANY api.example/**" }
  - { public: ["GET docs.example/a", "GET /docs/*"] }
  - { public: ["GET /docs/*"] }
`),
    [
      { ok: true },
      { ok: false, counterexample: { host: 'api.example' } },
      { ok: false, counterexample: { host: 'one.api.example' } },
      { ok: true },
      { ok: true },
      { ok: false, counterexample: { host: 'docs.example', request: 'GET /a' } },
    ],
  )
  t.match(
    await asserting('  - { only: [], may: "GET none.example/code/a" }\n'),
    'no entry of the route tables answers',
  )
  t.match(await asserting('  - { only: [], may: "GET a_b%/x" }\n'), 'names the host "a_b%"')
})

t.test('check: a wildcard that is shadowed, and the example of the manual', async (t) => {
  const wild = 'host: "*.example"\nupstream: trainings\nroutes: { GET /a: public }\n'
  const exact =
    'host: a.example\nupstream: trainings\nroutes: { GET /v1/admin/x: admin:x, "ANY /v1/*": public }\n'
  const cwd = folderWith(t, { ...FILES, 'routes/b.yaml': wild, 'routes/c.yaml': exact })
  const { code, err } = await seatgateHere(cwd, ['check'])
  t.equal(code, 0)
  t.match(err, /routes\/c\.yaml:1:7: warning: .*\[shadowed_wildcard\]/)
  t.match(err, /POST, PUT, PATCH, DELETE of its path can fall back .*\[wider_fallback\]/)
})
