/** The content hash of the tables in use: in `/readyz`, in metrics and in log lines. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { routeTable } from '../support/configuration.ts'
import { startWorld, type World } from '../support/world.ts'
import { until } from '../support/until.ts'
import { missing } from '../deploy/programs.ts'
import { metricsOf } from '../support/operations.ts'

const write = (world: World, routes: string[]) =>
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), routeTable(routes))

async function shownHash(world: World): Promise<unknown> {
  const ready = (await (await fetch(`${world.ops}/readyz`)).json()) as { config: { hash: unknown } }
  return ready.config.hash
}

const info = (text: string) =>
  [...text.matchAll(/^seatgate_config_info\{hash="(\w+)"\} (\d+)$/gm)].map(([, hash, value]) => [hash, value])

t.test('/readyz and the metric show one hash, which a reload replaces', async (t) => {
  const world = await startWorld(t)
  const before = await shownHash(world)
  t.equal(before, world.config.hash)
  t.same(info(await metricsOf(world)), [[before, '1']])
  write(world, ['GET /new: public'])
  await world.reload()
  const after = await shownHash(world)
  t.not(after, before)
  t.same(info(await metricsOf(world)), [[after, '1']], 'the old series is gone')
})

t.test('a request in flight during a reload logs the tables that decided it', async (t) => {
  const held: ServerResponse[] = []
  const world = await startWorld(t, { answer: (_, response) => void held.push(response) })
  const before = await shownHash(world)
  const asked = world.client.send('GET', '/docs/a')
  const areHeld = (count: number) =>
    until(
      () => held.length === count,
      () => `${held.length} requests have come, not ${count}`,
    )
  await areHeld(1)
  write(world, ['GET /docs/*: public', 'GET /new: public'])
  await world.reload()
  const later = fetch(`http://127.0.0.1:${world.port}/docs/b`)
  await areHeld(2)
  for (const response of held) response.end('done')
  await Promise.all([asked, later])
  const lines = () => world.log().filter(({ msg }) => msg === 'request')
  await until(
    () => lines().length >= 2,
    () => `${lines().length} lines of requests`,
  )
  const configOf = (path: string) => lines().find((line) => line['path'] === path)?.['config']
  t.equal(configOf('/docs/a'), before)
  t.equal(configOf('/docs/b'), await shownHash(world))
})

t.test('a request that no table decided has none', async (t) => {
  const world = await startWorld(t)
  const answer = await fetch(`http://127.0.0.1:${world.port}/docs/a`, { method: 'NONSENSE' })
  t.equal(answer.status, 400)
  const line = () => world.log().find(({ msg }) => msg === 'request')
  await until(
    () => line() !== undefined,
    () => 'no line of the request',
  )
  t.notOk('config' in (line() ?? {}))
})

t.test('promtool accepts the metrics', { skip: missing('promtool') }, async (t) => {
  const world = await startWorld(t)
  const input = await metricsOf(world)
  const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  t.notMatch(stderr, /seatgate_(?:config|shadow)|error/)
})
