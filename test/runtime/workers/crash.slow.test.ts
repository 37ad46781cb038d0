/** A worker that ends is replaced, without a lost write or a stale decision; a frozen worker blocks no other request. */

import { renameSync } from 'node:fs'
import t from 'tap'
import { Client } from '../../support/client.ts'
import { served } from '../../support/served.ts'
import { until } from '../../support/until.ts'
import { PATIENCE } from '../../../src/runtime/extensions.ts'
import { workersOf } from '../../support/workers.ts'
import { startWithWorkers } from './support.ts'
import { metric, readiness } from '../../support/operations.ts'

/** Read at each check: one test waits as long as the product does. */
const patience = { ...PATIENCE, unresponsive: 120_000 }
const world = await startWithWorkers(t, 2, { patience })

const logged = (message: string) => world.log().filter(({ msg }) => String(msg).startsWith(message)).length
const areReady = () => until(async () => (await readiness(world)).workers === 'ok', 'two ready workers')

/** In place of the status of a request whose connection a killed worker has cut. */
const NONE = 0

/** The headers of a caller whose Seat gets other permissions, and the change. */
async function viewer(name: string) {
  const id = await world.seat(name, ['s1'], ['trainings:list'])
  return {
    headers: { authorization: `Bearer ${await world.token([`s1:${name}`])}`, space: 's1' },
    grant: (permission: string, client = world.client) => {
      const admin = { 'x-api-key': world.keys['acme'] ?? '', space: 'admin' }
      const headers = { ...admin, 'content-type': 'application/json' }
      return client.send('PUT', `/v1/seats/${id}`, headers, JSON.stringify({ permissions: [permission] }))
    },
  }
}

t.test('workers killed one after the other under writes and requests', async (t) => {
  const { headers, grant } = await viewer('Viewer')
  let stale = 0
  let cut = 0
  for (let round = 0; round < 18; round++) {
    const permission = round % 2 === 1 ? 'trainings:list' : 'trainings:read'
    const kills = round % 6 === 3
    if (kills) await areReady()
    const victim = kills ? workersOf()[0] : undefined
    const writing = grant(permission)
    if (victim !== undefined) process.kill(victim, 'SIGKILL')
    const written = await writing.catch(() => null)
    if (written?.status !== 200) {
      cut++
      let last = ''
      // A write without a response may be lost, so it is repeated.
      await until(
        async () => {
          const again = await grant(permission).catch((error: Error) => error)
          last = again instanceof Error ? again.message : again.body
          return !(again instanceof Error) && again.status === 200
        },
        () => last,
      )
    }
    for (let i = 0; i < 4; i++) {
      const client = new Client(world.port)
      const send = () => client.send('GET', '/v1/trainings', headers)
      const { status } = await served(() => send().catch(() => ({ status: NONE })))
      client.close()
      if (status !== NONE && status !== (permission === 'trainings:list' ? 200 : 403)) stale++
    }
  }
  t.equal(stale, 0)
  t.comment(`${cut} writes lost their response with a killed worker`)
  await areReady()
  t.equal(workersOf().length, 2)
})

t.test(
  'a frozen worker: writes are acknowledged after the lease, and it decides right once it goes on',
  async (t) => {
    const { headers, grant } = await viewer('Watcher')
    const opened = () => {
      const client = new Client(world.port)
      t.teardown(() => client.close())
      return client
    }
    // Connections alternate while both workers accept them, so that some of these are at the worker that is frozen.
    const clients = Array.from({ length: 16 }, opened)
    const ask = (client: Client) => served(() => client.send('GET', '/v1/trainings', headers))
    for (const { status } of await Promise.all(clients.map(ask))) t.equal(status, 200)
    const [frozen = 0] = workersOf()
    process.kill(frozen, 'SIGSTOP')
    t.teardown(() => {
      try {
        process.kill(frozen, 'SIGCONT')
      } catch {}
    })
    // Those of the frozen worker get no response, those of the other one do.
    const writes = Array.from({ length: 16 }, async () => {
      const client = opened()
      return { client, written: await served(() => grant('trainings:read', client)) }
    })
    const { client, written } = await Promise.any(writes)
    t.equal(written.status, 200)
    t.equal((await ask(client)).status, 403, 'by the other worker')
    const asked = clients.map(ask)
    process.kill(frozen, 'SIGCONT')
    for (const { status } of await Promise.all(asked)) t.equal(status, 403)
  },
)

t.test('a worker that stays silent is ended and replaced', async () => {
  await areReady()
  const replaced = () => logged('a worker ended: it is replaced')
  const before = replaced()
  const [frozen = 0] = workersOf()
  patience.unresponsive = PATIENCE.unresponsive
  process.kill(frozen, 'SIGSTOP')
  await until(() => !workersOf().includes(frozen), 'the end of the frozen worker', { pause: 100 })
  patience.unresponsive = 120_000
  await until(() => replaced() > before, 'a line about its end')
  await areReady()
  await until(async () => (await readiness(world)).status === 200, '200 of /readyz')
})

t.test('the counters of an ended worker stay', async (t) => {
  for (let i = 0; i < 6; i++) {
    const client = new Client(world.port)
    t.equal((await client.send('GET', '/docs/a')).status, 200)
    client.close()
  }
  const total = 'seatgate_requests_total{route="GET /docs/*",status="200"}'
  /** A worker that reports late is left out; of a killed one, the last report counts. */
  const counted = (requests: number) =>
    until(async () => (await metric(world, total)) === requests, `${requests} counted requests`)
  await counted(6)
  for (const pid of workersOf()) process.kill(pid, 'SIGKILL')
  await areReady()
  await counted(6)
  const client = new Client(world.port)
  const ask = () => client.send('GET', '/docs/a').catch(() => null)
  await until(async () => (await ask())?.status === 200, 'an answer of a new worker')
  client.close()
  await counted(7)
})

t.test('a worker that can not start is retried, and not counted, until it can', async (t) => {
  await areReady()
  const failed = () => logged('a worker could not start')
  const before = failed()
  const moved = `${world.storeFile}.moved`
  renameSync(world.storeFile, moved)
  for (const pid of workersOf()) process.kill(pid, 'SIGKILL')
  await until(() => failed() > before, 'a line about the failed start')
  t.equal((await readiness(world)).status, 503)
  renameSync(moved, world.storeFile)
  await until(async () => (await readiness(world)).status === 200, 'ready again')
  const client = new Client(world.port)
  const ask = () => client.send('GET', '/v1/me').catch(() => null)
  await until(async () => (await ask())?.status === 401, 'an answer of a new worker')
  client.close()
})
