/** Route tables in the store of one gateway, with its data plane in the process or in workers. */

import t, { type Test } from 'tap'
import { NO_TABLES } from '../../seats-admin/model/tables-version.ts'
import { tablesTag } from '../../seats-admin/model/entity-tag.ts'
import { Client } from '../support/client.ts'
import { reservePort } from '../support/servers/ports.ts'
import { startPushed, tableOf } from './pushing.ts'

for (const workers of [1, 2])
  t.test(`${workers} workers`, async (t) => {
    const port = await reservePort(t)
    const listen = `127.0.0.1:${port}`
    const { gateway, pusher } = await startPushed(t, { listen, top: [`workers: ${workers}`] })
    const statusOf = async (path = '/gate') => {
      // Each worker has connections of its own.
      const clients = Array.from({ length: 8 }, () => new Client(port))
      const answers = await Promise.all(clients.map((client) => client.send('GET', path)))
      for (const client of clients) client.close()
      return [...new Set(answers.map(({ status }) => status))]
    }

    t.test('before the first push there are no tables', async (t) => {
      const { status, json, headers } = await pusher.read()
      t.equal(status, 200)
      t.match(json, { version: 0, hash: null, files: {}, versions: [], has_more: false })
      t.ok(headers.etag)
      t.same(await statusOf(), [404])
    })

    t.test('once a push is answered, no request is decided by the former tables', async (t) => {
      for (const [at, [requirement, status]] of (
        [
          ['public', 200],
          ['authenticated', 401],
          ['public', 200],
          ['a:read', 401],
          ['public', 200],
        ] as const
      ).entries()) {
        const answer = await pusher.push({ 'main.yaml': tableOf(requirement) })
        t.equal(answer.status, 200, answer.body)
        t.match(answer.json, {
          version: at + 1,
          hash: /^[0-9a-f]{12}$/,
          instances: [{ how: 'acknowledged', cut: 0 }],
        })
        t.same(await statusOf(), [status], requirement)
        const { body } = await gateway.ready()
        t.match(body, { config: { hash: answer.json.hash, routes: 1, tables: at + 1 } })
      }
    })

    t.test('the same files again are the same version', async (t) => {
      const answer = await pusher.push({ 'main.yaml': tableOf('public') })
      t.match(answer.json, { version: 5, changes: [] })
    })

    t.test('a push on a version that is not the active one is refused', async (t) => {
      const { tag } = pusher
      await pusher.push({ 'main.yaml': tableOf('authenticated') })
      pusher.tag = tag
      const answer = await pusher.push({ 'main.yaml': tableOf('public') })
      t.match([answer.status, answer.json.code], [412, 'precondition_failed'])
      t.same(await statusOf(), [401])
      await pusher.read()
    })

    t.test('faulty tables are refused with their places, and nothing changes', async (t) => {
      const files = { 'main.yaml': tableOf('a:*'), 'b.yaml': 'upstream: mian\nroutes: {}\n' }
      const answer = await pusher.push(files)
      t.match([answer.status, answer.json.code], [409, 'tables_refused'])
      t.match(answer.json.faults, [
        { file: 'main.yaml', line: 3, column: 14, message: /is not supported/, instance: String },
        { file: 'b.yaml', line: 1, message: /did you mean/ },
      ])
      const twice = await pusher.push({ 'a.yaml': tableOf('public'), 'b.yaml': tableOf('a:read') })
      t.match([twice.status, twice.json.faults[0].file], [409, 'b.yaml'], 'the router refuses them')
      t.same(await statusOf(), [401])
      t.match((await pusher.read()).json, { version: 6 })
    })

    t.test('a plan says who gains and who loses', async (t) => {
      await pusher.send('POST', '/v1/seats', { name: 'Reader', spaces: ['s'], permissions: ['a:read'] })
      const files = { 'main.yaml': tableOf('a:read') }
      const { status, json } = await pusher.send('POST', '/v1/tables/plan', { files })
      t.equal(status, 200)
      t.match(json, { equal: false, changes: [{ kind: 'tightened', pattern: '/gate' }] })
      t.match(await pusher.push(files), {
        status: 200,
        json: { version: 7, changes: [{ kind: 'tightened', pattern: '/gate' }] },
      })
    })

    t.test('a gateway starts with the active tables', async (t) => {
      t.match(await pusher.push({ 'main.yaml': tableOf('public') }), { status: 200 })
      pusher.close()
      await gateway.kill()
      await gateway.start()
      await gateway.comesUp(async () => (await statusOf().catch(() => [0]))[0] !== 0)
      t.same(await statusOf(), [200])
    })
  })

t.test('versions can be read', async (t) => {
  const { pusher } = await startPushed(t)
  const tags = [tablesTag(NO_TABLES)]
  for (const requirement of ['public', 'authenticated', 'a:read']) {
    const answer = await pusher.push({ 'main.yaml': tableOf(requirement) })
    t.equal(answer.status, 200, answer.body)
    tags.push(pusher.tag)
  }
  t.equal(new Set(tags).size, 4)
  const { json } = await pusher.read('?limit=2')
  t.match(json, { version: 3, entries: 1, versions: [{ version: 3 }, { version: 2 }], has_more: true })
  t.match((await pusher.read('?after=2')).json, { versions: [{ version: 1 }], has_more: false })
  const first = await pusher.send('GET', '/v1/tables/1')
  t.match(first.json, {
    version: 1,
    files: { 'main.yaml': tableOf('public') },
    created_by: { kind: 'api-key' },
  })
  for (const number of ['0', '4', 'x', '01', '-1', '99999999999999999999'])
    t.match(await pusher.send('GET', `/v1/tables/${number}`), { status: 404 }, number)
  t.match(await pusher.send('GET', '/v1/tables?after=x'), { status: 400 })
  t.match(await pusher.send('GET', '/v1/tables?more=1'), { status: 400 })
})

t.test('what a push must have', async (t) => {
  const { pusher } = await startPushed(t)
  await pusher.read()
  const refused = async (
    files: unknown,
    more: Readonly<Record<string, string>>,
    status: number,
    code: string,
  ) => {
    const answer = await pusher.send('PUT', '/v1/tables', { files }, more)
    t.same([answer.status, answer.json.code], [status, code], JSON.stringify(files))
  }
  const files = { 'a.yaml': tableOf('public') }
  await refused(files, {}, 428, 'precondition_required')
  await refused(files, { 'if-match': '*' }, 400, 'input_invalid')
  await refused(files, { 'if-match': 'x' }, 400, 'input_invalid')
  await refused(files, { 'if-match': `W/${pusher.tag}` }, 412, 'precondition_failed')
  for (const name of [
    'a',
    '.yaml',
    '../a.yaml',
    'a/b.yaml',
    'a.yaml/',
    '-a.yaml',
    'a.YAML',
    `${'a'.repeat(300)}.yaml`,
  ])
    await refused({ [name]: tableOf('public') }, { 'if-match': pusher.tag }, 400, 'input_invalid')
  const text = '# \ud800\n'
  await refused({ 'a.yaml': text }, { 'if-match': pusher.tag }, 400, 'input_invalid')
  t.match(await pusher.send('POST', '/v1/tables/plan', { files: { 'a.yaml': text } }), { status: 400 })
  await refused({ 'a.yaml': 7 }, { 'if-match': pusher.tag }, 400, 'input_invalid')
  await refused([], { 'if-match': pusher.tag }, 400, 'input_invalid')
  t.match((await pusher.read()).json, { version: 0 })
  t.match(await pusher.push({}), { status: 200, json: { version: 0 } }, 'no files are what is active')
})

t.test('only the admin space of the tenant of the tables', async (t) => {
  const { pusher } = await startPushed(t)
  const elsewhere = await pusher.send('GET', '/v1/tables', undefined, { space: 's1' })
  t.match([elsewhere.status], [403])
  await notOf(t)
})

async function notOf(t: Test): Promise<void> {
  const { pusher } = await startPushed(t, { tablesFrom: '{ from: store, tenant: globex }' })
  const { status, json } = await pusher.read()
  t.match([status, json.code, json.detail], [403, 'permission_denied', /admin space of the tenant globex/])
}

t.test('where the tables are in files', async (t) => {
  const { pusher } = await startPushed(t, { tablesFrom: 'files', top: ['routes: [routes/*.yaml]'] })
  const { status, json } = await pusher.read()
  t.match([status, json.code], [409, 'tables_in_files'])
  const put = await pusher.send('PUT', '/v1/tables', { files: {} }, { 'if-match': '"x"' })
  t.match([put.status, put.json.code], [409, 'tables_in_files'])
})

t.test('a main file that changes has the tables of the store', async (t) => {
  const { gateway, pusher } = await startPushed(t)
  t.match(await pusher.push({ 'main.yaml': tableOf('public') }), { status: 200 })
  const { writeFileSync, readFileSync } = await import('node:fs')
  const file = `${gateway.folder}/gateway.config.yaml`
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, `${text}console: true\n`)
  gateway.signal('SIGHUP')
  await gateway.comesUp(() => gateway.log.includes('configuration reloaded'))
  const client = new Client(gateway.port)
  t.equal((await client.send('GET', '/gate')).status, 200)
  writeFileSync(file, text.replace('main:', 'other:'))
  gateway.signal('SIGHUP')
  await gateway.comesUp(() => gateway.log.includes('reload refused'))
  t.equal((await client.send('GET', '/gate')).status, 200, 'the tables need an upstream that is gone')
  client.close()
  const answer = await pusher.push({ 'main.yaml': tableOf('authenticated') })
  t.match(answer, { status: 200 }, 'pushes go on with the file that is active')
})
