/** `/v1/blocks`. */

import t from 'tap'
import { inSpace } from '../store/conformance.ts'
import { startApi, UNADMINISTERED } from './support.ts'

const BLOCKS = '/v1/blocks'
const BLOCK = '/v1/blocks/{id}'

t.test('a block is announced before it is answered', async (t) => {
  const api = await startApi(t)
  const { warnings, ...made } = await api.body(`POST ${BLOCKS}`, { body: { user: 'eve', reason: 'left' } })
  t.same(warnings, UNADMINISTERED)
  t.match(made, { id: String, user: 'eve', reason: 'left', created_by: 'alice' })
  t.notOk('until' in made)
  t.same(
    api.announced.map(({ changes }) => changes),
    [[{ tenant: 'acme', kind: 'block', key: '"eve"' }]],
  )
  t.same(await api.body(`GET ${BLOCKS}`), { data: [made], has_more: false, count: 1 })
  t.match(await api.call(`DELETE ${BLOCK}`, { id: made.id }), { status: 204, refused: null })
  t.equal(api.announced.length, 2)
  t.same((await api.body(`GET ${BLOCKS}`)).data, [])
  t.match(await api.call(`DELETE ${BLOCK}`, { id: made.id }), { refused: { refused: 'block_not_found' } })
})

t.test('until', async (t) => {
  const api = await startApi(t)
  const later = new Date(api.clock + 60_000).toISOString()
  t.equal((await api.body(`POST ${BLOCKS}`, { body: { user: 'eve', until: later } })).until, later)
  const now = new Date(api.clock).toISOString()
  for (const until of [now, '2020-01-01T00:00:00Z', 'tomorrow', '2035-01-01', 7]) {
    const { refused } = await api.call(`POST ${BLOCKS}`, { body: { user: 'eve', until } })
    t.match(refused, { refused: 'input_invalid', faults: [{ path: '/until' }] }, String(until))
  }
})

t.test('wrong bodies', async (t) => {
  const api = await startApi(t)
  const cases: [body: unknown, path: string][] = [
    [undefined, ''],
    [{}, '/user'],
    [{ user: '' }, '/user'],
    [{ user: 7 }, '/user'],
    [{ user: 'x'.repeat(16 * 1024 + 1) }, '/user'],
    [{ user: '\ud800' }, '/user'],
    [{ user: 'eve', reason: 'x'.repeat(1025) }, '/reason'],
    [{ user: 'eve', for: '1h' }, '/for'],
  ]
  for (const [body, path] of cases) {
    const { refused } = await api.call(`POST ${BLOCKS}`, { body })
    t.match(refused, { refused: 'input_invalid', faults: [{ path }] }, JSON.stringify(body))
  }
  t.equal(api.announced.length, 0)
})

t.test(
  'a user belongs to the tenant: outside the admin space blocks are neither made nor seen',
  async (t) => {
    const api = await startApi(t)
    const { id } = await api.body(`POST ${BLOCKS}`, { body: { user: 'eve' } })
    const scope = inSpace('main', '*')
    t.match((await api.call(`POST ${BLOCKS}`, { scope, body: { user: 'bob' } })).refused, {
      refused: 'grant_exceeds_own',
    })
    t.same((await api.body(`GET ${BLOCKS}`, { scope })).data, [])
    t.match((await api.call(`DELETE ${BLOCK}`, { scope, id })).refused, { refused: 'block_not_found' })
    t.match((await api.call(`DELETE ${BLOCK}`, { tenant: 'globex', id })).refused, {
      refused: 'block_not_found',
    })
    t.equal((await api.body(`GET ${BLOCKS}`)).count, 1)
  },
)
