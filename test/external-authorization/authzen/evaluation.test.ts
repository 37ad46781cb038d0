/** `POST /access/v1/evaluation` on a running gateway: subjects, resources, spaces, and changes that take effect at once. */

import t from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { done, writer } from '../../seats-admin/store/conformance.ts'
import { onRoute, question, signIn, startPep } from './support.ts'
import { until } from '../../support/until.ts'
import { metricsOf } from '../../support/operations.ts'

const NONE = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
const LIST = '/v1/trainings'
const READ = '/v1/trainings/{id}'

const { world, key: pepKey, ask, decide, newKey } = await startPep(t)

t.test('subjects, by what they are now', async (t) => {
  const viewer = await world.seat('Viewer', ['main', 'side'], ['trainings:read'])
  const { id: key } = await newKey(['Viewer'])
  await signIn(world, { alice: [viewer], bob: [] })
  const may = (subject: string, space?: string) => decide(onRoute(subject, 'GET', READ, space))
  for (const subject of ['seat:Viewer', `seat:${viewer}`, `api-key:${key}`, 'user:alice']) {
    t.equal(await may(subject, 'main'), 'true allow', subject)
    t.equal(await may(subject, 'other'), 'false no_seat_in_space', `${subject} elsewhere`)
    t.equal(await may(subject), 'false space_required', `${subject} without a space`)
    t.equal(await decide(onRoute(subject, 'DELETE', READ, 'main')), 'false permission_denied', subject)
  }
  t.equal(await may('user:bob', 'main'), 'false no_seat_in_space', 'a user without Seats')
  for (const [subject, reason] of [
    ['seat:viewer', 'seat_not_found'],
    [`seat:${NONE}`, 'seat_not_found'],
    ['seat:', 'seat_not_found'],
    ['seat:a\u0000b', 'seat_not_found'],
    [`api-key:${NONE}`, 'api_key_not_found'],
    ['api-key:x', 'api_key_not_found'],
    ['user:mallory', 'user_not_found'],
    ['user:\ud800', 'user_not_found'],
    ['identity:alice', 'subject_type_unknown'],
    ['User:alice', 'subject_type_unknown'],
  ] as const)
    t.equal(await may(subject, 'main'), `false ${reason}`, subject)
  for (const path of ['/v1/me', '/docs/*'])
    t.equal(await decide(onRoute('user:mallory', 'GET', path)), 'false user_not_found', `absent on ${path}`)
})

t.test('an API key of a blocked owner', async (t) => {
  await world.seat('Owned', ['main'], ['trainings:read'])
  const store = await openStore(world.config.store)
  const input = { name: 'owned', seats: ['Owned'], expiresAt: null, owner: 'olga' }
  const { value } = done(await store.createApiKey(writer(), input))
  await store.close()
  const may = () => decide(onRoute(`api-key:${value.id}`, 'GET', READ, 'main'))
  const request = async () =>
    (await world.client.send('GET', '/v1/trainings/7', { 'x-api-key': value.key, space: 'main' })).json.code
  t.equal(await may(), 'true allow')
  const { id } = (await world.admin('POST', '/v1/blocks', { user: 'olga' })).json
  t.equal(await may(), 'false caller_blocked')
  t.equal(await request(), 'caller_blocked', 'as its requests')
  await world.admin('DELETE', `/v1/blocks/${id}`)
  t.equal(await may(), 'true allow')
  t.equal(await request(), undefined)
})

t.test('routes by their pattern, and permissions', async (t) => {
  const { world, decide } = await startPep(t, {
    routes: [
      'GET /v1/trainings/{id}: trainings:read',
      'ANY /v1/any/*: any:use',
      'POST /v1/any/*: any:add',
      'GET /v1/me: authenticated',
      'GET /docs/*: public',
    ],
    tables: {
      'hosts.yaml':
        'upstream: main\nhosts: [api.example.com, b.example.com]\nspace: { fixed: west }\nroutes:\n  GET /v1/x: x:read\n',
    },
  })
  await world.seat('Viewer', ['main', 'west'], ['trainings:read', 'any:use', 'x:read'])
  const may = (method: string, pattern: string, space?: string) =>
    decide(onRoute('seat:Viewer', method, pattern, space))
  t.equal(await may('GET', READ, 'main'), 'true allow')
  t.equal(await may('GET', '/v1/trainings/{other}', 'main'), 'true allow', 'parameters have no names')
  t.equal(await may('HEAD', READ, 'main'), 'true allow', 'by way of GET')
  t.equal(await may('PUT', READ, 'main'), 'false method_not_allowed')
  t.equal(await may('get', READ, 'main'), 'false method_not_allowed')
  t.equal(await may('GET', '/v1/trainings/7', 'main'), 'false route_not_found', 'a path is no pattern')
  t.equal(await may('GET', '/nowhere', 'main'), 'false route_not_found')
  t.equal(await may('PATCH', '/v1/any/*', 'main'), 'true allow', 'ANY')
  t.equal(await may('POST', '/v1/any/*', 'main'), 'false permission_denied', 'its own entry')
  t.equal(await may('BREW', '/v1/any/*', 'main'), 'false method_not_allowed', 'not accepted')
  t.equal(await may('TRACE', '/v1/any/*', 'main'), 'false method_not_allowed', 'never served')
  t.equal(await may('GET', '/v1/me'), 'true allow', 'authenticated')
  t.equal(await may('GET', '/docs/*'), 'true allow', 'public')
  for (const host of ['api.example.com', 'b.example.com', 'api.example.com+1']) {
    t.equal(await may('GET', `${host}/v1/x`), 'true allow', `${host}: its table has the space`)
    t.equal(await may('GET', `${host}/v1/x`, 'main'), 'false space_conflict', host)
  }
  t.equal(await may('GET', '/v1/x', 'west'), 'false route_not_found', 'on no other host')

  const holds = (permission: string, space?: string) =>
    decide(question('seat:Viewer', 'any', `permission:${permission}`, space))
  t.equal(await holds('trainings:read', 'main'), 'true allow')
  t.equal(await holds('trainings:write', 'main'), 'false permission_denied')
  t.equal(await holds('trainings:read'), 'false space_required')
  t.equal(await holds('*', 'main'), 'false permission_denied')
  t.equal(await decide(question('seat:admin', 'x', 'permission:*', 'admin')), 'true allow')
  for (const none of ['public', 'authenticated', 'trainings', 'trainings:*', '', 'a:b:c'])
    t.equal(
      await decide(question('seat:admin', 'x', `permission:${none}`, 'admin')),
      'false permission_malformed',
      none,
    )
  t.equal(await decide(question('seat:Viewer', 'GET', 'record:1', 'main')), 'false resource_type_unknown')
})

t.test('a decision about an API key is what its requests get', async (t) => {
  await world.seat('Front', ['main', 'admin'], ['trainings:read', 'files:read', 'seats:list'])
  await world.seat('Back', ['side'], ['trainings:list', 'trainings:read', '*'])
  const keys = await Promise.all([[], ['Front'], ['Back'], ['Front', 'Back']].map((seats) => newKey(seats)))
  for (const { id, key } of keys)
    for (const space of ['main', 'side', 'admin', 'none', undefined])
      for (const [method, pattern, path] of [
        ['GET', '/v1/trainings', '/v1/trainings'],
        ['GET', '/v1/trainings/{id}', '/v1/trainings/7'],
        ['DELETE', '/v1/trainings/{id}', '/v1/trainings/7'],
        ['HEAD', '/v1/files/*', '/v1/files/a/b'],
        ['GET', '/v1/me', '/v1/me'],
        ['GET', '/docs/*', '/docs/a'],
        ['GET', '/v1/seats', '/v1/seats'],
        ['PUT', '/v1/me', '/v1/me'],
      ] as const) {
        const named = space === undefined ? {} : { space }
        const { status } = await world.client.send(method, path, { 'x-api-key': key, ...named })
        const decision = await decide(onRoute(`api-key:${id}`, method, pattern, space))
        t.equal(
          decision.startsWith('true'),
          status === 200,
          `${method} ${path} in ${space}: ${status}, ${decision}`,
        )
      }
})

t.test('the space of the resource, and both', async (t) => {
  await world.seat('Lister', ['main'], ['trainings:list'])
  const asked = onRoute('seat:Lister', 'GET', LIST)
  const resource = (space: unknown) => ({ ...asked.resource, properties: { space } })
  t.equal(await decide({ ...asked, resource: resource('main') }), 'true allow')
  t.equal(await decide({ ...asked, resource: resource('main'), context: { space: 'main' } }), 'true allow')
  const both = await ask('/access/v1/evaluation', {
    ...asked,
    resource: resource('main'),
    context: { space: 'other' },
  })
  t.match(both, { status: 400, json: { errors: [{ path: '/resource/properties/space' }] } })
})

t.test('changes take effect on the next evaluation', async (t) => {
  const viewer = await world.seat('Changing', ['main'], ['trainings:list'])
  const { id: key } = await newKey(['Changing'])
  await signIn(world, { carol: [viewer] })
  const may = (subject: string) => decide(onRoute(subject, 'GET', LIST, 'main'))
  const subjects = ['seat:Changing', `api-key:${key}`, 'user:carol']
  for (const subject of subjects) t.equal(await may(subject), 'true allow', subject)

  await world.admin('PUT', `/v1/seats/${viewer}`, { permissions: ['trainings:read'] })
  for (const subject of subjects) t.equal(await may(subject), 'false permission_denied', subject)
  await world.admin('PUT', `/v1/seats/${viewer}`, { permissions: ['trainings:list'] })
  for (const subject of subjects) t.equal(await may(subject), 'true allow', subject)

  const { json: block } = await world.admin('POST', '/v1/blocks', { user: 'carol' })
  t.equal(await may('user:carol'), 'false caller_blocked')
  t.equal(await decide(onRoute('user:carol', 'GET', '/v1/me')), 'false caller_blocked')
  await world.admin('DELETE', `/v1/blocks/${block.id}`)
  t.equal(await may('user:carol'), 'true allow')

  await world.admin('DELETE', `/v1/api-keys/${key}`)
  t.equal(await may(`api-key:${key}`), 'false api_key_revoked')
  await world.admin('DELETE', `/v1/seats/${viewer}`)
  t.equal(await may('seat:Changing'), 'false seat_not_found')
  t.equal(await may('user:carol'), 'false no_seat_in_space')
})

t.test('a text that names one Seat and identifies another is neither', async (t) => {
  const id = await world.seat('Named', ['main'], ['trainings:list'])
  await world.seat(id, ['main'], ['trainings:list'])
  t.equal(await decide(onRoute(`seat:${id}`, 'GET', LIST, 'main')), 'false seat_ambiguous')
  t.equal(await decide(onRoute('seat:Named', 'GET', LIST, 'main')), 'true allow')
})

t.test('the log line says who asked for what, and the decision', async (t) => {
  await decide(onRoute('user:eve', 'GET', LIST, 'main'))
  const isOne = ({ asked }: { readonly asked?: { readonly subject?: unknown } }) =>
    asked?.subject === 'user:eve'
  const line = () => world.log().find(isOne)
  await until(() => line() !== undefined, 'the line of the log')
  t.match(line(), {
    path: '/access/v1/evaluation',
    method: 'POST',
    status: 200,
    code: 'allow',
    asked_by: 'authzen',
    route: 'POST /access/v1/evaluation',
    tenant: 'acme',
    permission: 'access:evaluate',
    space: 'admin',
    auth: 'api-key',
    asked: {
      subject: 'user:eve',
      action: 'GET',
      resource: `route:${LIST}`,
      space: 'main',
      decision: false,
      reason: 'user_not_found',
    },
  })
  t.notOk(world.logText().includes(pepKey), 'no credential')
  const metrics = await metricsOf(world)
  t.match(metrics, /route="POST \/access\/v1\/evaluation"/)
})
