/** Live requests judged by candidate tables, on a whole gateway. */

import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ShadowEngine } from '../../src/decision/shadow.ts'
import { Client } from '../support/client.ts'
import { routeTable } from '../support/configuration.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { changeRead, holdLease } from '../support/held-lease.ts'
import { handshake, WebSocketClient, startWebSocketUpstream } from '../websocket/support.ts'
import { metricsOf } from '../support/operations.ts'

const LIVE = [
  'GET /same: public',
  'GET /closed: public',
  'GET /opened: trainings:read',
  'GET /narrower: trainings:list',
  'GET /gone: trainings:list',
  'GET /stays: trainings:list',
]
const CANDIDATE = [
  'GET /same: public',
  'GET /closed: trainings:list',
  'GET /opened: public',
  'GET /narrower: trainings:delete',
  'GET /stays: trainings:list',
  'GET /new: trainings:list',
  'POST /same: public',
]

const world = await startWorld(t, { routes: LIVE, shadow: CANDIDATE })
const socketUpstream = await startWebSocketUpstream(t)
const socketWorld = await startWorld(t, {
  target: socketUpstream.url,
  routes: ['GET /ws: trainings:list'],
  shadow: ['GET /ws: trainings:delete'],
})
await holdLease(t, world, socketWorld)
await changeRead(world, () => world.seat('Viewer', ['main'], ['trainings:list']))
const headers = { authorization: `Bearer ${await world.token(['main:Viewer'])}`, space: 'main' }

async function counts(world: World): Promise<Record<string, number>> {
  const text = await metricsOf(world)
  const found = text.matchAll(/^seatgate_shadow_decisions_total\{result="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, result, count]) => [result ?? '', Number(count)] as const))
}

const requestLines = (of: World) => of.log().filter(({ msg }) => msg === 'request')

/** From now on: counts of results, and lines of the log. */
async function observe(of: World = world) {
  const { headers: last } = await of.client.send('GET', '/nowhere')
  const isLast = ({ request_id }: Record<string, unknown>) => request_id === last['x-request-id']
  await until(() => requestLines(of).some(isLast), 'the line of the last request')
  const [before, lines] = [await counts(of), requestLines(of).length]
  const results = async (): Promise<Record<string, number>> => {
    const added = Object.entries(await counts(of)).map(
      ([result, count]) => [result, count - (before[result] ?? 0)] as const,
    )
    return Object.fromEntries(added.filter(([, count]) => count > 0))
  }
  /** The `code` and the `shadow` of each request in the log. */
  const logged = async (count: number): Promise<[unknown, unknown][]> => {
    const own = () => requestLines(of).slice(lines)
    await until(() => own().length >= count, `${count} log lines`)
    return own().map(({ code, shadow }) => [code, shadow])
  }
  return { results, logged }
}

t.test('each kind of difference is counted, and logged with the code', async (t) => {
  // Reads the Seat into memory.
  await world.client.send('GET', '/stays', headers)
  const { results, logged } = await observe()
  const asked = [
    ['GET', '/same', {}, 200, undefined],
    ['GET', '/closed', {}, 200, 'credentials_missing'],
    ['GET', '/closed', headers, 200, undefined],
    ['GET', '/closed', { authorization: 'Bearer x.y.z', space: 'main' }, 200, 'token_invalid'],
    ['GET', '/opened', {}, 401, 'allow'],
    ['GET', '/opened', headers, 403, 'allow'],
    ['GET', '/narrower', headers, 200, 'permission_denied'],
    ['GET', '/gone', headers, 200, 'route_not_found'],
    ['GET', '/new', headers, 404, 'allow'],
    ['GET', '/new', {}, 404, 'credentials_missing'],
    ['POST', '/same', {}, 405, 'allow'],
    ['GET', '/nowhere', {}, 404, undefined],
    ['GET', '/..', {}, 400, undefined],
  ] as const
  for (const [method, path, sent, status] of asked)
    t.equal((await world.client.send(method, path, sent)).status, status, `${method} ${path}`)
  const lines = await logged(asked.length)
  for (const [at, [method, path, , , shadow]] of asked.entries())
    t.equal(lines[at]?.[1], shadow, `${method} ${path}`)
  t.same(await results(), { same: 4, allow_to_deny: 4, deny_to_allow: 4, other: 1 })
})

t.test('a request that was refused before the decision is not judged', async (t) => {
  const { results, logged } = await observe()
  t.equal((await fetch(`http://127.0.0.1:${world.port}/same`, { method: 'NONSENSE' })).status, 400)
  const socket = connect(world.port, '127.0.0.1').end('GET /opened\r\n\r\n')
  await new Promise((resolve) => socket.resume().once('close', resolve))
  t.same(await logged(2), [
    ['request_malformed', undefined],
    ['request_malformed', undefined],
  ])
  t.same(await results(), {})
})

t.test('without candidate tables nothing is judged', async (t) => {
  const plain = await startWorld(t, { routes: LIVE })
  const { results, logged } = await observe(plain)
  await plain.client.send('GET', '/closed')
  t.same(await logged(1), [['allow', undefined]])
  t.same(await results(), {})
  t.notMatch(await (await fetch(`${plain.ops}/readyz`)).json(), { config: { shadow: {} } })
})

t.test('a WebSocket and its re-evaluation: judged once', async (t) => {
  const world = socketWorld
  const id = await changeRead(world, () => world.seat('Viewer', ['main'], ['trainings:list']))
  const token = await world.token(['main:Viewer'])
  const answer = await world.client.send('GET', '/ws', { authorization: `Bearer ${token}`, space: 'main' })
  t.equal(answer.status, 200)
  const before = await counts(world)
  const client = new WebSocketClient(world.port)
  client.send(handshake('/ws', [`Authorization: Bearer ${token}`, 'Space: main']))
  await until(() => client.open, 'the handshake')
  t.equal((await counts(world))['allow_to_deny'], (before['allow_to_deny'] ?? 0) + 1)
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:delete'] })
  await until(() => client.closeFrame !== undefined, 'the cut')
  client.socket.destroy()
  await until(() => world.log().some(({ path, status }) => path === '/ws' && status === 101), 'the log line')
  const after = await counts(world)
  t.equal(after['allow_to_deny'], (before['allow_to_deny'] ?? 0) + 1)
  t.equal(after['deny_to_allow'], 0, 'the re-evaluation is not judged')
  const line = world.log().find(({ path, status }) => path === '/ws' && status === 101)
  t.equal(line?.['shadow'], 'permission_denied')
})

/** With another `decide` for the time of a test. */
function broken(t: Test, decide: ShadowEngine['decide']): void {
  const { decide: right } = ShadowEngine.prototype
  ShadowEngine.prototype.decide = decide
  t.teardown(() => {
    ShadowEngine.prototype.decide = right
  })
}

async function answersAsBefore(t: Test): Promise<void> {
  for (const [path, status] of [
    ['/same', 200],
    ['/closed', 200],
    ['/opened', 401],
    ['/nowhere', 404],
  ] as const)
    t.equal((await world.client.send('GET', path)).status, status, path)
}

t.test('faults of the candidate change no answer', async (t) => {
  await t.test('it throws', async (t) => {
    const { results, logged } = await observe()
    broken(t, () => {
      throw new Error('broken')
    })
    await answersAsBefore(t)
    t.same(await results(), { unjudged: 4 })
    t.same(
      (await logged(4)).map(([, shadow]) => shadow),
      [undefined, undefined, undefined, undefined],
    )
  })

  await t.test('it rejects', async (t) => {
    const { results } = await observe()
    broken(t, () => Promise.reject(new Error('broken')))
    await answersAsBefore(t)
    t.same(await results(), { unjudged: 4 })
  })

  await t.test('it decides after the end of the request: counted, and not logged', async (t) => {
    const { results, logged } = await observe()
    const decided: ((code: 'allow') => void)[] = []
    broken(t, () => new Promise((resolve) => decided.push(resolve)))
    await answersAsBefore(t)
    await logged(4)
    for (const resolve of decided) resolve('allow')
    await until(() => decided.length === 4, 'all')
    t.same(await results(), { unjudged: 4 })
  })
})

t.test('the counts add up to the requests that were decided, under load', async (t) => {
  const { results, logged } = await observe()
  const paths = ['/same', '/closed', '/opened', '/narrower', '/gone', '/new', '/nowhere']
  const each = 14
  await Promise.all(
    Array.from({ length: 8 }, async (_, number) => {
      const client = new Client(world.port)
      for (let at = 0; at < each; at++)
        await client.send('GET', paths[(at + number) % paths.length] ?? '', at % 2 === 0 ? headers : {})
      client.close()
    }),
  )
  const lines = await logged(8 * each)
  const counts = await results()
  t.equal(
    Object.values(counts).reduce((sum, count) => sum + count, 0),
    8 * each,
  )
  const differing = lines.filter(([, shadow]) => shadow !== undefined).length
  const { allow_to_deny: less = 0, deny_to_allow: more = 0, other = 0 } = counts
  t.equal(differing, less + more + other, 'each difference has a log line')
})

t.test('/readyz has the hash of the candidate, which becomes that of the tables', async (t) => {
  type Ready = { config: { hash: string; shadow?: { hash: string; routes: number } } }
  const ready = async () => (await (await fetch(`${world.ops}/readyz`)).json()) as Ready
  const before = (await ready()).config
  t.equal(before.shadow?.routes, CANDIDATE.length)
  t.not(before.shadow?.hash, before.hash)
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), routeTable(CANDIDATE))
  await world.reload()
  const after = (await ready()).config
  t.equal(after.hash, before.shadow?.hash)
  t.equal(after.shadow?.hash, after.hash)
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), routeTable(LIVE))
  await world.reload()
})

t.test('a candidate with faults refuses the reload', async (t) => {
  const { results } = await observe()
  for (const routes of [
    ['GET /a: nonsense'],
    ['GET /a: public', 'GET /a: public'],
    ['GET /v1/seats: public'],
  ]) {
    writeFileSync(join(world.folder, 'next', 'main.yaml'), routeTable(routes))
    await t.rejects(world.reload(), /next\/main\.yaml/, routes.join())
  }
  await world.client.send('GET', '/closed')
  t.same(await results(), { allow_to_deny: 1 }, 'the previous one stays')
})

t.test('a reload replaces the candidate, and takes it away', async (t) => {
  const { results } = await observe()
  const ask = () => world.client.send('GET', '/same')
  await ask()
  writeFileSync(join(world.folder, 'next', 'main.yaml'), routeTable(['GET /same: authenticated']))
  await world.reload()
  await ask()
  t.same(await results(), { same: 1, allow_to_deny: 1 })
  const text = readFileSync(world.config.file, 'utf8')
  writeFileSync(world.config.file, text.replace(/^shadow: .*$/m, ''))
  await world.reload()
  await ask()
  t.same(await results(), { same: 1, allow_to_deny: 1 }, 'not judged any more')
  writeFileSync(world.config.file, text)
  writeFileSync(join(world.folder, 'next', 'main.yaml'), routeTable(CANDIDATE))
  await world.reload()
})

// The last one, as four decisions are under way from then on.
t.test('the candidate never decides: after four, only what needs no store is judged', async (t) => {
  const { results } = await observe()
  const { decide } = ShadowEngine.prototype
  let asked = 0
  broken(t, function (this: ShadowEngine, request, live) {
    if (live.decision.path === '/same') return decide.call(this, request, live)
    asked++
    return new Promise(() => {})
  })
  for (let round = 0; round < 4; round++) await answersAsBefore(t)
  t.equal(asked, 4)
  t.same(await results(), { same: 4, unjudged: 8 })
})
