import t from 'tap'
import { hashApiKey, parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { inSpace } from '../store/conformance.ts'
import { KEY, KEYS, SEAT, SEATS, startApi } from './support.ts'

const START = '2030-01-01T00:00:00.000Z'

t.test('lifecycle of an API key, with the exact fields of each response', async (t) => {
  const api = await startApi(t)
  await api.body(`POST ${SEATS}`, { body: { name: 'A', spaces: ['one'], permissions: ['a:b'] } })
  const made = await api.call(`POST ${KEYS}`, { body: { name: 'ci', seats: ['A'] } })
  t.equal(made.status, 200)
  const { key, warnings, ...shown } = made.body
  t.match(warnings, [{ code: 'nobody_administers' }], 'its Seat does not administer')
  t.match(key, /^sk_[A-Za-z0-9]+$/)
  t.same(parseApiKey(key), { tenant: 'acme', id: shown.id })
  t.strictSame(shown, { id: shown.id, name: 'ci', seats: ['A'], created_by: 'alice', created_at: START })
  t.same((await api.store.apiKeyById('acme', shown.id)).value?.hash, hashApiKey(key))

  const { id } = shown
  t.strictSame(await api.body(`GET ${KEY}`, { id }), shown)
  t.strictSame(await api.body(`GET ${KEYS}`), { data: [shown], has_more: false, count: 1 })
  await api.store.recordKeyUse([{ tenant: 'acme', id, at: Date.parse(START) + 7 }])
  const used = { ...shown, last_used_at: '2030-01-01T00:00:00.007Z' }
  t.strictSame(await api.body(`GET ${KEY}`, { id }), used)
  t.strictSame(await api.body(`GET ${KEYS}`), { data: [used], has_more: false, count: 1 })
  api.clock += 5
  t.strictSame(await api.call(`DELETE ${KEY}`, { id }), { status: 204, body: undefined, refused: null })
  const revoked = { ...used, revoked_at: '2030-01-01T00:00:00.005Z' }
  t.strictSame(await api.body(`GET ${KEY}`, { id }), revoked)
  api.clock += 5
  t.equal((await api.call(`DELETE ${KEY}`, { id })).status, 204, 'revoked again')
  t.strictSame(await api.body(`GET ${KEYS}`), { data: [revoked], has_more: false, count: 1 })

  const responses = JSON.stringify(api.announced)
  t.notOk(responses.includes(key) || responses.includes('sk_'), 'only the creation returns the key')
  t.same(api.announced.at(-1)?.changes, [{ tenant: 'acme', kind: 'api-key', key: id }])
  t.equal(api.announced.length, 4, 'the second revocation is announced too')
})

t.test('expiry', async (t) => {
  const api = await startApi(t)
  const make = (expires_at: unknown) =>
    api.call(`POST ${KEYS}`, { body: { name: 'k', seats: [], expires_at } })
  const made = await make('2030-01-01T03:00:00.0009+02:00')
  t.equal(made.body.expires_at, '2030-01-01T01:00:00.000Z')
  t.equal((await api.body(`GET ${KEY}`, { id: made.body.id })).expires_at, '2030-01-01T01:00:00.000Z')
  t.notOk('expires_at' in (await make(null)).body, 'null: no expiry')
  for (const past of [START, '2029-12-31T23:59:59.999Z', '2030-01-01T00:00:00+00:01']) {
    const { refused } = await make(past)
    t.match(refused, {
      refused: 'input_invalid',
      faults: [{ path: '/expires_at', message: 'must be in the future' }],
    })
  }
})

t.test('the owner: in answers, lists and the audit, and as a filter', async (t) => {
  const api = await startApi(t)
  const make = (name: string, more: object = {}) =>
    api.body(`POST ${KEYS}`, { body: { name, seats: [], ...more } })
  const owners = ['alice', 'auth0|alice', 'alice ', 'ünï\u2028&=', '"', 'a\0b', 'x'.repeat(16 * 1024)]
  for (const owner of owners) {
    const { key: _, warnings: _warnings, ...made } = await make('k', { owner })
    t.equal(made.owner, owner)
    t.strictSame(await api.body(`GET ${KEY}`, { id: made.id }), made)
    const { data } = await api.body(`GET ${KEYS}`, { query: `owner=${encodeURIComponent(owner)}` })
    t.strictSame(data, [made], encodeURIComponent(owner).slice(0, 40))
    const [entry] = (await api.body('GET /v1/audit', { query: `target=${made.id}` })).data
    t.match(entry, { action: 'api_key.create', after: { owner: owner.replace('\0', '\ufffd') } })
  }
  for (const none of [{}, { owner: null }]) t.notOk('owner' in (await make('none', none)))
  t.equal((await api.body(`GET ${KEYS}`)).count, owners.length + 2)
  t.same((await api.body(`GET ${KEYS}`, { query: 'owner=nobody' })).data, [])
  for (const at of [1, 2, 3]) await make(`of bob ${at}`, { owner: 'bob' })
  const first = await api.body(`GET ${KEYS}`, { query: 'owner=bob&limit=2' })
  t.equal(first.has_more, true)
  const rest = await api.body(`GET ${KEYS}`, { query: `owner=bob&after=${first.data[1].id}` })
  t.match(rest, { data: [{ name: 'of bob 3' }], has_more: false, count: 1 })
  const { id } = first.data[0]
  await api.call(`DELETE ${KEY}`, { id })
  t.match(await api.body(`GET ${KEYS}`, { query: 'owner=bob&limit=1' }), {
    data: [{ id, owner: 'bob', revoked_at: START }],
  })
  for (const owner of ['', 7, ['a'], '\ud800', 'x'.repeat(16 * 1024 + 1)]) {
    const { refused } = await api.call(`POST ${KEYS}`, { body: { name: 'k', seats: [], owner } })
    t.match(refused, { refused: 'input_invalid', faults: [{ path: '/owner' }] })
  }
  for (const query of ['owner=', 'owner=a&owner=a'])
    t.equal((await api.call(`GET ${KEYS}`, { query })).refused?.refused, 'input_invalid', query)
})

t.test('outside the admin space: keys of the space alone, whoever owns them', async (t) => {
  const api = await startApi(t)
  for (const name of ['one', 'two']) {
    await api.body(`POST ${SEATS}`, { body: { name, spaces: [name], permissions: [] } })
    await api.body(`POST ${KEYS}`, { body: { name, seats: [name], owner: 'alice' } })
  }
  const { data } = await api.body(`GET ${KEYS}`, { query: 'owner=alice', scope: inSpace('one', '*') })
  t.match(data, [{ name: 'one', owner: 'alice' }])
  t.equal(data.length, 1)
})

t.test('a key can only have existing Seats', async (t) => {
  const api = await startApi(t)
  for (const [name, space] of [
    ['A', 'one'],
    ['B', 'two'],
  ]) {
    await api.body(`POST ${SEATS}`, { body: { name, spaces: [space], permissions: [] } })
  }
  const refusedFor = async (seats: string[], scope?: ReturnType<typeof inSpace>) =>
    (await api.call(`POST ${KEYS}`, { body: { name: 'k', seats }, ...(scope && { scope }) })).refused
  t.match(await refusedFor(['A', 'X']), { refused: 'input_invalid', faults: [{ path: '/seats/1' }] })
  t.match(await refusedFor(['X'], inSpace('one', '*')), {
    refused: 'input_invalid',
    faults: [{ path: '/seats/0' }],
  })
  t.strictSame(await refusedFor(['B'], inSpace('one', '*')), await refusedFor(['X'], inSpace('one', '*')))
  t.match(await refusedFor([], inSpace('one', '*')), { refused: 'grant_exceeds_own' })
  t.equal(await refusedFor(['A'], inSpace('one', '*')), null)
  t.equal(await refusedFor([]), null)
  const many = await refusedFor(Array.from({ length: 1000 }, (_, at) => `none ${at}`))
  t.equal(many?.faults?.length, 50, 'bounded number of faults')
})

t.test('responses contain the current names of the Seats', async (t) => {
  const api = await startApi(t)
  const seat = await api.body(`POST ${SEATS}`, { body: { name: 'A', spaces: [], permissions: [] } })
  const { id } = await api.body(`POST ${KEYS}`, { body: { name: 'k', seats: ['A'] } })
  await api.body(`PUT ${SEAT}`, { id: seat.id, body: { name: 'B' } })
  t.same((await api.body(`GET ${KEY}`, { id })).seats, ['B'])
  await api.call(`DELETE ${SEAT}`, { id: seat.id })
  t.same((await api.body(`GET ${KEY}`, { id })).seats, [])
})

t.test('keys of other spaces are neither visible nor writable', async (t) => {
  const api = await startApi(t)
  await api.body(`POST ${SEATS}`, { body: { name: 'B', spaces: ['two'], permissions: [] } })
  const { id } = await api.body(`POST ${KEYS}`, { body: { name: 'k', seats: ['B'] } })
  const scope = inSpace('one', '*')
  t.equal((await api.call(`GET ${KEY}`, { id, scope })).refused?.refused, 'api_key_not_found')
  t.equal((await api.call(`DELETE ${KEY}`, { id, scope })).refused?.refused, 'api_key_not_found')
  t.same((await api.body(`GET ${KEYS}`, { scope })).data, [])
  t.equal((await api.call(`GET ${KEY}`, { id, tenant: 'globex' })).refused?.refused, 'api_key_not_found')
  t.equal((await api.call(`DELETE ${KEY}`, { id, tenant: 'globex' })).refused?.refused, 'api_key_not_found')
})

t.test('pages', async (t) => {
  const api = await startApi(t)
  for (let at = 0; at < 3; at++) await api.body(`POST ${KEYS}`, { body: { name: `k${at}`, seats: [] } })
  const first = await api.body(`GET ${KEYS}`, { query: 'limit=2' })
  t.match([first.count, first.has_more], [2, true])
  const last = await api.body(`GET ${KEYS}`, { query: `after=${first.data[1].id}` })
  t.match([last.count, last.has_more, last.data[0].name], [1, false, 'k2'])
  t.equal((await api.call(`GET ${KEYS}`, { query: 'x=1' })).refused?.refused, 'input_invalid')
})
