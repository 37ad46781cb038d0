/** `/v1/revocations`: inputs, the shapes of answers, and what is kept of them. */

import t from 'tap'
import { StoreUnavailable } from '../../../seats-admin/index.ts'
import type { ReachedInstance } from '../../../seats-admin/model/revocation.ts'
import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { inSpace } from '../store/conformance.ts'
import { browserSession, family, NOW } from '../store/session-records.ts'
import { type Api, KEYS, REACHED, SEATS, startApi, UNADMINISTERED } from './support.ts'

const LIST = '/v1/revocations'
const POST = `POST ${LIST}`
const GET = `GET ${LIST}/{id}`
const START = '2030-01-01T00:00:00.000Z'
const NONE = { sessions: 0, api_keys: 0, websockets: 0, streams: 0, requests: 0 }
const USER = { user: 'auth0|alice' }

const cut = (websockets: number, streams: number, requests: number) => ({ websockets, streams, requests })

/** Whether the time is that of the writer, or later by the duration of a transaction. */
function isSoonAfter(time: string, start: string): boolean {
  return Date.parse(time) >= Date.parse(start) && Date.parse(time) < Date.parse(start) + 60_000
}

/** An API key of a new Seat of this name, which administers the tenant unless permissions are given. */
async function key(api: Api, name: string, more: object = {}, permissions = ['*']): Promise<string> {
  await api.body(`POST ${SEATS}`, { body: { name, spaces: ['admin'], permissions } })
  return (await api.body(`POST ${KEYS}`, { body: { name, seats: [name], ...more } })).id
}

async function audited(api: Api): Promise<{ action: string; seq: number; hash: string; target: unknown }[]> {
  return (await api.body('GET /v1/audit', { query: 'limit=100' })).data
}

t.test('a user, with the exact fields of the answer', async (t) => {
  const api = await startApi(t)
  api.gateway.reached = [
    { ...REACHED, cut: cut(1, 2, 3) },
    { ...REACHED, id: 'two', name: 'gw-2 4711', ms: 12, cut: cut(10, 0, 0) },
  ]
  api.gateway.unreached = [{ what: 'signed_identity', lasts: 60_000 }, { what: 'decision_listener' }]
  for (const each of [browserSession(USER), family(USER), family({ user: 'bob' })])
    await api.store.sessions.create(each)
  await key(api, 'admin')
  await key(api, 'owned', { owner: USER.user })
  api.announced.length = 0
  const answer = await api.body(POST, { body: { subject: USER, reason: 'stolen laptop' } })
  const { id, seq, at, not_covered: unreached, ...rest } = answer
  t.ok(isUlid(id))
  t.equal(seq, api.announced[0]?.seq)
  t.ok(isSoonAfter(at, START), "the later of the store's time and the writer's")
  t.strictSame(rest, {
    subject: USER,
    what: 'existing',
    reason: 'stolen laptop',
    state: 'closed',
    ended: { sessions: 2, api_keys: 1, websockets: 11, streams: 2, requests: 3 },
    instances: [
      { id: 'one', name: 'gw-1 4711', how: 'acknowledged', ms: 1.235, cut: 6 },
      { id: 'two', name: 'gw-2 4711', how: 'acknowledged', ms: 12, cut: 10 },
    ],
    receipt: null,
  })
  t.match(unreached, [{ what: 'signed_identity', until: String }, { what: 'decision_listener' }])
  t.ok(isSoonAfter(unreached[0].until, '2030-01-01T00:01:00.000Z'))
  t.equal(api.announced.length, 1)
  t.strictSame(await api.body(GET, { id }), answer)
  t.strictSame(await api.body(`GET ${LIST}`), { data: [answer], has_more: false, count: 1 })
  t.same(api.gateway.answered, ['closed'])
})

t.test('all: a block besides', async (t) => {
  const api = await startApi(t)
  await key(api, 'admin')
  const until = '2030-06-01T00:00:00.000Z'
  const body = { subject: USER, what: 'all', until: '2030-06-01T02:00:00+02:00', reason: 'left' }
  t.match(await api.body(POST, { body }), { what: 'all', until, reason: 'left' })
  t.match((await api.body('GET /v1/blocks')).data, [{ user: USER.user, until, reason: 'left' }])
  const lasting = await api.body(POST, { body: { subject: USER, what: 'all' } })
  t.notOk('until' in lasting)
  t.equal(lasting.reason, null)
  const [block, ...more] = (await api.body('GET /v1/blocks')).data
  t.notOk('until' in block, 'the second block replaces the first')
  t.same(more, [])
})

const states: readonly [string, readonly ReachedInstance[], 'closed' | 'partial'][] = [
  ['each has said so', [REACHED, { ...REACHED, cut: cut(1, 0, 0) }], 'closed'],
  ['one did not say what it cut', [REACHED, { ...REACHED, cut: null }], 'partial'],
  ['the lease of one has ended', [REACHED, { ...REACHED, how: 'lease_ended', cut: null }], 'partial'],
  ['its lease has ended, although it said what it cut', [{ ...REACHED, how: 'lease_ended' }], 'partial'],
  ['one has an older version', [REACHED, { ...REACHED, understands: false }], 'partial'],
  ['none was reached', [], 'partial'],
]
for (const [name, reached, state] of states)
  t.test(`${state}: ${name}`, async (t) => {
    const api = await startApi(t)
    api.gateway.reached = reached
    const answer = await api.body(POST, { body: { subject: USER } })
    t.equal(answer.state, state)
    t.same(
      answer.instances.map(({ how, cut: number }: { how: string; cut: number | null }) => [how, number]),
      reached.map(({ how, cut: counts }) => [how, counts === null ? null : counts.websockets]),
    )
    t.same(api.gateway.answered, [state])
    t.equal((await api.body(POST, { body: { subject: USER, dry_run: true } })).state, state)
    t.same(api.gateway.answered, [state], 'a preview is not counted')
  })

t.test('a preview changes nothing, and has every member', async (t) => {
  const api = await startApi(t)
  api.gateway.reached = [{ ...REACHED, cut: cut(1, 2, 3) }]
  api.gateway.unreached = [{ what: 'signed_identity', lasts: 60_000 }]
  api.gateway.sign = () => 'a receipt'
  const session = browserSession(USER)
  await api.store.sessions.create(session)
  await key(api, 'admin')
  const owned = await key(api, 'owned', { owner: USER.user })
  const before = await audited(api)
  const answer = await api.body(POST, { body: { subject: USER, what: 'all', dry_run: true, reason: 'x' } })
  t.strictSame(answer, {
    id: null,
    seq: null,
    at: START,
    subject: USER,
    what: 'all',
    reason: 'x',
    state: 'closed',
    ended: { sessions: 1, api_keys: 1, websockets: 1, streams: 2, requests: 3 },
    instances: [{ id: 'one', name: 'gw-1 4711', how: null, ms: null, cut: null }],
    not_covered: [{ what: 'signed_identity', until: '2030-01-01T00:01:00.000Z' }],
    receipt: null,
  })
  t.same(await audited(api), before)
  t.equal((await api.store.sessions.sessionById('acme', session.id))?.endedAt, null)
  t.notOk('revoked_at' in (await api.body(`GET ${KEYS}/{id}`, { id: owned })))
  t.same((await api.body('GET /v1/blocks')).data, [])
  t.same((await api.body(`GET ${LIST}`)).data, [])
})

t.test('a session and an API key, and the audit beside them', async (t) => {
  const api = await startApi(t)
  const session = browserSession(USER)
  await api.store.sessions.create(session)
  await key(api, 'admin')
  const target = await key(api, 'leaked', {}, ['a:b'])
  const other = await key(api, 'other', {}, ['a:b'])
  const before = (await audited(api)).length
  const one = await api.body(POST, { body: { subject: { session: session.id } } })
  t.same([one.subject, one.ended], [{ session: session.id }, { ...NONE, sessions: 1 }])
  const two = await api.body(POST, { body: { subject: { api_key: target } } })
  t.same([two.subject, two.ended], [{ api_key: target }, { ...NONE, api_keys: 1 }])
  t.ok('revoked_at' in (await api.body(`GET ${KEYS}/{id}`, { id: target })))
  t.notOk('revoked_at' in (await api.body(`GET ${KEYS}/{id}`, { id: other })))
  const entries = (await audited(api)).slice(0, -before).toReversed()
  t.same(
    entries.map(({ action }) => action),
    ['session.end', 'revocation.create', 'api_key.revoke', 'revocation.create'],
  )
  t.match(entries[1]?.target, { kind: 'revocation', id: one.id })
  t.match((await api.body('GET /v1/audit', { query: 'action=revocation.create' })).data, [
    { target: { kind: 'revocation', id: two.id } },
    { target: { kind: 'revocation', id: one.id } },
  ])
})

t.test('unknown ones', async (t) => {
  const api = await startApi(t)
  for (const id of ['', 'x', '\0', '\ud800', '01KAJ0Z1V5Q8T2C0W7M3E9R4XD', 'A'.repeat(22)])
    for (const dry_run of [false, true]) {
      const name = `${JSON.stringify(id)}, dry_run: ${dry_run}`
      const call = (subject: object) => api.call(POST, { body: { subject, dry_run } })
      t.equal((await call({ api_key: id })).refused?.refused, 'api_key_not_found', name)
      t.equal((await call({ session: id })).refused?.refused, 'session_not_found', name)
    }
  for (const issuer of ['https://ci.example/', 'https://CI.example', 'https://login.example', ''])
    for (const dry_run of [false, true])
      t.match(
        (await api.call(POST, { body: { subject: { issuer }, dry_run } })).refused,
        { refused: 'input_invalid', faults: [{ path: '/subject/issuer' }] },
        issuer,
      )
  const message = 'is not an issuer of the tenant: it has https://ci.example'
  const other = await api.call(POST, { body: { subject: { issuer: 'https://ci.example/' } } })
  t.same(other.refused?.faults, [{ path: '/subject/issuer', message }])
  t.match(
    (await api.call(POST, { tenant: 'globex', body: { subject: { issuer: 'https://ci.example' } } })).refused,
    { faults: [{ path: '/subject/issuer', message: 'is not an issuer of the tenant: it has none' }] },
    'of another tenant',
  )
  t.match(await api.body(POST, { body: { subject: { issuer: 'https://ci.example' } } }), { ended: NONE })
  t.match(await api.body(POST, { body: { subject: { user: 'whom nobody knows' } } }), { ended: NONE })
  t.match((await api.call(GET, { id: 'x' })).refused, { refused: 'revocation_not_found' })
  t.match((await api.call(GET, { id: '01KAJ0Z1V5Q8T2C0W7M3E9R4XD' })).refused, {
    refused: 'revocation_not_found',
  })
})

t.test('wrong bodies, each with the place of the wrong member', async (t) => {
  const api = await startApi(t)
  const later = '2031-01-01T00:00:00Z'
  const tenant = { tenant: true }
  const cases: [body: unknown, ...paths: string[]][] = [
    [undefined, ''],
    [null, ''],
    [[], ''],
    ['user:alice', ''],
    [{}, '/subject'],
    [{ subject: null }, '/subject'],
    [{ subject: 'user:alice' }, '/subject'],
    [{ subject: [] }, '/subject'],
    [{ subject: {} }, '/subject'],
    [{ subject: { user: 'a', session: 'b' } }, '/subject'],
    [{ subject: { user: 'a', tenant: true } }, '/subject'],
    [{ subject: { users: 'a' } }, '/subject/users'],
    [{ subject: { user: '' } }, '/subject/user'],
    [{ subject: { user: 7 } }, '/subject/user'],
    [{ subject: { user: null } }, '/subject/user'],
    [{ subject: { user: ['a'] } }, '/subject/user'],
    [{ subject: { user: '\ud800' } }, '/subject/user'],
    [{ subject: { user: 'x'.repeat(16 * 1024 + 1) } }, '/subject/user'],
    [{ subject: { api_key: 7 } }, '/subject/api_key'],
    [{ subject: { session: 7 } }, '/subject/session'],
    [{ subject: { issuer: 7 } }, '/subject/issuer'],
    [{ subject: { tenant: false } }, '/subject/tenant'],
    [{ subject: { tenant: 'acme' } }, '/subject/tenant'],
    [{ subject: USER, what: 'everything' }, '/what'],
    [{ subject: USER, what: null }, '/what'],
    [{ subject: tenant, what: 'all' }, '/what'],
    [{ subject: { session: 'x' }, what: 'all' }, '/what'],
    [{ subject: { api_key: 'x' }, what: 'all' }, '/what'],
    [{ subject: { issuer: 'https://ci.example' }, what: 'all' }, '/what'],
    [{ subject: USER, until: later }, '/until'],
    [{ subject: USER, what: 'existing', until: later }, '/until'],
    [{ subject: USER, what: 'all', until: START }, '/until'],
    [{ subject: USER, what: 'all', until: '2020-01-01T00:00:00Z' }, '/until'],
    [{ subject: USER, what: 'all', until: 'tomorrow' }, '/until'],
    [{ subject: USER, what: 'all', until: 7 }, '/until'],
    [{ subject: USER, api_keys: true }, '/api_keys'],
    [{ subject: USER, api_keys: false }, '/api_keys'],
    [{ subject: { api_key: 'x' }, api_keys: true }, '/api_keys'],
    [{ subject: tenant, api_keys: 'true' }, '/api_keys'],
    [{ subject: tenant, api_keys: null }, '/api_keys'],
    [{ subject: USER, reason: 7 }, '/reason'],
    [{ subject: USER, reason: 'x'.repeat(1025) }, '/reason'],
    [{ subject: USER, reason: '\udfff' }, '/reason'],
    [{ subject: USER, dry_run: 'true' }, '/dry_run'],
    [{ subject: USER, dry_run: null }, '/dry_run'],
    [{ subject: USER, dryRun: true }, '/dryRun'],
    [{ subject: tenant, what: 'all', until: later, api_keys: true }, '/what'],
    [{ subject: { session: 'x' }, what: 'existing', until: later, api_keys: true }, '/until', '/api_keys'],
  ]
  for (const [body, ...paths] of cases) {
    const { refused } = await api.call(POST, { body })
    const name = JSON.stringify(body)?.slice(0, 100) ?? 'no body'
    t.equal(refused?.refused, 'input_invalid', name)
    t.same([...new Set(refused?.faults?.map(({ path }) => path))], paths, name)
  }
  t.equal(api.announced.length, 0)
  const accepted = { subject: USER, what: 'existing', until: null, reason: null, dry_run: false }
  t.match(await api.body(POST, { body: accepted }), { state: 'closed' })
})

t.test('the whole tenant: API keys stay, unless they are named', async (t) => {
  const api = await startApi(t)
  for (const each of [browserSession(USER), family({ user: 'bob' }), browserSession({ tenant: 'globex' })])
    await api.store.sessions.create(each)
  const own = await key(api, 'admin')
  await key(api, 'other')
  const tenant = { tenant: true }
  const first = await api.body(POST, { body: { subject: tenant }, by: own, kind: 'api-key' })
  t.same(first.ended, { ...NONE, sessions: 2 })
  t.notOk('kept' in first || 'api_keys' in first)
  const body = { subject: tenant, api_keys: true }
  const seen = await api.body(POST, { body: { ...body, dry_run: true }, by: own, kind: 'api-key' })
  const second = await api.body(POST, { body, by: own, kind: 'api-key' })
  for (const answer of [seen, second]) {
    t.same(answer.ended, { ...NONE, api_keys: 1 })
    t.same([answer.api_keys, answer.kept], [true, [{ api_key: own }]])
    t.notOk('warnings' in answer, 'the key of the caller administers the tenant')
  }
  const third = await api.body(POST, { body })
  t.same(third.ended, { ...NONE, api_keys: 1 })
  t.notOk('kept' in third, 'the caller has no API key')
  t.same(third.warnings, UNADMINISTERED)
})

t.test('nobody administers: said of what is left, also in a preview, and not kept', async (t) => {
  const api = await startApi(t)
  const own = await key(api, 'admin', { owner: USER.user })
  for (const subject of [USER, { api_key: own }]) {
    const preview = await api.body(POST, { body: { subject, dry_run: true } })
    t.same(preview.warnings, UNADMINISTERED, JSON.stringify(subject))
  }
  const { warnings, ...answer } = await api.body(POST, { body: { subject: USER } })
  t.same(warnings, UNADMINISTERED)
  t.strictSame(await api.body(GET, { id: answer.id }), answer)

  const seat = (await api.body(`GET ${SEATS}`)).data[0].id
  await api.store.recordSignIn('acme', { sub: 'eve', email: null, name: null, at: 1 }, [seat])
  const subject = { user: 'eve' }
  t.notOk('warnings' in (await api.body(POST, { body: { subject, dry_run: true } })), 'signs in again')
  t.same((await api.body(POST, { body: { subject, what: 'all', dry_run: true } })).warnings, UNADMINISTERED)
  t.notOk('warnings' in (await api.body(POST, { body: { subject } })))
  t.same((await api.body(POST, { body: { subject, what: 'all' } })).warnings, UNADMINISTERED)
})

t.test('the receipt has the answer, the tenant and the entry of the audit', async (t) => {
  const api = await startApi(t)
  const signed: Readonly<Record<string, unknown>>[] = []
  api.gateway.sign = (claims) => `receipt ${signed.push(claims)}`
  await key(api, 'admin')
  const { receipt, ...answer } = await api.body(POST, { body: { subject: USER, reason: 'x' } })
  t.equal(receipt, 'receipt 1')
  const entry = (await audited(api)).find(({ action }) => action === 'revocation.create')
  t.ok(entry !== undefined)
  t.strictSame(signed, [{ tenant: 'acme', ...answer, audit: { seq: entry?.seq, hash: entry?.hash } }])
  t.equal((await api.body(GET, { id: answer.id })).receipt, receipt)
})

t.test('a stored answer is final, and a repetition is a revocation of its own', async (t) => {
  const api = await startApi(t)
  const first = await api.body(POST, { body: { subject: USER } })
  delete first.warnings
  api.gateway.reached = [{ ...REACHED, id: 'another', how: 'lease_ended', cut: null }]
  api.clock += 60_000
  const second = await api.body(POST, { body: { subject: USER } })
  t.not(second.id, first.id)
  t.ok(second.at > first.at && second.id > first.id && second.seq > first.seq)
  await api.store.answerRevocation('acme', first.id, '{}')
  t.strictSame(await api.body(GET, { id: first.id }), first)
})

t.test('without a stored answer it is 503, and the list says partial', async (t) => {
  const api = await startApi(t)
  await key(api, 'admin')
  api.gateway.unreached = [{ what: 'signed_identity', lasts: 60_000 }]
  await api.store.sessions.create(family(USER))
  const { answerRevocation } = api.store
  t.teardown(() => Object.assign(api.store, { answerRevocation }))
  api.store.answerRevocation = () => Promise.reject(new StoreUnavailable('the store is away'))
  await t.rejects(api.call(POST, { body: { subject: USER, reason: 'x' } }), StoreUnavailable)
  t.same(api.gateway.answered, [])
  const { data } = await api.body(`GET ${LIST}`)
  const [{ id, seq, at, ...rest }] = data
  t.ok(isSoonAfter(at, START))
  t.strictSame(rest, {
    subject: USER,
    what: 'existing',
    reason: 'x',
    state: 'partial',
    ended: { ...NONE, sessions: 1 },
    instances: [],
    not_covered: [{ what: 'signed_identity' }],
    receipt: null,
  })
  t.equal(seq, api.announced.at(-1)?.seq)
  t.strictSame(await api.body(GET, { id }), data[0])
})

t.test('pages, and each form of a subject', async (t) => {
  const api = await startApi(t)
  await key(api, 'admin')
  const session = browserSession(USER)
  await api.store.sessions.create(session)
  const target = await key(api, 'leaked', {}, ['a:b'])
  const users = ['alice', 'a:b', ':', 'user:alice', 'tenant', 'ünï\u2028 &=', '\0', 'A']
  const forms: [query: string, subject: object][] = [
    ...users.map((user): [string, object] => [`user:${user}`, { user }]),
    [`session:${session.id}`, { session: session.id }],
    [`api_key:${target}`, { api_key: target }],
    ['issuer:https://ci.example', { issuer: 'https://ci.example' }],
    ['tenant', { tenant: true }],
  ]
  const ids: string[] = []
  for (const [, subject] of [...forms, ...forms]) ids.push((await api.body(POST, { body: { subject } })).id)
  for (const [at, [text, subject]] of forms.entries()) {
    const { data } = await api.body(`GET ${LIST}`, { query: `subject=${encodeURIComponent(text)}` })
    t.same(
      data.map(({ id }: { id: string }) => id).toSorted(),
      [ids[at], ids[at + forms.length]],
      encodeURIComponent(text),
    )
    for (const each of data) t.strictSame(each.subject, subject)
  }
  const read: string[] = []
  const sizes: number[] = []
  for (let after = '', more = true; more; after = `&after=${read.at(-1)}`) {
    const page = await api.body(`GET ${LIST}`, { query: `limit=10${after}` })
    read.push(...page.data.map(({ id }: { id: string }) => id))
    sizes.push(page.data.length)
    more = page.has_more
  }
  t.same(read.toSorted(), ids, 'each once')
  t.same(sizes, [10, 10, 4])
  const [first = '', second = ''] = (await api.body(`GET ${LIST}`, { query: 'subject=user:alice' })).data.map(
    ({ id }: { id: string }) => id,
  )
  const rest = await api.body(`GET ${LIST}`, { query: `subject=user:alice&limit=1&after=${first}` })
  t.match(rest, { data: [{ id: second }], has_more: false })
  t.same((await api.body(`GET ${LIST}`, { query: 'subject=user:nobody' })).data, [])
  const wrong = ['subject=', 'subject=alice', 'subject=user', 'subject=user:', 'subject=tenant:acme']
  const more = ['subject=tenant&subject=tenant', 'user=alice', 'after=x', 'limit=0', 'limit=101']
  for (const query of [...wrong, 'subject=User:a', 'subject=%20tenant', ...more])
    t.equal((await api.call(`GET ${LIST}`, { query })).refused?.refused, 'input_invalid', query)
})

t.test('outside the admin space, and in another tenant', async (t) => {
  const api = await startApi(t)
  const { id } = await api.body(POST, { body: { subject: USER } })
  const scope = inSpace('main', '*')
  for (const dry_run of [false, true])
    t.match((await api.call(POST, { scope, body: { subject: USER, dry_run } })).refused, {
      refused: 'permission_denied',
    })
  t.equal(api.announced.length, 1)
  t.same((await api.body(`GET ${LIST}`, { scope })).data, [])
  t.equal((await api.call(GET, { scope, id })).refused?.refused, 'revocation_not_found')
  t.same((await api.body(`GET ${LIST}`, { tenant: 'globex' })).data, [])
  t.equal((await api.call(GET, { tenant: 'globex', id })).refused?.refused, 'revocation_not_found')
  const session = family({ ...USER, tenant: 'globex', expiresAt: NOW * 2 })
  await api.store.sessions.create(session)
  t.match(
    (await api.call(POST, { body: { subject: { session: session.id } } })).refused,
    { refused: 'session_not_found' },
    'of another tenant',
  )
  t.same((await api.body(POST, { body: { subject: USER } })).ended, NONE, 'a user of the same name')
  t.equal((await api.store.sessions.sessionById('globex', session.id))?.endedAt, null)
})
