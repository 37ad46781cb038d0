/** `seatgate test`: cases, assertions, formats and faults. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CONFIG, folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const ROUTES = `upstream: trainings
routes:
  GET /v1/trainings: trainings:list
  GET /v1/trainings/{id}: trainings:read
  DELETE /v1/trainings/{id}: trainings:delete
  GET /v1/me: authenticated
  GET /docs/*: public
`
const SEATS = `seats:
  Viewer: { spaces: [main], permissions: [trainings:list, trainings:read] }
  Admin: { spaces: [main, other], permissions: ["*"] }
`

function policyFolder(t: Test, policy: string): string {
  const files = { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES, 'policy/a.yaml': policy }
  return folderWith(t, files)
}

const run = (cwd: string, ...args: string[]) => seatgateHere(cwd, ['test', ...args], { ACME_SECRET: '' })

/** The results of the cases, `ok` or the code that the case got. */
async function resultsOf(t: Test, cases: readonly string[]): Promise<string[]> {
  const cwd = policyFolder(
    t,
    `tenant: acme\n${SEATS}cases:\n${cases.map((each) => `  - { ${each} }\n`).join('')}`,
  )
  const { out } = await run(cwd, '--format', 'json')
  return JSON.parse(out).cases.map(({ ok, got }: { ok: boolean; got: string }) => (ok ? 'ok' : got))
}

t.test('cases are decided as the gateway decides', async (t) => {
  const results = await resultsOf(t, [
    'request: GET /v1/trainings, seats: [Viewer], space: main, expect: allow',
    'request: GET /v1/trainings/7?a=b, seats: [Viewer], space: main, expect: allow',
    'request: HEAD /v1/trainings, seats: [Viewer], space: main, expect: allow',
    'request: DELETE /v1/trainings/7, seats: [Viewer], space: main, expect: permission_denied',
    'request: DELETE /v1/trainings/7, seats: [Viewer, Admin], space: main, expect: allow',
    'request: GET /v1/trainings, seats: [Viewer], space: other, expect: no_seat_in_space',
    'request: GET /v1/trainings, seats: [], space: main, expect: no_seat_in_space',
    'request: GET /v1/trainings, seats: [Viewer], expect: space_required',
    'request: GET /v1/trainings, space: main, expect: credentials_missing',
    'request: GET /v1/me, seats: [], expect: allow',
    'request: GET /docs/a, expect: allow',
    'request: GET /nowhere, expect: route_not_found',
    'request: PUT /v1/trainings, expect: method_not_allowed',
    'request: GET /v1//trainings, expect: path_ambiguous',
    'request: GET /v1/seats, seats: [Viewer], space: main, expect: permission_denied',
    'request: GET /v1/trainings, seats: [Viewer], space: main, expect: permission_denied',
  ])
  t.same(results, [...Array.from({ length: 15 }, () => 'ok'), 'allow'])
})

async function proofOf(t: Test, assertion: string): Promise<unknown> {
  const cwd = policyFolder(t, `tenant: acme\n${SEATS}assert:\n  - ${assertion}\n`)
  const { out, err } = await run(cwd, '--format', 'json')
  const { ok, counterexample } = JSON.parse(
    out === '' ? `{"assertions":[{"ok":${JSON.stringify(err)}}]}` : out,
  ).assertions[0]
  return counterexample ?? ok
}

t.test('assertions are proved, or refuted by a request', async (t) => {
  t.equal(await proofOf(t, '{ only: [Admin], may: "DELETE /**" }'), true)
  t.equal(await proofOf(t, '{ only: [Admin], may: DELETE /v1/* }'), true)
  t.equal(await proofOf(t, '{ only: [Admin, Viewer], may: "GET /v1/trainings/{x}" }'), true)
  t.same(await proofOf(t, '{ only: [Admin], may: GET /v1/*/** }'), {
    request: 'GET /v1/trainings/x',
    route: 'GET /v1/trainings/{id}',
    seat: 'Viewer',
  })
  t.match(await proofOf(t, '{ only: [Viewer], may: DELETE /v1/trainings/* }'), { seat: 'Admin' })
  t.match(await proofOf(t, '{ only: [Admin], may: HEAD /v1/trainings }'), { request: 'HEAD /v1/trainings' })
  t.match(await proofOf(t, '{ only: [Admin], may: ANY /docs/a }'), { request: 'GET /docs/a', seat: null })
  t.match(await proofOf(t, '{ only: [Admin, Viewer], may: GET /v1/me }'), { route: 'GET /v1/me', seat: null })
  t.equal(await proofOf(t, '{ public: [GET /docs/*] }'), true)
  t.equal(await proofOf(t, '{ public: [ANY /**] }'), true)
  t.match(await proofOf(t, '{ public: [] }'), { request: 'GET /docs/', route: 'GET /docs/*' })
  t.match(await proofOf(t, '{ public: ["GET /docs/{one}"] }'), { request: 'GET /docs/' })
})

t.test('faults', async (t) => {
  const fault = async (policy: string) => (await run(policyFolder(t, policy))).err
  t.match(await fault('tenant: other\n'), 'has no tenant "other"')
  t.match(await fault('tenant: acme\ncases: [{ request: GET /a, expect: alow }]'), 'did you mean "allow"?')
  t.match(await fault('tenant: acme\ncases: [{ request: GET a, expect: allow }]'), 'is not "METHOD /path"')
  t.match(
    await fault(`tenant: acme\n${SEATS}cases: [{ request: FETCH /a, expect: allow }]`),
    'does not accept the method FETCH',
  )
  t.match(await fault('tenant: acme\ncases: [{ request: GET /a }]'), 'must have the key "expect"')
  for (const wrong of ['{ only: [A] }', '{ may: GET /a }', '{ only: [A], may: GET /a, public: [] }', '{}'])
    t.match(await fault(`tenant: acme\nassert: [${wrong}]`), 'either only with may, or public', wrong)
  t.match(
    await fault('tenant: acme\nassert: [{ only: [A], may: GET /**/a }]'),
    'has a ** that is not the last segment',
  )
  t.match(
    await fault(`tenant: acme\n${SEATS}assert: [{ only: [A], may: GET /a//b }]`),
    'no request can reach this path',
  )
})

t.test('the Seats of the store', async (t) => {
  const cwd = policyFolder(
    t,
    'tenant: acme\ncases: [{ request: GET /v1/seats, seats: [admin], space: admin, expect: allow }]\n',
  )
  const env = {}
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'], env)
  t.match(await seatgateHere(cwd, ['test'], env), { code: 0, out: '1 passed, 0 failed\n' })
})

t.test('several files, coverage and formats', async (t) => {
  const cwd = policyFolder(t, `tenant: acme\n${SEATS}assert: [{ only: [Admin], may: DELETE /** }]\n`)
  const broken = `tenant: acme\n${SEATS}cases: [{ request: GET /docs/a, expect: route_not_found }]\n`
  writeFileSync(join(cwd, 'policy/b.yaml'), broken)
  t.match(await run(cwd), {
    code: 3,
    out: 'policy/b.yaml:5: GET /docs/a: expected route_not_found, got allow\n1 passed, 1 failed\n',
  })
  t.match(await run(cwd, 'policy/a.yaml'), { code: 0, out: '1 passed, 0 failed\n' })
  t.match(await run(cwd, 'policy/a.yaml', 'policy/b.yaml', 'policy/*.yaml'), { out: /1 passed, 1 failed/ })
  const covered = JSON.parse((await run(cwd, '--coverage', '--format', 'json')).out).coverage
  t.match(covered, {
    routes: 5,
    reached: 2,
    unreached: ['GET /v1/trainings', 'GET /v1/trainings/{id}', 'GET /v1/me'],
  })
  t.match(await run(cwd, 'policy/a.yaml', '--min-coverage', '21'), {
    code: 3,
    err: /the coverage is below 21 %/,
  })
  t.equal((await run(cwd, 'policy/a.yaml', '--min-coverage', '20')).code, 0)
  t.match(
    (await run(cwd, '--format', 'github')).out,
    '::error file=policy/b.yaml,line=5::GET /docs/a: expected',
  )
  t.match(
    (await run(cwd, '--format', 'junit')).out,
    /<testsuite name="seatgate test" tests="2" failures="1">/,
  )
  for (const wrong of [
    ['--format', 'xml'],
    ['--min-coverage', '101'],
  ])
    t.equal((await run(cwd, ...wrong)).code, 2)
  t.match(await run(cwd, 'nowhere.yaml'), { code: 1, err: /there is no file nowhere\.yaml/ })
})
