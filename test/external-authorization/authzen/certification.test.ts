/**
 * The Core levels and Discovery of the certification scenario of AuthZEN 1.0
 * (github.com/openid/authzen, certification/authorization-api-1_0-scenario.md), in the terms of our subjects and resources: its
 * users are users, its records are routes, its actions are methods. The numbers are those of its sections.
 */

import t, { type Test } from 'tap'
import type { Answer } from '../../support/client.ts'
import { signIn, startPep, URL } from './support.ts'

const { world, ask, send } = await startPep(t, {
  routes: ['GET /record-1: records:read', 'POST /record-1: records:write', 'GET /record-2: records:archive'],
})
const reader = await world.seat('Reader', ['main'], ['records:read'])
const writer = await world.seat('Writer', ['main'], ['records:write'])
await signIn(world, { alice: [reader, writer], bob: [reader] })

const EVALUATION = '/access/v1/evaluation'
const EVALUATIONS = '/access/v1/evaluations'
const [alice, bob] = [
  { type: 'user', id: 'alice' },
  { type: 'user', id: 'bob' },
]
const [read, write] = [{ name: 'GET' }, { name: 'POST' }]
// The fixture needs a space: it stands with the resource, so that the context may be left out.
const record = (id: number) => ({ type: 'route', id: `/record-${id}`, properties: { space: 'main' } })
const context = { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' }
const permitted = { subject: alice, action: read, resource: record(1) }

function decided(t: Test, { status, headers, json }: Answer, decision: boolean): void {
  t.equal(status, 200)
  t.equal(headers['content-type'], 'application/json')
  t.equal(headers['cache-control'], 'no-store')
  t.equal(json.decision, decision)
  t.type(json.context, 'object')
}

t.test('Basic Core', async (t) => {
  decided(t, await ask(EVALUATION, permitted), true)
  decided(t, await ask(EVALUATION, { ...permitted, action: write }), true)
  decided(t, await ask(EVALUATION, { ...permitted, subject: bob }), true)
  decided(t, await ask(EVALUATION, { ...permitted, subject: bob, action: write }), false)
  decided(t, await ask(EVALUATION, { ...permitted, context }), true)
  const properties = { department: 'Sales', role: 'manager' }
  const extended = {
    subject: { ...alice, properties },
    action: { ...read, properties: { method: 'GET' } },
    resource: { ...record(1), properties: { space: 'main', status: 'active', owner: 'bob' } },
  }
  decided(t, await ask(EVALUATION, extended), true)
  decided(t, await ask(EVALUATION, { ...permitted, foo: 'bar', futureField: { nested: true } }), true)
  for (let i = 0; i < 3; i++) decided(t, await ask(EVALUATION, permitted), true)
})

t.test('Basic Core: errors (2.4) and headers (2.5)', async (t) => {
  const { subject, action, resource } = permitted
  for (const body of [
    { action, resource },
    { subject, resource },
    { subject, action },
    { subject: { id: 'alice' }, action, resource },
    { subject: { type: 'user' }, action, resource },
    { subject, action: {}, resource },
    { subject, action, resource: { id: '/record-1' } },
    { subject, action, resource: { type: 'route' } },
    { subject: 'alice', action, resource },
    { subject, action: { name: 123 }, resource },
    '{"subject":',
    '',
  ])
    t.match(await ask(EVALUATION, body), { status: 400, json: { code: 'input_invalid' } })
  for (const type of ['text/plain', 'application/xml', 'application/json, text/plain'])
    t.match(await ask(EVALUATION, permitted, { 'content-type': type }), { status: 400 }, type)
  const id = 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716'
  const echoed = async (body: unknown) => (await ask(EVALUATION, body, { 'x-request-id': id })).headers
  t.match(await echoed(permitted), { 'x-request-id': id })
  t.match(await echoed({}), { 'x-request-id': id }, 'with a refusal')
  t.match((await ask(EVALUATION, permitted)).headers, { 'x-request-id': /^[0-9a-f-]{36}$/ })
})

t.test('Batch Core', async (t) => {
  const decisions = async (body: unknown) => {
    const answer = await ask(EVALUATIONS, body)
    t.equal(answer.status, 200)
    t.equal(answer.headers['content-type'], 'application/json')
    t.notOk('decision' in answer.json)
    return answer.json.evaluations.map(({ decision }: { decision: unknown }) => decision)
  }
  const records = [{ resource: record(1) }, { resource: record(2) }]
  t.same(await decisions({ subject: alice, action: read, evaluations: records }), [true, false])
  const actions = [{ action: read }, { action: write }]
  t.same(await decisions({ subject: bob, resource: record(1), evaluations: actions }), [true, false])
  const whole = [permitted, { subject: bob, action: write, resource: record(1) }]
  t.same(await decisions({ evaluations: whole }), [true, false])
  const contexts = [records[0], { ...records[1], context: { ...context, source: 'batch-override' } }]
  t.same(await decisions({ subject: alice, action: read, context, evaluations: contexts }), [true, false])
  const faulty = [{ resource: record(1) }, {}]
  const options = { evaluations_semantic: 'execute_all' }
  const { json } = await ask(EVALUATIONS, { subject: alice, action: read, options, evaluations: faulty })
  t.match(json.evaluations, [{ decision: true }, { decision: false, context: { error: { status: 400 } } }])
  t.equal(json.evaluations.length, 2)
  decided(t, await ask(EVALUATIONS, permitted), true)
  decided(t, await ask(EVALUATIONS, { ...permitted, evaluations: [] }), true)
})

t.test('Search Core', async (t) => {
  const search = async (sought: string, body: object) => {
    const answer = await ask(`/access/v1/search/${sought}`, body)
    t.equal(answer.status, 200)
    t.equal(answer.headers['content-type'], 'application/json')
    t.equal(answer.json.page.next_token, '')
    return answer.json.results
  }
  const users = { subject: { type: 'user' }, action: read, resource: record(1) }
  const both = [alice, bob]
  t.same(await search('subject', users), both)
  t.same(await search('subject', { ...users, context }), both)
  t.same(await search('subject', { ...users, subject: alice }), both, 'the id is ignored')

  const routes = { subject: alice, action: read, resource: { type: 'route', properties: { space: 'main' } } }
  const found = await search('resource', routes)
  t.ok(found.some((each: object) => JSON.stringify(each) === '{"type":"route","id":"/record-1"}'))
  t.ok(found.every(({ type, id }: { type: string; id: string }) => type === 'route' && id !== '/record-2'))
  t.same(await search('resource', { ...routes, context }), found)
  t.same(await search('resource', { ...routes, resource: record(2) }), found, 'the id is ignored')

  const actions = { subject: alice, resource: record(1) }
  const names = [{ name: 'GET' }, { name: 'HEAD' }, { name: 'POST' }]
  t.same(await search('action', actions), names)
  t.same(await search('action', { ...actions, context }), names)

  t.same(await search('action', { ...actions, subject: { type: 'user', id: 'nobody' } }), [])
  t.same(await search('resource', { ...routes, subject: { type: 'user', id: 'nobody' } }), [])
  t.same(await search('subject', { ...users, resource: { ...record(1), id: '/none' } }), [])
  t.same(await search('subject', { ...users, subject: { type: 'spaceship' } }), [])
  t.same(await search('resource', { ...routes, resource: { type: 'spaceship' } }), [])
  t.same(await search('action', { ...actions, resource: { type: 'spaceship', id: '1' } }), [])
})

t.test('Search Core: pages (4.5) and errors (4.7)', async (t) => {
  const body = { subject: { type: 'user' }, action: read, resource: record(1) }
  const SUBJECT = '/access/v1/search/subject'
  const first = (await ask(SUBJECT, { ...body, page: { limit: 1 } })).json
  t.match(first, { page: { next_token: /./, count: 1 }, results: [alice] })
  const second = (await ask(SUBJECT, { ...body, page: { token: first.page.next_token } })).json
  t.match(second, { page: { next_token: '', count: 1 }, results: [bob] })
  for (const [sought, faulty] of [
    ['subject', { subject: { type: 'user' }, resource: record(1) }],
    ['resource', { action: read, resource: { type: 'route' } }],
    ['action', { subject: alice }],
    ['subject', { subject: { type: 'user' }, action: read, resource: { type: 'route' } }],
    ['resource', { subject: { type: 'user' }, action: read, resource: { type: 'route' } }],
    ['action', { subject: { type: 'user' }, resource: record(1) }],
  ] as const)
    t.match(await ask(`/access/v1/search/${sought}`, faulty), { status: 400 }, sought)
})

t.test('Discovery', async (t) => {
  const { status, headers, json } = await send('GET', '/.well-known/authzen-configuration', {})
  t.match({ status, headers }, { status: 200, headers: { 'content-type': 'application/json' } })
  t.same(json, {
    policy_decision_point: URL,
    access_evaluation_endpoint: `${URL}/access/v1/evaluation`,
    access_evaluations_endpoint: `${URL}/access/v1/evaluations`,
    search_subject_endpoint: `${URL}/access/v1/search/subject`,
    search_resource_endpoint: `${URL}/access/v1/search/resource`,
    search_action_endpoint: `${URL}/access/v1/search/action`,
  })
})
