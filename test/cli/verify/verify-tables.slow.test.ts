/** `seatgate verify --tables` at one gateway: what it pushes, what it leaves, and what it says if it cannot push. */

import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { Pusher, startPushed, tableOf } from '../../tables/pushing.ts'
import { listen } from '../../support/listen.ts'
import { bundled } from '../../support/bundled.ts'
import { until } from '../../support/until.ts'
import { MAIN, outcomeOf } from '../command-line.ts'

const MAIN_FILE = { 'main.yaml': tableOf('a:read') }

const { gateway, pusher, key, upstream } = await startPushed(t)

function start(origin: string, apiKey: string, ...args: string[]) {
  const env = { ...process.env, ...bundled(), SEATGATE_URL: origin, SEATGATE_API_KEY: apiKey }
  const all = [MAIN, 'verify', '--space', 'main', '--tables', ...args]
  const child = spawn(process.execPath, all, { cwd: gateway.folder, env })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

const run = (...args: string[]) => outcomeOf(start(gateway.origin, key, ...args))

/** The active files. */
const filesNow = async (): Promise<Record<string, string>> => (await pusher.read()).json.files

t.test('no tables in the store', async (t) => {
  const { code, out, err } = await run('--duration', '10m')
  t.match({ code, out }, { code: 1, out: '' })
  t.match(err, /--tables needs route tables in the store: no file of the active version has an upstream/)
  t.same(await filesNow(), {})
})

t.test('Ctrl-C: the file is removed, and what others pushed stays', async (t) => {
  await pusher.push(MAIN_FILE)
  const child = start(gateway.origin, key, '--duration', '10m', '--json')
  const ran = outcomeOf(child)
  const [file, text] = await until(async () => {
    const added = Object.entries(await filesNow()).find(([name]) => name !== 'main.yaml')
    return added?.[1].includes('seatgate-verify:never') === true && added
  }, 'a push of the run that denies')
  t.match(file, /^seatgate-verify-[0-9a-z]{10}\.yaml$/)
  t.match(text, /^upstream: main\n/)
  const path = `/${file.replace(/\.yaml$/, '')}/canary`
  t.ok(text.includes(`GET ${path}:`), text)
  const others = { ...MAIN_FILE, 'other.yaml': tableOf('public', '/other') }
  await until(async () => {
    const files = await filesNow()
    return (await pusher.push({ ...files, ...others })).status === 200
  }, 'a push of another')
  child.kill('SIGINT')
  const { code, out, err } = await ran
  t.equal(code, 1, err)
  const report = JSON.parse(out)
  t.same(report.left, [])
  t.same(report.violations, [])
  t.equal(report.run, file.slice('seatgate-verify-'.length, -'.yaml'.length))
  t.same(await filesNow(), others)
  t.ok(upstream.seen.some(({ url }) => url === path))
})

const NEEDED = [
  ...['seats', 'api-keys'].flatMap((each) => ['list', 'create', 'delete'].map((verb) => `${each}:${verb}`)),
  'seats:update',
  'canary:read',
]

/** A key of a Seat with these permissions, and a change of them. */
async function keyOf(name: string, permissions: readonly string[]) {
  const seat = await pusher.send('POST', '/v1/seats', { name, spaces: ['admin'], permissions })
  const made = await pusher.send('POST', '/v1/api-keys', { name, seats: [name] })
  const change = (to: readonly string[]) =>
    pusher.send('PUT', `/v1/seats/${seat.json.id}`, { permissions: to })
  return { text: String(made.json.key), change }
}

t.test('a file that cannot be removed is named', async (t) => {
  await pusher.push(MAIN_FILE)
  const reading = [...NEEDED, 'tables:read']
  const { text, change } = await keyOf('Pushes', [...reading, 'tables:update'])
  const child = start(gateway.origin, text, '--duration', '10m', '--json')
  const ran = outcomeOf(child)
  const name = await until(
    async () => Object.keys(await filesNow()).find((each) => each !== 'main.yaml'),
    'a push of the run',
  )
  t.equal((await change(reading)).status, 200)
  child.kill('SIGINT')
  const { code, err, out } = await ran
  t.equal(code, 1)
  t.match(JSON.parse(out).left, [{ kind: 'tables', name, why: /403 permission_denied/ }])
  t.match(err, /not deleted: 1\. .*tables push of a folder without it\n {2}tables seatgate-verify-/)
  t.ok(Object.hasOwn(await filesNow(), name))
})

t.test('a key without rights on tables', async (t) => {
  await pusher.push(MAIN_FILE)
  for (const more of [[], ['tables:read']]) {
    const { text } = await keyOf(`Poor ${more.length}`, [...NEEDED, ...more])
    const { code, out, err } = await outcomeOf(start(gateway.origin, text, '--duration', '10m'))
    t.match({ code, out }, { code: 1, out: '' })
    t.match(err, /--tables needs tables:read and tables:update in the admin space: .*403 permission_denied/)
    t.notMatch(err, /not deleted/)
  }
  t.same(await filesNow(), MAIN_FILE)
})

t.test('tables that list hosts', async (t) => {
  const elsewhere = `host: api.example.com\n${tableOf('a:read')}`
  await pusher.push({ 'api.yaml': elsewhere, 'here.yaml': `hosts: [127.0.0.1]\n${tableOf('a:read')}` })
  const { code, out, err } = await run('--duration', '15s', '--json', '--no-streams')
  t.equal(code, 0, err)
  const { violations, operations, not_tested: untested } = JSON.parse(out)
  t.same(violations, [])
  t.ok(operations['deny in tables'] > 0)
  t.notOk(
    untested.some(({ what }: { what: string }) => what.includes('in tables')),
    JSON.stringify(untested),
  )
})

/**
 * A proxy to the gateway.
 *
 * @param pushes called with each push, and what passes it on; the client gets no answer if the result is false
 */
async function proxied(
  t: Test,
  pushes: (pass: () => Promise<Response>) => Promise<boolean>,
  reads = () => {},
) {
  const server = createServer((request, response) => {
    const serve = async () => {
      const { method = '', url = '' } = request
      const headers = Object.entries(request.headers).filter(
        ([name]) => !['host', 'connection', 'content-length'].includes(name),
      ) as [string, string][]
      const body = method === 'GET' ? null : await buffer(request)
      const sent = { method, headers, body: body?.length === 0 ? null : body } as RequestInit
      let passed: Promise<Response> | null = null
      const pass = () => (passed ??= fetch(`${gateway.origin}${url}`, sent))
      const isTables = url.split('?')[0] === '/v1/tables'
      if (isTables && method === 'PUT' && !(await pushes(pass))) return void request.socket.destroy()
      const answer = await pass()
      const bytes = Buffer.from(await answer.arrayBuffer())
      const etag = answer.headers.get('etag')
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? '',
        'x-request-id': answer.headers.get('x-request-id') ?? '',
        ...(etag === null ? {} : { etag }),
      })
      response.end(bytes)
      if (isTables && method === 'GET') reads()
    }
    serve().catch(() => request.socket.destroy())
  })
  return `http://127.0.0.1:${await listen(t, server)}`
}

t.test('a push that another one has overtaken is repeated on the version of that one', async (t) => {
  await filesNow()
  await pusher.push(MAIN_FILE)
  const others = { ...MAIN_FILE, 'other.yaml': tableOf('public', '/other') }
  let pushes = 0
  const origin = await proxied(t, async () => {
    if (++pushes === 1) t.equal((await pusher.push(others)).status, 200)
    return true
  })
  const { code, out, err } = await outcomeOf(
    start(origin, key, '--duration', '15s', '--json', '--no-streams'),
  )
  t.equal(code, 0, err)
  const { violations, left, operations } = JSON.parse(out)
  t.same([violations, left], [[], []])
  t.ok(operations['deny in tables'] > 0)
  t.same(await filesNow(), others)
})

t.test('a push without an answer that takes effect later leaves no file', async (t) => {
  await filesNow()
  await pusher.push(MAIN_FILE)
  let push: (() => Promise<Response>) | null = null
  let readsAfter = 0
  const origin = await proxied(
    t,
    async (pass) => {
      if (push !== null) return true
      push = pass
      child.kill('SIGINT')
      return false
    },
    () => {
      // The run has looked for its file, and has not found it.
      if (push !== null && ++readsAfter === 2) void push()
    },
  )
  const child = start(origin, key, '--duration', '10m', '--json', '--no-streams')
  const { out, err } = await outcomeOf(child)
  t.ok(readsAfter > 2, err)
  if (out !== '') t.same(JSON.parse(out).left, [], err)
  t.notMatch(err, /not deleted/)
  t.same(await filesNow(), MAIN_FILE)
})

t.test('tables in files', async (t) => {
  const files = await startPushed(t, { tablesFrom: 'files', top: ['routes: [routes/*.yaml]'] })
  const child = start(files.gateway.origin, files.key, '--duration', '10m')
  const { code, out, err } = await outcomeOf(child)
  t.match({ code, out }, { code: 1, out: '' })
  t.match(err, /--tables needs gateways that have their route tables in the store: .*409 tables_in_files/)
  t.notMatch(err, /not deleted/)
  const other = new Pusher(files.gateway.port, files.key)
  t.teardown(() => other.close())
  const { json } = await other.send('GET', '/v1/seats?limit=100')
  t.notOk(json.data.some(({ name }: { name: string }) => name.startsWith('seatgate-verify-')))
})
