/**
 * Each operation with a credential, on a gateway: its answers, and the refusals that its kind has. The clients compare each
 * with the OpenAPI document.
 */

import t from 'tap'
import type { Operation } from '../../../src/pipeline/openapi/operation.ts'
import { builtInOperations } from '../../../src/composition.ts'
import { startScim } from '../../scim/support.ts'
import { startSignIn } from '../../sign-in/world.ts'
import { compared } from '../../support/openapi.ts'
import { startPushed, tableOf } from '../../tables/pushing.ts'

const operations = builtInOperations().filter(({ requirement }) => requirement !== 'public')
const withPermission = operations.filter(({ requirement }) => requirement !== 'authenticated')

const world = await startSignIn(t)
const { gateway } = world
const JSON_BODY = { 'content-type': 'application/json' }
const administrator = { 'x-api-key': gateway.keys['acme'] ?? '', space: 'admin' }
/** Of no Seat, key, user, session, block, grant or revocation. */
const UNKNOWN = '01KAJ0Z1V5Q8T2C0W7M3E9R4XD'

t.test('each answer', async (t) => {
  const seat = await gateway.seat('Viewer', ['main'], ['trainings:list'])
  world.user('alice', { memberOf: ['Viewer'] })
  await world.visitor('alice').signIn()
  const admin = (method: string, path: string, body?: unknown) => gateway.admin(method, path, body)
  await admin('GET', '/v1/seats')
  await admin('GET', `/v1/seats/${seat}`)
  await admin('PUT', `/v1/seats/${seat}`, { permissions: ['trainings:list', 'trainings:read'] })
  await admin('POST', '/v1/seats/plan', { seats: { Viewer: { spaces: [], permissions: [] } } })
  await admin('POST', '/v1/seats/apply', { seats: { Made: { spaces: [], permissions: ['a:b'] } } })
  const key = (await admin('POST', '/v1/api-keys', { name: 'ci', seats: ['Viewer'] })).json.id
  await admin('GET', '/v1/api-keys')
  await admin('GET', `/v1/api-keys/${key}`)
  await admin('GET', '/v1/access/who-can?permission=trainings:list')
  await admin('GET', '/v1/access/can?seat=Viewer')
  await admin('POST', '/v1/access/explain', { method: 'GET', path: '/', seats: ['Viewer'] })
  await admin('GET', '/v1/routes')
  await admin('GET', '/v1/decisions')
  const [user] = (await admin('GET', '/v1/users')).json.data
  await admin('GET', `/v1/users/${encodeURIComponent(user.sub)}`)
  const block = (await admin('POST', '/v1/blocks', { user: user.sub, reason: 'left' })).json.id
  await admin('GET', '/v1/blocks')
  await admin('DELETE', `/v1/blocks/${block}`)
  const until = '2099-01-01T00:00:00Z'
  const grant = (await admin('POST', '/v1/grants', { user: user.sub, seat: 'Viewer', until })).json.id
  await admin('GET', '/v1/grants')
  await admin('DELETE', `/v1/grants/${grant}`)
  const revocation = (await admin('POST', '/v1/revocations', { subject: { user: 'nobody' } })).json.id
  await admin('GET', '/v1/revocations?subject=user:nobody')
  await admin('GET', `/v1/revocations/${revocation}`)
  const [session] = (await admin('GET', '/v1/sessions')).json.data
  await admin('DELETE', `/v1/sessions/${session.id}`)
  await admin('DELETE', `/v1/api-keys/${key}`)
  await admin('DELETE', `/v1/seats/${seat}`)
  t.ok((await admin('GET', '/v1/audit')).json.data.length > 6)
  await admin('GET', '/v1/openapi.json')
  await admin('GET', '/v1/canary')
  await admin('GET', '/v1/fleet')
  await admin('GET', '/v1/fleet/secrets')
  await admin('GET', '/auth/oidc/me')
  const { pusher } = await startPushed(t)
  await pusher.push({ 'main.yaml': tableOf('public') })
  await pusher.send('GET', '/v1/tables/1')
  await pusher.send('POST', '/v1/tables/plan', { files: {} })
  const scim = await startScim(t, { globex: false })
  await scim.world.admin('GET', '/v1/scim/comparison')
  await scim.world.admin('GET', '/v1/scim/unseen-users')
  const group = await scim.group('Viewer', [await scim.user('ann')])
  await scim.world.admin('GET', '/v1/scim/groups')
  await scim.world.admin('GET', `/v1/scim/members?group=${group}`)

  const answers = operations.flatMap(({ operation, answers }) =>
    Object.keys(answers).map((status) => `${operation} ${status}`),
  )
  t.same(
    answers.filter((each) => !compared.has(each)),
    [],
    'an answer that is declared was not seen: ask for it above',
  )
})

t.test('the refusals of each kind', async (t) => {
  await gateway.seat('Bystander', ['main'], ['trainings:list'])
  const bystander = { authorization: `Bearer ${await gateway.token(['main:Bystander'])}`, space: 'main' }
  const { space: _, ...withoutSpace } = administrator
  for (const operation of operations) {
    const refused = refusalsOf(operation)
    t.equal(await refused({}), 'credentials_missing')
    t.equal(await refused({ 'x-api-key': 'sk_x' }), 'api_key_invalid')
    t.equal(await refused({ authorization: 'Bearer x' }), 'token_invalid')
  }
  for (const operation of withPermission) {
    const refused = refusalsOf(operation)
    t.equal(await refused(withoutSpace), 'space_required')
    t.equal(await refused({ ...bystander, space: 'elsewhere' }), 'no_seat_in_space')
    t.equal(await refused(bystander), 'permission_denied')
  }
})

t.test('the refusals of what is asked', async (t) => {
  for (const operation of withPermission) {
    const { method, params, query, body, conditional = false, codes } = operation
    const refused = refusalsOf(operation)
    if (query !== undefined) t.equal(await refused(administrator, '', '?stray=1'), 'input_invalid')
    if (body !== undefined) {
      t.equal(
        await refused({ ...administrator, 'content-type': 'text/plain' }, '{}'),
        'media_type_unsupported',
      )
      t.equal(await refused({ ...administrator, ...JSON_BODY }, '{"stray":1}'), 'input_invalid')
      t.equal(await refused({ ...administrator, ...JSON_BODY }, '{'), 'input_invalid')
    }
    if (conditional) t.equal(await refused({ ...administrator, 'if-match': 'no tag' }, '{}'), 'input_invalid')
    const notFound = codes.find((each) => each.endsWith('_not_found'))
    const sent = body === undefined ? '' : '{}'
    if (params !== undefined)
      t.equal(await refused(administrator, sent), notFound, `${method} of an unknown one`)
  }
})

t.test('of an older version', async (t) => {
  const target = `/v1/seats/${await gateway.seat('Twice', ['main'], [])}`
  const { headers } = await gateway.admin('GET', target)
  await gateway.admin('PUT', target, {})
  const stale = { ...administrator, 'if-match': String(headers['etag']) }
  for (const [method, body] of [['PUT', '{}'], ['DELETE']] as const)
    t.equal((await gateway.client.send(method, target, { ...stale, ...JSON_BODY }, body)).status, 412)
})

/** Sends requests for the operation that are refused; each resolves to the code. */
function refusalsOf({ method, path }: Operation) {
  const target = path.replaceAll(/\{[^}]+\}/g, UNKNOWN)
  return async (headers: Record<string, string>, body = '', query = ''): Promise<unknown> => {
    const type = body === '' ? {} : JSON_BODY
    const sent = body === '' ? undefined : body
    return (await gateway.client.send(method, target + query, { ...type, ...headers }, sent)).json.code
  }
}
