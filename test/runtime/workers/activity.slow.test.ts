/** Uses of routes and decisions of a gateway with workers: each worker answers for all of them. */

import t, { type Test } from 'tap'
import { Client } from '../../support/client.ts'
import { type EventStream, openEventStream } from '../../support/event-stream.ts'
import { readiness } from '../../support/operations.ts'
import { served } from '../../support/served.ts'
import { until } from '../../support/until.ts'
import { workersOf } from '../../support/workers.ts'
import { startWithWorkers } from './support.ts'

// What a worker answers later is left out.
const patience = { unresponsive: 120_000, activity: 60_000 }
const world = await startWithWorkers(t, 3, { patience })
await world.seat('Viewer', ['s1'], ['trainings:list'])
const viewer = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
const admin = { 'x-api-key': world.keys['acme'] ?? '', space: 'admin' }

/** On a connection of its own, so that any worker may get it. */
async function sendOnce(path: string, headers: Record<string, string>) {
  const client = new Client(world.port)
  const answer = await client.send('GET', path, headers)
  client.close()
  return answer
}

/** A request that is answered 503 counts for no use, and for a decision of another code. */
const send = (path: string, headers: Record<string, string>) => served(() => sendOnce(path, headers))

async function open(t: Test, path: string, headers: Record<string, string>): Promise<EventStream> {
  const ask = async () => {
    const stream = await openEventStream(t, world.port, path, headers)
    return { stream, status: stream.response.statusCode ?? 0 }
  }
  return (await served(ask)).stream
}

const usesOf = async () =>
  (await send('/v1/routes?q=%2Fv1%2Ftrainings&permission=trainings:list', admin)).json.data[0].requests

t.test('uses of all workers, asked at any of them', async (t) => {
  await Promise.all(Array.from({ length: 30 }, () => send('/v1/trainings', viewer)))
  const found = await Promise.all(Array.from({ length: 12 }, usesOf))
  t.same([...new Set(found)], [30])
})

t.test('decisions of all workers, in order, page by page', async (t) => {
  const ids: string[] = []
  for (let i = 0; i < 12; i++)
    ids.push(String((await send('/v1/trainings/7', viewer)).headers['x-request-id']))
  for (let i = 0; i < 6; i++) {
    const { data, has_more } = (await send('/v1/decisions?code=permission_denied&limit=7', admin)).json
    t.equal(has_more, true)
    const query = `code=permission_denied&limit=7&after=${data.at(-1).id}`
    const older = (await send(`/v1/decisions?${query}`, admin)).json
    const all = [...data, ...older.data].map(({ request_id: id }: { request_id: string }) => id)
    t.same(all.toSorted(), ids.toSorted(), 'each once')
    t.equal(older.has_more, false)
    const sorted = [...data, ...older.data].map(({ id }: { id: string }) => id)
    t.same(sorted, sorted.toSorted().toReversed())
  }
})

t.test('a stream has the decisions of all workers, and ends where its worker ends', async (t) => {
  const streams: EventStream[] = []
  for (let i = 0; i < 4; i++) streams.push(await open(t, '/v1/decisions?code=permission_denied', admin))
  await Promise.all(Array.from({ length: 30 }, () => send('/v1/trainings/7', viewer)))
  for (const stream of streams) await stream.received(30)
  for (const { decisions, lost } of streams) {
    t.equal(new Set(decisions.map(({ id }) => id)).size, 30)
    t.equal(lost, 0)
  }
  for (const { response } of streams) response.destroy()
})

t.test('counts stay when a worker ends, as far as they were reported', async (t) => {
  t.equal(await usesOf(), 30)
  const [first = 0] = workersOf()
  process.kill(first, 'SIGKILL')
  // The third one is started once the sockets of the first are closed: until then they take connections, and reset them.
  const isReplaced = () => workersOf().length === 3 && !workersOf().includes(first)
  await until(async () => isReplaced() && (await readiness(world)).workers === 'ok', 'a new worker')
  t.equal(await usesOf(), 30)
  const stream = await open(t, '/v1/decisions?code=permission_denied', admin)
  await Promise.all(Array.from({ length: 12 }, () => send('/v1/trainings/7', viewer)))
  await stream.received(12)
})

t.test('a right that is lost ends the streams of every worker', async (t) => {
  const id = await world.seat('Watcher', ['s1'], ['decisions:list'])
  const watcher = {
    authorization: `Bearer ${await world.token(['s1:Watcher'], { sub: 'bob' })}`,
    space: 's1',
  }
  const streams: EventStream[] = []
  for (let i = 0; i < 6; i++) streams.push(await open(t, '/v1/decisions', watcher))
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: [] })
  for (const stream of streams) await stream.atEnd()
})
