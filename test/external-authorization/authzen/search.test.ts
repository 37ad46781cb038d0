/** Searches: each result is allowed when it is asked about, nothing that is allowed is left out, and pages. */

import t from 'tap'
import { onRoute, question, signIn, startPep } from './support.ts'

const { world, ask, decide, newKey } = await startPep(t)
const viewer = await world.seat('Viewer', ['main'], ['trainings:list', 'trainings:read'])
const editor = await world.seat('Editor', ['main', 'side'], ['trainings:list', 'trainings:delete'])
await world.seat('Idle', ['main'], [])
const { id: key } = await newKey(['Viewer'])
const { id: revoked } = await newKey(['Viewer'])
await world.admin('DELETE', `/v1/api-keys/${revoked}`)
await signIn(world, { alice: [viewer], bob: [editor], carol: [viewer, editor], dave: [] })
await world.admin('POST', '/v1/blocks', { user: 'carol' })

interface Found {
  readonly type?: string
  readonly id?: string
  readonly name?: string
}

/** All results, page by page. */
async function search(sought: string, body: object, limit = 100): Promise<Found[]> {
  const found: Found[] = []
  let token: string | undefined
  do {
    const { status, json } = await ask(`/access/v1/search/${sought}`, { ...body, page: { limit, token } })
    if (status !== 200) throw new Error(JSON.stringify(json))
    if (json.results.length > limit || json.page.count !== json.results.length)
      throw new Error('a page is too long')
    found.push(...json.results)
    token = json.page.next_token
  } while (token !== '')
  return found
}

const ids = (found: readonly Found[]) => found.map(({ id, name }) => id ?? name)

t.test('subjects', async (t) => {
  const asked = (type: string, space = 'main') => ({
    subject: { type },
    action: { name: 'GET' },
    resource: { type: 'route', id: '/v1/trainings/{id}' },
    context: { space },
  })
  for (const limit of [1, 2, 100]) {
    t.same(await search('subject', asked('seat'), limit), [
      { type: 'seat', id: 'Viewer', properties: { id: viewer } },
    ])
    t.same(await search('subject', asked('api-key'), limit), [
      { type: 'api-key', id: key, properties: { name: 'pep' } },
    ])
    t.same(await search('subject', asked('user'), limit), [{ type: 'user', id: 'alice' }])
  }
  t.same(await search('subject', asked('seat', 'side')), [])
  const { context: _none, ...unscoped } = asked('seat')
  t.same(await search('subject', unscoped), [], 'a space is needed')
  const open = { ...unscoped, resource: { type: 'route', id: '/v1/me' } }
  t.same(ids(await search('subject', { ...open, subject: { type: 'user' } }, 1)), ['alice', 'bob', 'dave'])
  t.notOk(ids(await search('subject', { ...open, subject: { type: 'api-key' } })).includes(revoked))
  t.same(ids(await search('subject', open)), ['admin', 'pep', 'Viewer', 'Editor', 'Idle'])
})

t.test('resources and actions', async (t) => {
  const subject = { type: 'user', id: 'bob' }
  const context = { space: 'side' }
  for (const limit of [1, 3, 100]) {
    const routes = { subject, action: { name: 'DELETE' }, resource: { type: 'route' }, context }
    t.same(ids(await search('resource', routes, limit)), ['/v1/trainings/{id}'])
    const permissions = { subject, action: { name: 'any' }, resource: { type: 'permission' }, context }
    t.same(ids(await search('resource', permissions, limit)), ['trainings:delete', 'trainings:list'])
    const actions = { subject, resource: { type: 'route', id: '/v1/trainings' }, context }
    t.same(ids(await search('action', actions, limit)), ['GET', 'HEAD'])
  }
  const one = { subject, resource: { type: 'permission', id: 'trainings:list' }, context }
  t.same(await search('action', one), [{ name: 'list' }])
  t.same(await search('action', { ...one, resource: { type: 'permission', id: 'trainings:read' } }), [])
})

t.test('a search finds exactly what evaluations allow', async (t) => {
  const asked = { action: { name: 'GET' }, resource: { type: 'route' }, context: { space: 'main' } }
  const every = ids(await search('resource', { ...asked, subject: { type: 'seat', id: 'admin' } }))
  t.notOk(every.includes('/v1/trainings'), 'admin grants in the admin space alone')
  const patterns = ['/v1/trainings', '/v1/trainings/{id}', '/v1/files/*', '/v1/me', '/docs/*', '/v1/seats']
  for (const subject of [
    'seat:Viewer',
    'seat:Idle',
    'user:bob',
    'user:carol',
    'user:dave',
    `api-key:${key}`,
  ]) {
    const [type, id] = subject.split(':')
    const found = ids(await search('resource', { ...asked, subject: { type, id } }, 2))
    t.equal(new Set(found).size, found.length)
    for (const pattern of patterns) {
      const allowed = (await decide(onRoute(subject, 'GET', pattern, 'main'))) === 'true allow'
      t.equal(found.includes(pattern), allowed, `${subject} ${pattern}`)
    }
  }
})

/** Another character in the middle. */
function changed(token: string): string {
  return `${token.slice(0, 20)}${token[20] === 'B' ? 'C' : 'B'}${token.slice(21)}`
}

t.test('tokens belong to one search, and limits', async (t) => {
  const body = { ...question('x:', 'GET', 'route:/v1/me'), subject: { type: 'user' } }
  const page = async (more: object, path = 'subject') =>
    ask(`/access/v1/search/${path}`, { ...body, ...more })
  const { next_token: token } = (await page({ page: { limit: 1 } })).json.page
  t.match(await page({ page: { token } }), {
    status: 200,
    json: { results: [{ id: 'bob' }], page: { count: 1 } },
  })
  t.match(await page({ page: { token, limit: 1 } }), { status: 200 })
  t.match(
    await page({ page: { token }, context: { time: 'later' } }),
    { status: 200 },
    'only the space counts',
  )
  // Permitted: "a non-negative integer" (Authorization API 1.0, section 8.2). More results follow, so there is a token.
  t.match(await page({ page: { limit: 0 } }), { json: { results: [], page: { next_token: /./ } } })
  t.match((await page({ page: { limit: 10 ** 9 } })).json.results, [{ id: 'alice' }])
  for (const [more, path] of [
    [{ page: { token, limit: 2 } }, '/page/limit'],
    [{ page: { token }, subject: { type: 'seat' } }, '/page/token'],
    [{ page: { token }, action: { name: 'HEAD' } }, '/page/token'],
    [{ page: { token }, resource: { type: 'route', id: '/docs/*' } }, '/page/token'],
    [{ page: { token }, context: { space: 'main' } }, '/page/token'],
    [{ page: { token: '' } }, '/page/token'],
    [{ page: { token: 'x' } }, '/page/token'],
    [{ page: { token: `${token} ` } }, '/page/token'],
    [{ page: { token: changed(token) } }, '/page/token'],
    [{ page: { token: 'A'.repeat(100_000) } }, '/page/token'],
    [{ page: { token: 7 } }, '/page/token'],
    [{ page: { limit: -1 } }, '/page/limit'],
    [{ page: { limit: 1.5 } }, '/page/limit'],
    [{ page: { limit: '1' } }, '/page/limit'],
    [{ page: [] }, '/page'],
    [{ page: null }, '/page'],
  ] as const)
    t.match(
      await page(more),
      { status: 400, json: { errors: [{ path }] } },
      JSON.stringify(more).slice(0, 80),
    )
  const resource = { subject: { type: 'user', id: 'bob' }, page: { token } }
  t.match(await page(resource, 'resource'), { status: 400, json: { errors: [{ path: '/page/token' }] } })
})

t.test('wrong input', async (t) => {
  for (const [sought, more, path] of [
    ['subject', { subject: undefined }, '/subject'],
    ['subject', { subject: { type: 1 } }, '/subject/type'],
    ['subject', { resource: { type: 'route', id: 1 } }, '/resource/id'],
    ['resource', { resource: {} }, '/resource/type'],
    ['resource', { subject: { type: 'user' } }, '/subject/id'],
    ['resource', { action: { name: null } }, '/action/name'],
    ['action', { resource: { type: 'route' } }, '/resource/id'],
    ['action', { context: 7 }, '/context'],
    ['action', { context: { space: 'a b' } }, '/context/space'],
  ] as const) {
    const body = { ...onRoute('user:bob', 'GET', '/v1/me'), ...more }
    t.match(
      await ask(`/access/v1/search/${sought}`, body),
      { status: 400, json: { errors: [{ path }] } },
      path,
    )
  }
  const named = { ...onRoute('user:bob', 'GET', '/v1/me'), action: 7 }
  t.match(await ask('/access/v1/search/action', named), { status: 200 }, 'an action is none of its members')
})

t.test('a user who has a Seat by a grant', async (t) => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const grant = await world.admin('POST', '/v1/grants', { user: 'gil', seat: 'Viewer', until })
  const asked = {
    action: { name: 'GET' },
    resource: { type: 'route', id: '/v1/trainings/{id}' },
    context: { space: 'main' },
  }
  const users = async () => ids(await search('subject', { ...asked, subject: { type: 'user' } }))
  t.same(await users(), ['alice', 'gil'])
  const evaluate = async () =>
    (await ask('/access/v1/evaluation', { ...asked, subject: { type: 'user', id: 'gil' } })).json.decision
  t.equal(await evaluate(), true)
  await world.admin('DELETE', `/v1/grants/${grant.json.id}`)
  t.same(await users(), ['alice'])
  t.equal(await evaluate(), false)
})
