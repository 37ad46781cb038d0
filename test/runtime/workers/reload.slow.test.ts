/** All workers use a new configuration, or none does. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { routeTable } from '../../support/configuration.ts'
import type { World } from '../../support/world.ts'
import { workersOf } from '../../support/workers.ts'
import { startWithWorkers } from './support.ts'
import { metric, readiness } from '../../support/operations.ts'

async function statuses(world: World, path: string): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < 4; i++) {
    const client = new Client(world.port)
    found.push((await client.send('GET', path)).status)
    client.close()
  }
  return found
}

const world = await startWithWorkers(t, 2)
const areReady = () => until(async () => (await readiness(world)).workers === 'ok', 'two ready workers')
const write = (...routes: string[]) =>
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), routeTable(routes))

t.test('a new table, a table with faults, and a worker that starts after both', async (t) => {
  write('GET /new/*: public')
  await world.reload()
  t.same(await statuses(world, '/new/a'), [200, 200, 200, 200])
  t.same(await statuses(world, '/docs/a'), [404, 404, 404, 404])

  write('GET /v1/seats: public')
  await t.rejects(world.reload())
  t.same(await statuses(world, '/new/a'), [200, 200, 200, 200])

  const before = workersOf()
  for (const pid of before) process.kill(pid, 'SIGKILL')
  await until(() => workersOf().filter((pid) => !before.includes(pid)).length === 2, 'two other workers', {
    pause: 100,
  })
  await areReady()
  t.same(await statuses(world, '/new/a'), [200, 200, 200, 200], 'the table of the others, not the files')
})

t.test('no request fails while tables are replaced under load', async (t) => {
  write('GET /docs/*: public')
  await world.reload()
  let on = true
  t.teardown(() => (on = false))
  const failed: unknown[] = []
  const load = Array.from({ length: 6 }, async () => {
    const client = new Client(world.port)
    while (on) {
      const answer = await client.send('GET', '/docs/a').catch((error: Error) => error)
      if (answer instanceof Error || answer.status !== 200) failed.push(answer)
    }
    client.close()
  })
  for (let i = 0; i < 8; i++) await world.reload()
  on = false
  await Promise.all(load)
  t.same(failed, [])
})

t.test('a worker that starts during a reload does not keep the old table', async (t) => {
  for (let round = 0; round < 4; round++) {
    process.kill(workersOf()[0] ?? 0, 'SIGKILL')
    // Between its start and its first connection.
    await sleep(round * 180)
    write(round % 2 === 0 ? 'GET /page: public' : 'GET /page: a:b')
    await world.reload()
    const expected = round % 2 === 0 ? 200 : 401
    const asking = Array.from({ length: 8 }, async () => {
      const client = new Client(world.port)
      const answer = await client.send('GET', '/page').catch(() => null)
      client.close()
      return answer?.status ?? expected
    })
    t.same(new Set(await Promise.all(asking)), new Set([expected]), `at once, round ${round}`)
    await areReady()
    t.same(new Set(await statuses(world, '/page')), new Set([expected]), `later, round ${round}`)
  }
})

t.test('candidate tables judge the requests of all workers, and the comparison is made once', async (t) => {
  const world = await startWithWorkers(t, 2, { shadow: ['GET /docs/*: authenticated'] })
  const judged = () => metric(world, 'seatgate_shadow_decisions_total{result="allow_to_deny"}')
  await statuses(world, '/docs/a')
  await until(async () => (await judged()) === 4, 'four requests that the candidate judges')
  writeFileSync(join(world.folder, 'next', 'main.yaml'), 'upstream: main\nroutes:\n  GET /docs/*: public\n')
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), 'upstream: main\nroutes:\n  ANY /docs/*: public\n')
  await world.reload()
  await statuses(world, '/docs/a')
  const same = () => metric(world, 'seatgate_shadow_decisions_total{result="same"}')
  await until(async () => (await same()) === 4, 'four requests that both tables judge alike')
  t.equal(await judged(), 4)
  const { config } = (await (await fetch(`${world.ops}/readyz`)).json()) as { config: { hash: string } }
  t.equal(await metric(world, `seatgate_config_info{hash="${config.hash}"}`), 1, 'not added up')
  const removed = () => metric(world, 'seatgate_config_changes_total{kind="removed"}')
  await until(async () => (await removed()) > 0, 'the comparison of the tables')
  t.equal(await metric(world, 'seatgate_config_changes_total{kind="became_public"}'), 1)
  const lines = world.log().filter(({ msg }) => msg === 'the route tables have changed')
  t.equal(lines.length, 1)
})
