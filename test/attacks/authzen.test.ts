/**
 * Programs that ask by AuthZEN and go beyond their rights: about another tenant, without the permission, with bodies that
 * are large, deep or many questions at once, and with tokens of other searches.
 */

import t from 'tap'
import { MAX_EVALUATIONS } from '../../src/external-authorization/authzen/evaluations.ts'
import { onRoute, question, signIn, startPep } from '../external-authorization/authzen/support.ts'

const pep = await startPep(t)
const { world, ask } = pep
const EVALUATION = '/access/v1/evaluation'
const viewer = await world.seat('Viewer', ['main'], ['trainings:list'])
const { id: viewerKey } = await pep.newKey(['Viewer'])
await signIn(world, { alice: [viewer], bob: [viewer] })
await world.seat('pep', ['admin'], ['access:evaluate'], 'globex')
const globex = (await pep.newKey(['pep'], 'globex')).key
const as = (key: string) => ({ authorization: `Bearer ${key}` })

t.test('a key of another tenant asks about its own tenant alone', async (t) => {
  for (const [subject, reason] of [
    ['seat:Viewer', 'seat_not_found'],
    [`seat:${viewer}`, 'seat_not_found'],
    [`api-key:${viewerKey}`, 'api_key_not_found'],
    ['user:alice', 'user_not_found'],
  ] as const) {
    const asked = onRoute(subject, 'GET', '/v1/trainings', 'main')
    t.equal(await pep.decide(asked), 'true allow', subject)
    const { json } = await ask(
      EVALUATION,
      { ...asked, tenant: 'acme', context: { space: 'main', tenant: 'acme' } },
      as(globex),
    )
    t.same(json, { decision: false, context: { reason } }, `${subject} of another tenant`)
  }
  for (const type of ['seat', 'api-key', 'user']) {
    const body = { ...question('x:', 'GET', 'route:/v1/trainings', 'main'), subject: { type } }
    t.not((await ask('/access/v1/search/subject', body)).json.results.length, 0)
    t.same((await ask('/access/v1/search/subject', body, as(globex))).json.results, [], type)
  }
})

t.test('a page token of another tenant, for the same question', async (t) => {
  const body = { ...question('x:', 'GET', 'route:/v1/trainings', 'main'), subject: { type: 'user' } }
  const SUBJECT = '/access/v1/search/subject'
  const { next_token: token } = (await ask(SUBJECT, { ...body, page: { limit: 1 } })).json.page
  t.match(await ask(SUBJECT, { ...body, page: { token } }), { status: 200 })
  t.match(await ask(SUBJECT, { ...body, page: { token } }, as(globex)), {
    status: 400,
    json: { code: 'input_invalid' },
  })
  t.notOk(Buffer.from(token, 'base64url').includes('alice'), 'it does not show its position')
})

t.test('a key without the permission, or with it elsewhere, or no longer', async (t) => {
  await world.seat('pep in main', ['main'], ['access:evaluate'])
  await world.seat('reader of access', ['admin'], ['access:read'])
  const id = await world.seat('for a while', ['admin'], ['access:evaluate'])
  const asked = onRoute('seat:Viewer', 'GET', '/v1/trainings', 'main')
  for (const [seats, code] of [
    [[], 'no_seat_in_space'],
    [['pep in main'], 'no_seat_in_space'],
    [['reader of access'], 'permission_denied'],
  ] as const) {
    const { key } = await pep.newKey(seats)
    t.match(await ask(EVALUATION, asked, as(key)), { status: 403, json: { code } }, seats.join())
    t.match(
      await ask(EVALUATION, asked, { ...as(key), space: 'main' }),
      { status: 400 },
      'a Space does not help',
    )
  }
  const { key } = await pep.newKey(['for a while'])
  t.match(await ask(EVALUATION, asked, as(key)), { status: 200, json: { decision: true } })
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['access:read'] })
  t.match(await ask(EVALUATION, asked, as(key)), { status: 403, json: { code: 'permission_denied' } })
  await world.admin('DELETE', `/v1/seats/${id}`)
  t.match(await ask(EVALUATION, asked, as(key)), { status: 403, json: { code: 'no_seat_in_space' } })
})

t.test('huge batches and bodies', async (t) => {
  const many = (length: number) => JSON.stringify({ evaluations: Array.from({ length }, () => 0) })
  const batches: [length: number, path: string][] = [
    [MAX_EVALUATIONS + 1, '/evaluations'],
    [60_000, '/evaluations'],
    // It is refused before anything is built.
    [300_000, ''],
  ]
  for (const [length, path] of batches) {
    const refused = { status: 400, json: { errors: [{ path }] } }
    t.match(await ask('/access/v1/evaluations', many(length)), refused)
  }
  const most = Array.from({ length: MAX_EVALUATIONS }, (_, i) =>
    onRoute(`user:u${i}`, 'GET', '/v1/trainings', 'main'),
  )
  const batch = ask('/access/v1/evaluations', { evaluations: most })
  t.equal((await batch).json.evaluations.length, MAX_EVALUATIONS)
  const large = JSON.stringify({
    ...onRoute('seat:Viewer', 'GET', '/v1/trainings', 'main'),
    pad: 'x'.repeat(2 ** 20),
  })
  t.match(await ask(EVALUATION, large), { status: 413, json: { code: 'body_too_large' } })
})

t.test('deep JSON, members twice, and names of prototypes', async (t) => {
  const asked = JSON.stringify(onRoute('seat:Viewer', 'GET', '/v1/trainings', 'main')).slice(1)
  const nested = (depth: number) => `{"x":${'['.repeat(depth)}${']'.repeat(depth)},${asked}`
  t.match(await ask(EVALUATION, nested(60)), { status: 200, json: { decision: true } })
  for (const body of [
    nested(64),
    nested(500_000),
    '['.repeat(1_000_000),
    `{"subject":{"type":"seat","id":"nobody"},${asked}`,
    `{"\\u0073ubject":{"type":"seat","id":"nobody"},${asked}`,
  ])
    t.match(await ask(EVALUATION, body), { status: 400, json: { code: 'input_invalid' } }, body.slice(0, 40))
  const inherited = `{"__proto__":${JSON.stringify(onRoute('seat:Viewer', 'GET', '/v1/trainings', 'main'))}}`
  t.match(await ask(EVALUATION, inherited), { status: 400 })
  const { json } = await ask('/access/v1/evaluations', `{"evaluations":[${inherited}]}`)
  t.match(json.evaluations, [{ decision: false, context: { error: {} } }])
  for (const id of ['__proto__', 'constructor', 'toString'])
    for (const type of ['seat', 'user', 'api-key', id])
      t.match(
        await pep.decide(question(`${type}:${id}`, id, `route:${id}`, 'main')),
        /^false/,
        `${type}:${id}`,
      )
})

t.test('long names are absent, and short in the log', async (t) => {
  const long = 'x'.repeat(500_000)
  for (const type of ['seat', 'user', 'api-key'])
    t.match(
      await pep.decide(onRoute(`${type}:${long}`, 'GET', '/v1/trainings', 'main')),
      /^false .*_not_found$/,
    )
  t.match(await pep.decide(onRoute('seat:Viewer', 'GET', `/${long}`, 'main')), 'false route_not_found')
  const lines = world.logText().split('\n')
  t.ok(lines.every(({ length }) => length < 4096))
})

t.test('nothing of a body reaches the log as a line of its own', async (t) => {
  await pep.decide(onRoute('user:a"}\n{"level":"info', 'GET', '/v1/trainings', 'main'))
  t.doesNotThrow(() => world.log())
})
