/**
 * The protocol at a running gateway: versions, pages, parts of resources, discovery, faults; and what is
 * logged and audited.
 */

import { Schemas } from 'scimmy'
import t from 'tap'
import { metricsOf } from '../support/operations.ts'
import { until } from '../support/until.ts'
import { BASE, GLOBEX_TOKEN, GROUP, NEW_TOKEN, ORIGIN, startScim, TOKEN, USER } from './support.ts'

const scim = await startScim(t)
const { world } = scim
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'

t.test('versions', async (t) => {
  const { headers, json } = await scim.send('POST', '/Users', { schemas: [USER], userName: 'versions' })
  const path = `/Users/${json.id}`
  t.equal(headers.location, `${ORIGIN}${BASE}${path}`)
  t.equal(json.meta.location, headers.location)
  t.match(headers.etag, /^W\/"[^"]+"$/)
  t.equal(json.meta.version, headers.etag)
  const old = String(headers.etag)
  const read = (more: Record<string, string>) => scim.send('GET', path, undefined, more)
  t.equal((await read({ 'if-none-match': old })).status, 304)
  t.equal((await read({ 'if-none-match': old })).body, '')
  t.equal((await read({ 'if-none-match': '"x"' })).status, 200)
  const change = (tag: string, title: string) =>
    scim.send('PUT', path, { userName: 'versions', title }, { 'if-match': tag })
  const changed = await change(old, 'one')
  t.equal(changed.status, 200)
  t.not(changed.headers.etag, old)
  t.equal((await read({ 'if-none-match': old })).status, 200, 'it is another version')
  for (const [tag, status] of [
    [old, 412],
    [old.slice(2), 412],
    ['x', 400],
    ['*', 200],
    [String(changed.headers.etag), 412],
  ] as const)
    t.match(await change(tag, tag), { status, headers: { 'content-type': 'application/scim+json' } }, tag)
  const { json: now } = await read({})
  t.equal(now.title, '*')
  const strong = now.meta.version.slice(2)
  t.equal((await change(strong, 'strong')).status, 200, 'a strong tag with the same text')
  const stale = await scim.send('DELETE', path, undefined, { 'if-match': old })
  t.match(stale.json, { schemas: [ERROR], status: '412' })
  t.equal((await scim.send('DELETE', path)).status, 204)

  const group = await scim.send('POST', '/Groups', { schemas: [GROUP], displayName: 'versions' })
  t.equal(group.headers.location, `${ORIGIN}${BASE}/Groups/${group.json.id}`)
  const rename = (tag: string) =>
    scim.send('PUT', `/Groups/${group.json.id}`, { displayName: 'renamed' }, { 'if-match': tag })
  t.equal((await rename(String(group.headers.etag))).status, 200)
  t.equal((await rename(String(group.headers.etag))).status, 412)
  t.equal((await scim.send('DELETE', `/Groups/${group.json.id}`)).status, 204)
})

t.test('PUT leaves what rights depend on, unless it says otherwise', async (t) => {
  const alice = await scim.user('alice', { title: 'x', emails: [{ value: 'a@acme.example' }] })
  await scim.patch(`/Users/${alice}`, { op: 'replace', path: 'active', value: false })
  const put = async (body: object) =>
    (await scim.send('PUT', `/Users/${alice}`, { schemas: [USER], userName: 'alice', ...body })).json
  const after = await put({})
  t.match(after, { active: false, externalId: 'alice' })
  t.notOk('title' in after || 'emails' in after, 'the rest has no value')
  t.notOk('externalId' in (await put({ externalId: null })))
  t.match(await put({ active: 'True', externalId: 'alice' }), { active: true, externalId: 'alice' })

  const group = await scim.group('PUT', [alice])
  const replace = (body: object) => scim.send('PUT', `/Groups/${group}`, { displayName: 'PUT', ...body })
  t.match((await replace({ externalId: 'x' })).json, { externalId: 'x', members: [{ value: alice }] })
  t.match((await replace({})).json, { externalId: 'x', members: [{ value: alice, display: 'alice' }] })
  t.match((await replace({ members: [], externalId: null })).json, { members: [] })
  t.notOk('externalId' in (await replace({})).json)
  for (const id of [`/Users/${alice}`, `/Groups/${group}`])
    t.equal((await scim.send('DELETE', id)).status, 204)
})

t.test('core attributes below the name of their schema are refused, not dropped', async (t) => {
  const id = await scim.user('wrapped')
  const group = await scim.group('wrapped')
  const user = { schemas: [USER], userName: 'wrapped', externalId: 'wrapped' }
  const refused = async (...of: Parameters<typeof scim.send>) => {
    const { status, json } = await scim.send(...of)
    t.match(
      { status, json },
      {
        status: 400,
        json: { scimType: 'invalidSyntax', detail: /must be members of the body itself/ },
      },
    )
  }
  for (const more of [
    { [USER]: { active: false } },
    { [USER.toUpperCase()]: { active: false } },
    { [`${USER}:active`]: false },
    { [USER]: null },
  ]) {
    await refused('PUT', `/Users/${id}`, { ...user, ...more })
    await refused('POST', '/Users', { ...user, userName: 'other', externalId: 'other', ...more })
  }
  for (const more of [{ [GROUP]: { members: [] } }, { [`${GROUP}:members`]: [] }]) {
    await refused('PUT', `/Groups/${group}`, { schemas: [GROUP], displayName: 'wrapped', ...more })
    await refused('POST', '/Groups', { schemas: [GROUP], displayName: 'other', ...more })
  }
  t.match((await scim.send('GET', `/Users/${id}`)).json, { active: true, externalId: 'wrapped' })
  const patched = await scim.patch(`/Users/${id}`, { op: 'replace', value: { [USER]: { active: false } } })
  t.match(patched, { status: 400, json: { scimType: 'invalidPath' } }, 'a PATCH')
  for (const path of [`/Users/${id}`, `/Groups/${group}`])
    t.equal((await scim.send('DELETE', path)).status, 204)
})

t.test('pages', async (t) => {
  const ids: string[] = []
  for (let at = 0; at < 5; at++) ids.push(await scim.user(`page ${at}`))
  const page = async (query: string) => {
    const { status, json } = await scim.send('GET', `/Users${query}`)
    t.equal(status, 200, query)
    const { totalResults, startIndex, itemsPerPage, Resources } = json
    t.equal(itemsPerPage, Resources.length, query)
    return [totalResults, startIndex, ...Resources.map(({ id }: { readonly id: string }) => ids.indexOf(id))]
  }
  t.same(await page('?startIndex=2&count=2'), [5, 2, 1, 2])
  t.same(await page('?startIndex=5&count=2'), [5, 5, 4])
  t.same(await page('?startIndex=6'), [5, 6])
  t.same(await page('?startIndex=-7&count=1'), [5, 1, 0])
  t.same(await page('?count=0'), [5, 1])
  t.same(await page('?count=-1'), [5, 1])
  t.same(await page('?count=100000'), [5, 1, 0, 1, 2, 3, 4])
  for (const query of [
    'startIndex=x',
    'count=',
    'count=1.5',
    'startIndex=1e3',
    'count=99999999999',
    'count=1&count=1',
  ])
    t.match(
      (await scim.send('GET', `/Users?${query}`)).json,
      { status: '400', scimType: 'invalidValue' },
      query,
    )
  for (const id of ids) await scim.send('DELETE', `/Users/${id}`)
})

t.test('parts of resources', async (t) => {
  const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
  const alice = await scim.user('alice', {
    name: { givenName: 'Alice', familyName: 'Doe' },
    emails: [{ value: 'a', type: 'work' }],
    [ENTERPRISE]: { department: 'Sales', division: 'North' },
  })
  const group = await scim.group('Parts', [alice])
  const read = async (path: string) => {
    const { json } = await scim.send('GET', path)
    t.ok(json.id)
    t.ok(json.schemas)
    const { id: _, schemas: __, ...rest } = json
    return rest
  }
  const user = (query: string) => read(`/Users/${alice}?${query}`)
  t.same(await user('attributes=userName'), { userName: 'alice' })
  t.same(await user('attributes=USERNAME,name.givenName'), {
    userName: 'alice',
    name: { givenName: 'Alice' },
  })
  t.same(await user(`attributes=${USER}:emails.type`), { emails: [{ type: 'work' }] })
  t.same(await user(`attributes=${ENTERPRISE}:department`), { [ENTERPRISE]: { department: 'Sales' } })
  t.same(await user('attributes=x,__proto__,,a.b.c'), {})
  const rest = await user(`excludedAttributes=id,schemas,meta,emails,name.familyName,${ENTERPRISE}`)
  t.same(rest, { userName: 'alice', externalId: 'alice', active: true, name: { givenName: 'Alice' } })
  t.notOk('members' in (await read(`/Groups/${group}?excludedAttributes=members`)))
  t.same(await read(`/Groups/${group}?attributes=members.value`), { members: [{ value: alice }] })
  const { json } = await scim.send('GET', '/Groups?excludedAttributes=members,meta')
  t.same(Object.keys(json.Resources[0]), ['schemas', 'id', 'displayName'])
  t.equal((await scim.send('GET', `/Users/${alice}?attributes=id&excludedAttributes=id`)).status, 400)
  const patched = await scim.send('PATCH', `/Groups/${group}?attributes=displayName`, {
    Operations: [{ op: 'replace', path: 'displayName', value: 'Other' }],
  })
  t.match(
    patched,
    { status: 200, json: { displayName: 'Other' } },
    'a change that names attributes shows them',
  )
  for (const path of [`/Users/${alice}`, `/Groups/${group}`]) await scim.send('DELETE', path)
})

t.test('discovery', async (t) => {
  const config = (await scim.send('GET', '/ServiceProviderConfig')).json
  t.match(config, {
    patch: { supported: true },
    bulk: { supported: false },
    filter: { supported: true, maxResults: 500 },
    sort: { supported: false },
    etag: { supported: true },
    meta: { location: `${ORIGIN}${BASE}/ServiceProviderConfig` },
  })
  const types = (await scim.send('GET', '/ResourceTypes')).json
  t.same(
    types.Resources.map(({ id, endpoint }: Record<string, string>) => [id, endpoint]),
    [
      ['User', '/Users'],
      ['Group', '/Groups'],
    ],
  )
  t.equal((await scim.send('GET', '/ResourceTypes/User')).json.schema, USER)
  const { json } = await scim.send('GET', '/Schemas')
  t.equal(json.totalResults, 3)
  t.equal((await scim.send('GET', `/Schemas/${USER}`)).json.id, USER)
  for (const path of ['/Schemas/x', '/ResourceTypes/x', '/ResourceTypes/__proto__'])
    t.match((await scim.send('GET', path)).json, { status: '404' }, path)
  t.equal((await scim.send('GET', '/Schemas?filter=id%20eq%20%22x%22')).status, 403)
  t.equal((await scim.send('POST', '/Schemas', {})).status, 501)
})

t.test('each attribute is as another implementation declares it', async (t) => {
  interface Shown {
    readonly name: string
    readonly type: string
    readonly multiValued: boolean
    readonly subAttributes?: readonly Shown[]
  }
  const { json } = await scim.send('GET', '/Schemas')
  const theirs = [Schemas.User, Schemas.Group, Schemas.EnterpriseUser].map(({ definition }) => definition)
  for (const { id, attributes } of json.Resources as readonly {
    id: string
    attributes: readonly Shown[]
  }[]) {
    const definition: { attributes: readonly Shown[] } = JSON.parse(
      JSON.stringify(theirs.find((each) => each.id === id)?.describe()),
    )
    const compare = (ours: readonly Shown[], others: readonly Shown[], of: string) => {
      for (const { name, type, multiValued, subAttributes = [] } of ours) {
        if (name === 'externalId') continue
        const other = others.find((each) => each.name === name)
        t.match(other, { type, multiValued }, `${of}.${name}`)
        compare(subAttributes, other?.subAttributes ?? [], `${of}.${name}`)
      }
    }
    compare(attributes, definition.attributes, id)
  }
})

t.test('another implementation reads our resources', async (t) => {
  const alice = await scim.user('alice', {
    name: { givenName: 'Alice' },
    emails: [{ value: 'a@acme.example', type: 'work' }],
  })
  const group = await scim.group('Viewer', [alice])
  const user = (await scim.send('GET', `/Users/${alice}`)).json
  t.match(new Schemas.User(user, 'out'), { userName: 'alice', emails: [{ value: 'a@acme.example' }] })
  t.match(new Schemas.Group((await scim.send('GET', `/Groups/${group}`)).json, 'out'), {
    displayName: 'Viewer',
    members: [{ value: alice }],
  })
  for (const path of [`/Users/${alice}`, `/Groups/${group}`]) await scim.send('DELETE', path)
})

t.test('what is not supported is 501, in the form of SCIM', async (t) => {
  const requests: readonly (readonly [string, string, unknown?])[] = [
    ...([
      ['POST', '/Bulk', {}],
      ['GET', '/Me'],
      ['POST', '/.search', {}],
      ['POST', '/Users/.search', {}],
    ] as const),
    ...([
      ['GET', '/Users?sortBy=userName'],
      ['GET', '/Groups?sortOrder=ascending&count=1'],
    ] as const),
    ...([
      ['GET', ''],
      ['GET', '/'],
      ['GET', '/Devices'],
      ['GET', '/users'],
      ['DELETE', '/Users'],
    ] as const),
    ...([
      ['PATCH', '/Groups', {}],
      ['PUT', '/Users', {}],
      ['POST', '/Users/x', {}],
      ['GET', '/Users/x/y'],
    ] as const),
    ...([
      ['OPTIONS', '/Users'],
      ['DELETE', '/ServiceProviderConfig'],
      ['GET', '/ServiceProviderConfig/x'],
    ] as const),
  ]
  for (const [method, path, body] of requests) {
    const { status, headers, json } = await scim.send(method, path, body)
    t.equal(status, 501, `${method} ${path}`)
    t.equal(headers['content-type'], 'application/scim+json')
    t.match(json, { schemas: [ERROR], status: '501' })
  }
  const head = await scim.send('HEAD', '/Users')
  t.same([head.status, head.body], [200, ''])
})

t.test('only the tokens of the tenant open it', async (t) => {
  const get = (authorization: string | null, tenant = 'acme', more: Record<string, string> = {}) =>
    world.client.send('GET', `/scim/${tenant}/v2/Users`, {
      ...(authorization === null ? {} : { authorization }),
      ...more,
    })
  for (const authorization of [`Bearer ${TOKEN}`, `bearer  ${TOKEN}`, `Bearer ${NEW_TOKEN}`])
    t.equal((await get(authorization)).status, 200, authorization)
  t.equal((await get(`Bearer ${GLOBEX_TOKEN}`, 'globex')).status, 200)
  const key = world.keys.acme ?? ''
  const token = await world.token(['admin:admin'])
  const wrong = await get(`Bearer ${'x'.repeat(40)}`)
  t.equal(wrong.status, 401)
  for (const [authorization, tenant] of [
    [`Bearer ${GLOBEX_TOKEN}`, 'acme'],
    [`Bearer ${TOKEN}`, 'globex'],
    [`Bearer ${TOKEN}`, 'initech'],
    [`Bearer ${TOKEN}`, 'ACME'],
    [`Bearer ${TOKEN}`, '__proto__'],
    [`Bearer ${TOKEN}x`, 'acme'],
    [`Bearer ${TOKEN.slice(1)}`, 'acme'],
    [`Bearer ${TOKEN.toUpperCase()}`, 'acme'],
    [`Bearer`, 'acme'],
    [TOKEN, 'acme'],
    [`Basic ${Buffer.from(`scim:${TOKEN}`).toString('base64')}`, 'acme'],
    [`Bearer ${key}`, 'acme'],
    [`Bearer ${token}`, 'acme'],
  ] as const) {
    const { status, headers, body } = await get(authorization, tenant)
    t.same(
      [status, body, headers['www-authenticate']],
      [401, wrong.body, wrong.headers['www-authenticate']],
      tenant,
    )
  }
  for (const more of [{}, { 'x-api-key': key }, { cookie: `__Host-seatgate=${token}` }])
    t.match(await get(null, 'acme', more), { status: 401, json: { schemas: [ERROR], status: '401' } })
  const twice = await world.client.send('GET', `${BASE}/Users`, [
    'Authorization',
    `Bearer ${TOKEN}`,
    'Authorization',
    `Bearer ${TOKEN}`,
  ])
  t.match(twice, { status: 400, json: { status: '400' } })
})

t.test('the token opens nothing else, and is not forwarded', async (t) => {
  const seen = world.upstream.seen.length
  for (const path of ['/v1/me', '/v1/seats', '/v1/trainings', '/auth/oidc/me']) {
    const answer = await world.client.send('GET', path, { authorization: `Bearer ${TOKEN}`, space: 'admin' })
    t.equal(answer.status, 401, path)
  }
  t.equal((await world.client.send('GET', '/docs/x', { authorization: `Bearer ${TOKEN}` })).status, 200)
  const forwarded = world.upstream.seen.slice(seen)
  t.equal(forwarded.length, 1)
  t.notMatch(JSON.stringify(forwarded), TOKEN)
})

t.test('a withdrawn token counts no more after a reload', async (t) => {
  const own = await startScim(t, { scim: 'scim: { token: "${TOKEN}" }' })
  t.equal((await own.send('GET', '/Users?count=0')).status, 200)
  await own.world.reload({ TOKEN: NEW_TOKEN })
  t.equal((await own.send('GET', '/Users?count=0')).status, 401)
  t.equal(
    (await own.send('GET', '/Users?count=0', undefined, { authorization: `Bearer ${NEW_TOKEN}` })).status,
    200,
  )
})

t.test(
  'the log, the metrics and the audit name the provider, and hold neither token nor filter',
  async (t) => {
    const carol = await scim.user('carol@acme.example', { externalId: 'carol' })
    await scim.send('GET', `/Users?filter=${encodeURIComponent('userName eq "carol@acme.example"')}`)
    t.equal(
      (await scim.send('POST', '/Users', { userName: 'CAROL@acme.example' })).json.scimType,
      'uniqueness',
    )
    await world.client.send('GET', `${BASE}/Users`, { authorization: `Bearer ${'x'.repeat(40)}` })
    const written = () => world.log().filter(({ path }) => String(path).startsWith(`${BASE}/Users`))
    const lines = await until(() => {
      const all = written()
      return all.at(-1)?.['status'] === 401 && all.at(-2)?.['status'] === 409 ? all : null
    }, 'the line of the last request')
    t.match(lines.at(-2), {
      ...{ method: 'POST', path: `${BASE}/Users`, status: 409, scim_type: 'uniqueness' },
      ...{ tenant: 'acme', user: 'scim', auth: 'provider', upstream: 'seatgate' },
      route: 'ANY /scim/{tenant}/v2/Users',
    })
    t.match(lines.at(-1), { status: 401, code: 'token_invalid' })
    t.notOk('tenant' in (lines.at(-1) ?? {}), 'a wrong token is nobody')
    for (const secret of [TOKEN, NEW_TOKEN, GLOBEX_TOKEN, 'carol@acme.example'])
      t.notMatch(world.logText(), secret, 'in the log')
    const metrics = await metricsOf(world)
    t.match(metrics, 'route="ANY /scim/{tenant}/v2/Users"')
    t.notMatch(metrics, carol)
    const { json } = await world.admin('GET', '/v1/audit?limit=100')
    const entry = json.data.find(({ target }: { target: { id: string } }) => target.id === carol)
    t.match(entry, { action: 'scim_user.create', actor: { kind: 'provider', id: 'scim' } })
    t.notMatch(JSON.stringify(json), TOKEN)
  },
)

t.test('uniqueness and wrong members', async (t) => {
  const dave = await scim.user('dave')
  const conflict = { status: 409, json: { schemas: [ERROR], status: '409', scimType: 'uniqueness' } }
  t.match(await scim.send('POST', '/Users', { userName: 'DAVE' }), conflict)
  t.match(await scim.send('POST', '/Users', { userName: 'other', externalId: 'dave' }), conflict)
  const group = await scim.group('Unique', [dave])
  t.match(await scim.send('POST', '/Groups', { displayName: 'Unique' }), conflict)
  const unknown = '01KAJ0Z1V5Q8T2C0W7M3E9R4XD'
  for (const value of [unknown, group, 'dave', '..'])
    t.match(await scim.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value }] }), {
      status: 400,
      json: { scimType: 'invalidValue' },
    })
  const mixed = await scim.patch(
    `/Groups/${group}`,
    { op: 'remove', path: `members[value eq "${dave}"]` },
    { op: 'replace', path: 'displayName', value: 'Renamed' },
    { op: 'add', path: 'members', value: [{ value: unknown }] },
  )
  t.equal(mixed.status, 400)
  t.match((await scim.send('GET', `/Groups/${group}`)).json, {
    displayName: 'Unique',
    members: [{ value: dave }],
  })
  t.equal((await scim.patch(`/Groups/${group}`, { op: 'remove', path: 'members' })).status, 400)
  t.same(await scim.members(group), [dave])
})

t.test('the addresses belong to SCIM if a tenant has it, and otherwise to the tables', async (t) => {
  const routes = ['GET /scim/{customer}/v2/Users: public', 'GET /scim/{customer}/v1/Users: public']
  const tables = { 'scim.yaml': `upstream: main\nroutes:\n${routes.map((each) => `  ${each}\n`).join('')}` }
  await t.rejects(startScim(t, { tables }), /routes\/scim\.yaml:3:3: .*built-in/s)
  const without = await startScim(t, { scim: 'admin_space: admin', tables, globex: false })
  for (const version of ['v1', 'v2'])
    t.equal((await without.world.client.send('GET', `/scim/acme/${version}/Users`)).status, 200)
  t.equal((await without.world.client.send('GET', '/scim/acme/v2/Groups')).json.code, 'route_not_found')
})

t.test('after api.auth_prefix', async (t) => {
  const { world: moved } = await startScim(t, {
    top: ['api: { auth_prefix: /_auth }'],
    redirect: `${ORIGIN}/_auth/auth/oidc/callback`,
  })
  const authorization = `Bearer ${TOKEN}`
  const { status, json } = await moved.client.send('GET', `/_auth${BASE}/ResourceTypes/User`, {
    authorization,
  })
  t.match([status, json.meta.location], [200, `${ORIGIN}/_auth${BASE}/ResourceTypes/User`])
  t.equal((await moved.client.send('GET', `${BASE}/Users`, { authorization })).status, 404)
})
