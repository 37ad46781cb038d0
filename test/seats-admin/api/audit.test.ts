import t from 'tap'
import { inSpace } from '../store/conformance.ts'
import { KEY, KEYS, SEAT, SEATS, startApi } from './support.ts'

const AUDIT = 'GET /v1/audit'
const VIEWER = { name: 'Viewer', spaces: ['one'], permissions: ['a:b'] }

t.test('the states of an entry are what GET shows before and after', async (t) => {
  const api = await startApi(t)
  const { id } = await api.body(`POST ${SEATS}`, { body: VIEWER })
  const seats = [null, await api.body(`GET ${SEAT}`, { id })]
  for (const body of [{ permissions: [] }, { name: 'Watcher' }, {}]) {
    api.clock += 1000
    await api.body(`PUT ${SEAT}`, { id, by: 'bob', body })
    seats.push(await api.body(`GET ${SEAT}`, { id }))
  }
  const key = await api.body(`POST ${KEYS}`, {
    body: { name: 'ci', seats: ['Watcher'], expires_at: '2031-01-01T00:00:00Z' },
  })
  const keys = [null, await api.body(`GET ${KEY}`, { id: key.id })]
  await api.call(`DELETE ${KEY}`, { id: key.id })
  keys.push(await api.body(`GET ${KEY}`, { id: key.id }))
  await api.call(`DELETE ${SEAT}`, { id })
  seats.push(null)
  for (const [target, states] of [
    [id, seats],
    [key.id, keys],
  ] as const) {
    const { data, has_more: more } = await api.body(AUDIT, { query: `target=${target}` })
    t.equal(more, false)
    const pairs = data
      .map(({ before, after }: { before: unknown; after: unknown }) => [before, after])
      .toReversed()
    t.strictSame(
      pairs,
      states.slice(1).map((after, at) => [states[at], after]),
    )
  }
  const [entry] = (await api.body(AUDIT, { query: 'limit=1' })).data
  t.strictSame(Object.keys(entry).toSorted(), [
    ...['action', 'actor', 'after', 'at', 'before', 'hash', 'id', 'prev'],
    ...['request_id', 'seq', 'space', 'target', 'tenant'],
  ])
  t.match(entry, {
    action: 'seat.delete',
    actor: { kind: 'user', id: 'alice' },
    request_id: 'test',
    space: 'admin',
  })
})

t.test('parameters', async (t) => {
  const api = await startApi(t)
  const times: string[] = []
  for (let at = 0; at < 4; at++) {
    times.push(new Date(api.clock).toISOString())
    await api.body(`POST ${SEATS}`, { by: `u${at}`, body: { ...VIEWER, name: `${at}` } })
    api.clock += 60_000
  }
  const names = async (query: string) =>
    (await api.body(AUDIT, { query })).data.map((each: { target: { name: string } }) => each.target.name)
  t.same(await names(''), ['3', '2', '1', '0'], 'newest first')
  t.same(await names(`since=${times[1]}&until=${times[3]}`), ['2', '1'], 'until is not included')
  t.same(await names('actor=u2'), ['2'])
  t.same(await names('target=3'), ['3'], 'a name')
  t.same(await names('action=seat.update'), [])
  const first = await api.body(AUDIT, { query: 'limit=3' })
  t.equal(first.has_more, true)
  t.same(await names(`after=${first.data[2].id}`), ['0'])
  for (const [query, path] of [
    ['action=seat.destroy', '/action'],
    ['action=', '/action'],
    ['limit=0', '/limit'],
    ['after=x', '/after'],
    ['since=yesterday', '/since'],
    ['until=2030-01-01', '/until'],
    ['target=', '/target'],
    ['actor=a&actor=b', '/actor'],
    ['seat=x', '/seat'],
  ] as const) {
    const { refused } = await api.call(AUDIT, { query })
    t.match(refused, { refused: 'input_invalid', faults: [{ path }] }, query)
  }
})

t.test('a caller of another space sees only what concerns Seats of that space', async (t) => {
  const api = await startApi(t)
  for (const [name, spaces] of [
    ['mine', ['one']],
    ['theirs', ['two']],
    ['shared', ['one', 'two']],
  ])
    await api.body(`POST ${SEATS}`, { body: { name, spaces, permissions: [] } })
  const { data } = await api.body(AUDIT, { scope: inSpace('one', 'audit:list') })
  t.same(data.length, 1)
  t.equal(data[0].target.name, 'mine')
})
