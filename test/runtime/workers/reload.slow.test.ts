/** All workers use a new configuration, or none does. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Client } from '../../support/client.ts'
import { startWorld, type World } from '../../support/world.ts'
import { metric, readiness, until, workersOf } from './support.ts'

async function statuses(world: World, path: string): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < 4; i++) {
    const client = new Client(world.port)
    found.push((await client.send('GET', path)).status)
    client.close()
  }
  return found
}

t.test('a new table, a table with faults, and a worker that starts after both', async (t) => {
  const world = await startWorld(t, { top: ['workers: 2'] })
  const table = join(world.folder, 'routes', 'main.yaml')
  writeFileSync(table, 'upstream: main\nroutes:\n  GET /new/*: public\n')
  await world.reload()
  t.same(await statuses(world, '/new/a'), [200, 200, 200, 200])
  t.same(await statuses(world, '/docs/a'), [404, 404, 404, 404])

  writeFileSync(table, 'upstream: main\nroutes:\n  GET /v1/seats: public\n')
  await t.rejects(world.reload())
  t.same(await statuses(world, '/new/a'), [200, 200, 200, 200])

  const before = workersOf()
  for (const pid of before) process.kill(pid, 'SIGKILL')
  await until(() => workersOf().filter((pid) => !before.includes(pid)).length === 2)
  await until(async () =>
    (await statuses(world, '/new/a').catch(() => [0])).every((status) => status === 200),
  )
  t.pass('it uses the same table as the others, not the files')
})

t.test('no request fails while tables are replaced under load', async (t) => {
  const world = await startWorld(t, { top: ['workers: 2'] })
  let on = true
  const failed: unknown[] = []
  const load = Array.from({ length: 6 }, async () => {
    const client = new Client(world.port)
    while (on) {
      const answer = await client.send('GET', '/docs/a').catch((error: Error) => error)
      if (answer instanceof Error || answer.status !== 200) failed.push(answer)
    }
    client.close()
  })
  for (let i = 0; i < 15; i++) await world.reload()
  on = false
  await Promise.all(load)
  t.same(failed, [])
})

t.test('candidate tables judge the requests of all workers, and the comparison is made once', async (t) => {
  const world = await startWorld(t, { top: ['workers: 2'], shadow: ['GET /docs/*: authenticated'] })
  const judged = () => metric(world, 'seatgate_shadow_decisions_total{result="allow_to_deny"}')
  await statuses(world, '/docs/a')
  await until(async () => (await judged()) === 4)
  writeFileSync(join(world.folder, 'next', 'main.yaml'), 'upstream: main\nroutes:\n  GET /docs/*: public\n')
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), 'upstream: main\nroutes:\n  ANY /docs/*: public\n')
  await world.reload()
  await statuses(world, '/docs/a')
  await until(async () => (await metric(world, 'seatgate_shadow_decisions_total{result="same"}')) === 4)
  t.equal(await judged(), 4)
  const { config } = (await (await fetch(`${world.ops}/readyz`)).json()) as { config: { hash: string } }
  t.equal(await metric(world, `seatgate_config_info{hash="${config.hash}"}`), 1, 'not added up')
  await until(async () => (await metric(world, 'seatgate_config_changes_total{kind="removed"}')) > 0)
  t.equal(await metric(world, 'seatgate_config_changes_total{kind="became_public"}'), 1)
  const lines = world.log().filter(({ msg }) => msg === 'the route tables have changed')
  t.equal(lines.length, 1)
})

t.test('a worker that starts during a reload does not keep the old table', async (t) => {
  const world = await startWorld(t, { top: ['workers: 2'] })
  const table = join(world.folder, 'routes', 'main.yaml')
  const tables = ['GET /page: public', 'GET /page: a:b']
  for (let round = 0; round < 6; round++) {
    const before = workersOf()
    process.kill(before[0] ?? 0, 'SIGKILL')
    // Between its start and its first connection.
    await sleep(round * 120)
    writeFileSync(table, `upstream: main\nroutes:\n  ${tables[round % 2]}\n`)
    await world.reload()
    const expected = round % 2 === 0 ? 200 : 401
    const asking = Array.from({ length: 8 }, async () => {
      const client = new Client(world.port)
      const answer = await client.send('GET', '/page').catch(() => null)
      client.close()
      return answer?.status ?? expected
    })
    t.same(new Set(await Promise.all(asking)), new Set([expected]), `at once, round ${round}`)
    await until(async () => (await readiness(world)).workers === 'ok')
    t.same(new Set(await statuses(world, '/page')), new Set([expected]), `later, round ${round}`)
  }
})
