/** A worker that ends is replaced, without a lost write or a stale decision; a frozen worker blocks no other request. */

import { renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Client } from '../../support/client.ts'
import { startWorld } from '../../support/world.ts'
import { metric, readiness, until, workersOf } from './support.ts'

t.test('workers killed one after the other under writes and requests', async (t) => {
  const world = await startWorld(t, { top: ['workers: 2'] })
  const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  let stale = 0
  let cut = 0
  let last = ''
  for (let round = 0; round < 60; round++) {
    const grant = round % 2 === 1
    const permissions = [grant ? 'trainings:list' : 'trainings:read']
    const kills = round % 10 === 5
    if (kills) await until(async () => (await readiness(world)).workers === 'ok')
    const victim = kills ? workersOf()[0] : undefined
    const writing = world.admin('PUT', `/v1/seats/${id}`, { permissions })
    if (victim !== undefined) process.kill(victim, 'SIGKILL')
    const written = await writing.catch(() => null)
    if (written?.status !== 200) {
      // A write without a response may be lost, so it is repeated.
      cut++
      await until(async () => {
        const again = await world
          .admin('PUT', `/v1/seats/${id}`, { permissions })
          .catch((error: Error) => error)
        last = again instanceof Error ? again.message : again.body
        return !(again instanceof Error) && again.status === 200
      }).catch(() => t.fail(last))
    }
    for (let i = 0; i < 4; i++) {
      const client = new Client(world.port)
      const answer = await client.send('GET', '/v1/trainings', headers).catch(() => null)
      client.close()
      if (answer !== null && answer.status !== (grant ? 200 : 403)) stale++
    }
  }
  t.equal(stale, 0)
  t.comment(`${cut} writes lost their response with a killed worker`)
  await until(async () => (await readiness(world)).workers === 'ok')
  t.equal(workersOf().length, 2)
})

t.test(
  'a frozen worker: writes are acknowledged after the lease, and its decisions after the thaw are right',
  async (t) => {
    const world = await startWorld(t, { top: ['workers: 2'] })
    const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
    const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
    const clients = Array.from({ length: 4 }, () => new Client(world.port))
    for (const client of clients) t.equal((await client.send('GET', '/v1/trainings', headers)).status, 200)
    const [frozen = 0] = workersOf()
    process.kill(frozen, 'SIGSTOP')
    t.teardown(() => {
      try {
        process.kill(frozen, 'SIGCONT')
      } catch {}
    })
    // Connections alternate: those of the frozen worker get no response, those of the other one do.
    const permissions = ['trainings:read']
    const writes = Array.from({ length: 16 }, async () => {
      const client = new Client(world.port)
      t.teardown(() => client.close())
      const admin = { 'x-api-key': world.keys.acme ?? '', space: 'admin', 'content-type': 'application/json' }
      return client.send('PUT', `/v1/seats/${id}`, admin, JSON.stringify({ permissions }))
    })
    t.equal((await Promise.any(writes)).status, 200)
    const asked = clients.map((client) => client.send('GET', '/v1/trainings', headers))
    await sleep(100)
    process.kill(frozen, 'SIGCONT')
    for (const { status } of await Promise.all(asked)) t.equal(status, 403)
    for (const client of clients) client.close()
  },
)

t.test('a worker that stays silent is ended and replaced', async (t) => {
  const world = await startWorld(t, { top: ['workers: 2'] })
  const before = workersOf()
  const [frozen = 0] = before
  process.kill(frozen, 'SIGSTOP')
  await until(() => !workersOf().includes(frozen))
  await until(() => world.logText().includes('a worker ended: it is replaced'))
  await until(async () => (await readiness(world)).workers === 'ok')
  t.match(await readiness(world), { status: 200, workers: 'ok' })
})

t.test('the counters of an ended worker stay', async (t) => {
  const world = await startWorld(t, { top: ['workers: 2'] })
  for (let i = 0; i < 6; i++) {
    const client = new Client(world.port)
    t.equal((await client.send('GET', '/docs/a')).status, 200)
    client.close()
  }
  const total = 'seatgate_requests_total{route="GET /docs/*",status="200"}'
  t.equal(await metric(world, total), 6)
  for (const pid of workersOf()) process.kill(pid, 'SIGKILL')
  await until(async () => (await readiness(world)).workers === 'ok')
  t.equal(await metric(world, total), 6)
  const client = new Client(world.port)
  await until(async () => (await client.send('GET', '/docs/a').catch(() => null))?.status === 200)
  client.close()
  t.equal(await metric(world, total), 7)
})

t.test('a worker that can not start is retried, and not counted, until it can', async (t) => {
  const world = await startWorld(t, { top: ['workers: 2'] })
  const moved = `${world.storeFile}.moved`
  renameSync(world.storeFile, moved)
  for (const pid of workersOf()) process.kill(pid, 'SIGKILL')
  await until(() => world.logText().includes('a worker could not start'))
  t.equal((await readiness(world)).status, 503)
  renameSync(moved, world.storeFile)
  await until(async () => (await readiness(world)).status === 200)
  const client = new Client(world.port)
  await until(async () => (await client.send('GET', '/v1/me').catch(() => null))?.status === 401)
  client.close()
})
