/** `GET /v1/openapi.json` of a gateway. */

import t from 'tap'
import { builtInOperations } from '../../../src/composition.ts'
import { openApiDocument } from '../../../src/pipeline/openapi/document.ts'
import { startSignIn } from '../../sign-in/world.ts'
import { until } from '../../support/until.ts'

const PATH = '/v1/openapi.json'

const signIn = await startSignIn(t)
const world = signIn.gateway

t.test('without a valid credential it is refused', async (t) => {
  const key = world.keys['acme'] ?? ''
  const codeOf = async (headers: Record<string, string>, method = 'GET') =>
    (await world.client.send(method, PATH, headers)).json.code
  t.equal(await codeOf({}), 'credentials_missing')
  t.equal(await codeOf({ 'x-api-key': `${key}x` }), 'api_key_invalid')
  t.equal(await codeOf({ authorization: 'Bearer x' }), 'token_invalid')
  t.equal(await codeOf({ 'x-api-key': key, space: 'a:b' }), 'request_malformed')
  t.equal(await codeOf({ 'x-api-key': key }, 'POST'), 'method_not_allowed')
  const statuses = () => world.log().flatMap(({ msg, status }) => (msg === 'request' ? [status] : []))
  await until(() => statuses().length === 5, 'the lines of the log')
  t.notOk(statuses().includes(200))
})

t.test('any credential reads it, without a Space', async (t) => {
  const key = { 'x-api-key': world.keys['acme'] ?? '' }
  const answer = await world.client.send('GET', PATH, key)
  t.equal(answer.status, 200)
  t.equal(answer.headers['content-type'], 'application/json')
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.body)))
  t.same(answer.json, JSON.parse(JSON.stringify(openApiDocument(builtInOperations()))))

  const without = await world.token([])
  const headers = { authorization: `Bearer ${without}` }
  t.equal((await world.client.send('GET', PATH, headers)).body, answer.body, 'a token without Seats')
  t.equal((await world.client.send('GET', PATH, { ...headers, space: 'nowhere' })).status, 200)
  const head = await world.client.send('HEAD', PATH, key)
  t.same(
    [head.status, head.body, head.headers['content-length']],
    [200, '', answer.headers['content-length']],
  )
})

t.test('it is the same after a reload', async (t) => {
  const key = { 'x-api-key': world.keys['globex'] ?? '' }
  const before = await world.client.send('GET', PATH, key)
  await world.reload()
  t.equal((await world.client.send('GET', PATH, key)).body, before.body)
})

t.test('a session cookie reads it', async (t) => {
  signIn.user('alice')
  const visitor = signIn.visitor()
  t.equal((await visitor.ask(PATH)).status, 401)
  await visitor.page('/pages/home')
  t.equal((await visitor.ask(PATH)).status, 200)
})
