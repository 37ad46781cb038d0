/** Who may ask, how, and where: credentials, headers, methods, discovery. */

import { once } from 'node:events'
import { connect } from 'node:http2'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { startAsking } from '../support.ts'
import { onRoute, signIn, startPep } from './support.ts'
import { until } from '../../support/until.ts'

const pep = await startPep(t)
const { world, send } = pep
const EVALUATION = '/access/v1/evaluation'
const body = JSON.stringify(onRoute('seat:pep', 'GET', '/v1/me'))
const json = { 'content-type': 'application/json' }
const bearer = { authorization: `Bearer ${pep.key}` }

t.test('credentials', async (t) => {
  const ask = (headers: Record<string, string>) => send('POST', EVALUATION, { ...json, ...headers }, body)
  t.match(await ask(bearer), { status: 200, json: { decision: true } })
  t.match(
    await ask({ authorization: `bearer  ${pep.key}` }),
    { status: 200 },
    'case and spaces of the scheme',
  )
  const { id, key: revoked } = await pep.newKey(['pep'])
  await world.admin('DELETE', `/v1/api-keys/${id}`)
  const token = await world.token(['admin:pep'])
  for (const [headers, status, code] of [
    [{}, 401, 'credentials_missing'],
    [{ cookie: 'a=b' }, 401, 'credentials_missing'],
    [{ 'x-api-key': pep.key }, 401, 'credentials_missing'],
    [{ ...bearer, 'x-api-key': pep.key }, 400, 'credentials_ambiguous'],
    [{ authorization: `Basic ${pep.key}` }, 401, 'api_key_invalid'],
    [{ authorization: 'Bearer' }, 401, 'api_key_invalid'],
    [{ authorization: `Bearer ${pep.key}, Bearer ${pep.key}` }, 401, 'api_key_invalid'],
    [{ authorization: `Bearer ${pep.key}x` }, 401, 'api_key_invalid'],
    [{ authorization: `Bearer ${token}` }, 401, 'api_key_invalid'],
    [{ authorization: `Bearer ${revoked}` }, 401, 'api_key_revoked'],
  ] as const) {
    const answer = await ask(headers as Record<string, string>)
    t.match(answer, { status, json: { code } }, `${code} ${Object.keys(headers)}`)
    if (status === 401) t.match(answer.headers['www-authenticate'], /^Bearer realm=/)
  }
  await until(() => world.log().some(({ code }) => code === 'api_key_revoked'), 'the line of the log')
  t.notOk(world.logText().includes(pep.key), 'no credential in the log')
})

t.test('headers that contradict the endpoint', async (t) => {
  for (const headers of [
    { space: 'admin' },
    { 'x-original-method': 'GET' },
    { 'x-original-url': 'https://a/b' },
    { 'x-forwarded-method': 'GET' },
    { 'x-forwarded-uri': '/v1/me' },
    { 'x-request-id': 'a b' },
    { 'x-request-id': 'a"b' },
    { 'x-request-id': 'a'.repeat(129) },
  ] as Record<string, string>[])
    t.match(
      await send('POST', EVALUATION, { ...json, ...bearer, ...headers }, body),
      { status: 400, json: { code: 'request_malformed' } },
      Object.keys(headers).join(),
    )
  const repeated = ['authorization', bearer.authorization, 'authorization', bearer.authorization]
  t.match(await send('POST', EVALUATION, [...repeated, 'content-type', 'application/json'] as never, body), {
    status: 400,
    json: { code: 'credentials_ambiguous' },
  })
  const behind = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'h' }
  t.match(await send('POST', EVALUATION, { ...json, ...bearer, ...behind }, body), { status: 200 })
})

t.test('methods and paths', async (t) => {
  const wrong = await send('GET', EVALUATION, bearer)
  t.match(wrong, { status: 405, headers: { allow: 'POST' }, json: { code: 'method_not_allowed' } })
  t.match(await send('POST', '/.well-known/authzen-configuration', json, '{}'), { status: 405 })
  for (const path of [
    '/access/v1/search',
    '/access/v1/search/subjects',
    '/.well-known/authzen-configuration/acme',
  ])
    t.match(await send('POST', path, { ...json, ...bearer }, body), { status: 404 }, path)
  t.match(await send('POST', `${EVALUATION}?x=1`, { ...json, ...bearer }, body), { status: 200 }, 'a query')
  t.match(
    await world.client.send('POST', EVALUATION, { ...json, ...bearer }, body),
    { status: 404 },
    'front door',
  )
})

t.test('a reload brings its routes, and its url', async (t) => {
  const { writeFileSync, readFileSync } = await import('node:fs')
  const { file } = world.config
  const table = `${world.folder}/routes/main.yaml`
  const asked = onRoute('seat:pep', 'GET', '/v1/new')
  t.equal(await pep.decide(asked), 'false route_not_found')
  writeFileSync(table, `${readFileSync(table, 'utf8')}  GET /v1/new: authenticated\n`)
  writeFileSync(file, readFileSync(file, 'utf8').replace('decisions.example.com', 'other.example.com'))
  await world.reload()
  t.equal(await pep.decide(asked), 'true allow')
  const { json: metadata } = await send('GET', '/.well-known/authzen-configuration', {})
  t.equal(metadata.policy_decision_point, 'https://other.example.com')
})

t.test('over HTTP/2 with prior knowledge', async (t) => {
  const session = connect(`http://127.0.0.1:${pep.port}`)
  t.teardown(() => session.close())
  const stream = session.request({ ':method': 'POST', ':path': EVALUATION, ...json, ...bearer })
  stream.end(body)
  const [headers] = await once(stream, 'response')
  t.match(headers, { ':status': 200, 'content-type': 'application/json' })
  t.match(JSON.parse(await text(stream)), { decision: true })
})

t.test('a store that does not answer is a 503, never a decision', async (t) => {
  await signIn(world, { alice: [] })
  const asked = onRoute('user:alice', 'GET', '/v1/me')
  t.equal(await pep.decide(asked), 'true allow')
  const store = new DatabaseSync(world.storeFile)
  t.teardown(() => store.close())
  store.exec('ALTER TABLE users RENAME TO users_away')
  const search = { ...asked, subject: { type: 'user' } }
  for (const [path, question] of [
    ['evaluation', asked],
    ['evaluations', { evaluations: [asked] }],
    ['search/subject', search],
    ['search/action', asked],
  ] as const) {
    const { status, json: problem } = await pep.ask(`/access/v1/${path}`, question)
    t.equal(status, 503, path)
    t.match(problem, {
      code: 'unavailable',
      detail: 'The gateway cannot decide at the moment. Nothing was forwarded.',
    })
  }
  store.exec('ALTER TABLE users_away RENAME TO users')
  t.equal(await pep.decide(asked), 'true allow')
})

t.test('without a url there is no discovery, whatever the client calls the listener', async (t) => {
  const { ask } = await startAsking(t)
  const answer = await ask('/.well-known/authzen-configuration', { host: 'attacker.example' })
  t.match(answer, { status: 404, json: { code: 'route_not_found' } })
  t.notOk(answer.body.includes('attacker.example'))
})
