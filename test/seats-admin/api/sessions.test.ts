/** Sign-in sessions as administrators see and end them. */

import t from 'tap'
import { browserSession, family, HOUR, NOW } from '../store/session-records.ts'
import { inSpace } from '../store/conformance.ts'
import { until } from '../../support/until.ts'
import { startApi } from './support.ts'

const LIST = 'GET /v1/sessions'
const END = 'DELETE /v1/sessions/{id}'

async function start(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t)
  api.clock = NOW
  return api
}

t.test('a session, with the exact fields, until it is ended', async (t) => {
  const api = await start(t)
  const [browser, program] = [browserSession(), family({ email: null, createdAt: null })]
  for (const each of [browser, program]) await api.store.sessions.create(each)
  const shown = (await api.body(LIST)).data
  const byKind = new Map(shown.map((each: { kind: string }) => [each.kind, each]))
  t.strictSame(byKind.get('browser'), {
    id: browser.id,
    user: browser.user,
    email: 'alice@acme.example',
    kind: 'browser',
    created_at: '2027-01-15T07:00:00.000Z',
    expires_at: '2027-01-15T16:00:00.000Z',
  })
  const fields = { id: program.id, user: program.user, kind: 'program' }
  t.strictSame(byKind.get('program'), { ...fields, expires_at: '2027-01-15T16:00:00.000Z' })

  t.strictSame(await api.call(END, { id: browser.id }), { status: 204, body: undefined, refused: null })
  t.match(api.announced, [{ changes: [{ tenant: 'acme', kind: 'session', key: browser.id }] }])
  const ended = await api.store.sessions.sessionById('acme', browser.id)
  t.match(ended, { endedAt: NOW, sealed: '' })
  t.same(
    (await api.body(LIST)).data.map(({ id }: { id: string }) => id),
    [program.id],
    'an ended session is not listed',
  )
  api.clock += 5
  t.equal((await api.call(END, { id: browser.id })).status, 204, 'ended again')
  t.equal((await api.store.sessions.sessionById('acme', browser.id))?.endedAt, NOW, 'its time stays')
  t.equal(api.announced.length, 2, 'and it is announced again')
})

t.test('of one user', async (t) => {
  const api = await start(t)
  const users = ['alice', 'alice ', 'a&b=c', 'ünï\u2028', '"']
  for (const user of users) await api.store.sessions.create(family({ user }))
  for (const user of users) {
    const { data } = await api.body(LIST, { query: `user=${encodeURIComponent(user)}` })
    t.same(
      data.map((each: { user: string }) => each.user),
      [user],
    )
  }
  t.same(await api.body(LIST, { query: 'user=nobody' }), { data: [], has_more: false })
})

t.test('pages in order of the id, without expired and ended sessions', async (t) => {
  const api = await start(t)
  const live = Array.from({ length: 7 }, () => family())
  const others = [
    browserSession({ expiresAt: NOW }),
    browserSession({ endedAt: NOW - 1 }),
    browserSession({ tenant: 'globex' }),
  ]
  for (const each of [...live, ...others]) await api.store.sessions.create(each)
  const found: string[] = []
  const sizes: number[] = []
  for (let after = '', more = true; more; after = `&after=${found.at(-1)}`) {
    const page = await api.body(LIST, { query: `limit=3${after}` })
    found.push(...page.data.map(({ id }: { id: string }) => id))
    sizes.push(page.data.length)
    more = page.has_more
  }
  const ids = live.map(({ id }) => id)
  t.same(found, ids.toSorted(), 'each once, compared bytewise')
  t.same(sizes, [3, 3, 1])
  api.clock += 8 * HOUR
  t.same((await api.body(LIST)).data, [])
})

t.test('outside the admin space no session is visible, and none can be ended', async (t) => {
  const api = await start(t)
  const session = browserSession()
  await api.store.sessions.create(session)
  const scope = inSpace('one', '*')
  t.same(await api.body(LIST, { scope }), { data: [], has_more: false })
  const { refused } = await api.call(END, { id: session.id, scope })
  t.equal(refused?.refused, 'session_not_found')
  t.strictSame(refused, (await api.call(END, { id: 'A'.repeat(22) })).refused, 'as an unknown one')
  t.equal((await api.store.sessions.sessionById('acme', session.id))?.endedAt, null)
  t.equal(api.announced.length, 0)
})

t.test('a session of another tenant does not exist', async (t) => {
  const api = await start(t)
  const session = browserSession({ tenant: 'globex' })
  await api.store.sessions.create(session)
  t.equal((await api.call(END, { id: session.id })).refused?.refused, 'session_not_found')
  t.equal((await api.store.sessions.sessionById('globex', session.id))?.endedAt, null)
})

t.test('invalid parameters', async (t) => {
  const api = await start(t)
  for (const query of ['user=', 'user=a&user=b', 'after=x', 'after=', 'limit=0', 'limit=101', 'users=a'])
    t.equal((await api.call(LIST, { query })).refused?.refused, 'input_invalid', query)
  for (const id of ['', 'x', '\0', '\ud800', "' OR 1=1 --"])
    t.equal((await api.call(END, { id })).refused?.refused, 'session_not_found', JSON.stringify(id))
})

t.test('nothing secret is shown', async (t) => {
  const api = await start(t)
  const session = family({ sealed: 'the-sealed-grant', providerSession: new Uint8Array(32).fill(7) })
  await api.store.sessions.create(session)
  const text = JSON.stringify(await api.body(LIST))
  for (const bytes of [session.familyHash, session.handleHash, session.providerSession])
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      t.notOk(text.includes(Buffer.from(bytes ?? []).toString(encoding)))
  t.notOk(text.includes('the-sealed-grant') || text.includes('Viewer'))
})

t.test('the response waits for the announcement', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const api = await startApi(t, () => promise)
  const session = family()
  await api.store.sessions.create(session)
  let answered = false
  const answer = api.call(END, { id: session.id }).then((it) => {
    answered = true
    return it
  })
  await until(() => api.announced.length > 0, 'an announcement', { pause: 1 })
  await new Promise((next) => setImmediate(next))
  t.equal(answered, false)
  resolve()
  t.equal((await answer).status, 204)
})
