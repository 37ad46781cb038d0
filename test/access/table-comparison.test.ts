/** After a reload the log and the metrics say what it changes by meaning. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/config.ts'
import { TableComparison } from '../../src/access/table-comparison.ts'
import { builtInPaths } from '../../src/composition.ts'
import { FleetMetrics } from '../../src/telemetry/fleet-metrics.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { Folder } from '../config/support.ts'
import { until } from '../support/until.ts'
import { routeTable } from '../support/configuration.ts'
import { startWorld, type World } from '../support/world.ts'
import { metricsOf } from '../support/operations.ts'

const write = (world: World, routes: readonly string[]) =>
  writeFileSync(join(world.folder, 'routes', 'main.yaml'), routeTable(routes))

type Line = Record<string, unknown>

/** The line about a whole comparison. */
const DONE = new Set([
  'the route tables have changed',
  'no request is answered differently',
  'no change of the route tables is found',
])

const isDone = (lines: readonly Line[]) => lines.some(({ msg }) => DONE.has(String(msg)))

async function compared(log: () => Line[] | Promise<Line[]>): Promise<Line[]> {
  let lines: Line[] = []
  await until(
    async () => isDone((lines = await log())),
    () => `not compared: ${JSON.stringify(lines)}`,
  )
  return lines
}

async function changesIn(world: World): Promise<Record<string, number>> {
  const text = await metricsOf(world)
  const found = text.matchAll(/^seatgate_config_changes_total\{kind="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, kind, count]) => [kind, Number(count)]))
}

t.test('what changed, by weight', async (t) => {
  const world = await startWorld(t, {
    routes: ['GET /a: p:q', 'GET /b: p:q', 'GET /c: public', 'GET /d: p:q'],
  })
  const before = world.config.hash
  t.same(new Set(Object.values(await changesIn(world))), new Set([0]), 'each kind has a series')
  write(world, ['GET /a: r:s', 'GET /b: public', 'GET /c: p:q', 'GET /e: p:q'])
  await world.reload()
  const lines = await compared(() => world.log())
  const counts = { became_public: 1, added: 1, changed: 1, tightened: 1, removed: 1 }
  const whole = lines.find(({ msg }) => msg === 'the route tables have changed')
  t.match(whole, { level: 'info', config_before: before, changes: counts })
  t.not(whole?.['config'], before)
  const changes = lines.filter(({ msg }) => msg === 'a route has changed')
  t.same(
    changes.map(({ kind }) => kind),
    Object.keys(counts),
  )
  t.match(changes[0], {
    level: 'warn',
    config: whole?.['config'],
    method: 'GET',
    pattern: '/b',
    witness: { method: 'GET', path: '/b' },
    old: { permission: 'p:q', upstream: 'main', line: 4 },
    new: { permission: 'public', upstream: 'main', line: 4 },
  })
  t.match(await changesIn(world), { ...counts, loosened: 0 })
})

t.test('the same meaning in other words', async (t) => {
  const world = await startWorld(t, { routes: ['GET /a/{x}: p:q'] })
  write(world, ['GET /a/{x}: p:q', 'GET /a/b: p:q'])
  await world.reload()
  const lines = await compared(() => world.log())
  t.match(
    lines.find(({ msg }) => msg === 'no request is answered differently'),
    { changes: {} },
  )
  t.notOk(lines.some(({ msg }) => msg === 'a route has changed'))
})

t.test('of many changes twenty have a line', async (t) => {
  const routes = Array.from({ length: 70 }, (_, i) => `GET /a${i}: p:q`)
  const world = await startWorld(t, { routes })
  write(
    world,
    routes.map((route, i) => route.replace('p:q', i === 69 ? 'public' : 'r:s')),
  )
  await world.reload()
  const lines = await compared(() => world.log())
  const changes = lines.filter(({ msg }) => msg === 'a route has changed')
  t.equal(changes.length, 20)
  t.match(changes[0], { kind: 'became_public', pattern: '/a69' })
  t.match(
    lines.find(({ msg }) => String(msg).startsWith('more routes have changed')),
    { more: 50 },
  )
  t.match(await changesIn(world), { became_public: 1, changed: 69 })
})

t.test('a refused reload compares nothing', async (t) => {
  const world = await startWorld(t, { routes: ['GET /a: p:q'] })
  write(world, ['GET /a: public', 'GET /a: public'])
  await t.rejects(world.reload())
  write(world, ['GET /a: r:s'])
  await world.reload()
  const lines = await compared(() => world.log())
  t.equal(lines.filter(({ msg }) => DONE.has(String(msg))).length, 1)
  t.match(await changesIn(world), { became_public: 0, changed: 1 })
})

const SECRET = 'secret-of-acme-secret-of-acme-secret'

/** Configurations, and a comparison with a real log and real metrics. */
async function setUp(t: Test) {
  const folder = new Folder(t, { log: '' })
  const log = await openLog({ pretty: false, destination: folder.file('log') })
  const metrics = new FleetMetrics()
  const { readFile } = await import('node:fs/promises')
  const config = async (routes: readonly string[]): Promise<Config> => {
    folder.write({
      'gateway.config.yaml': `tenants: { acme: { token: { secrets: ['${SECRET}'] } } }
upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }
routes: [routes.yaml]
`,
      'routes.yaml': routeTable(routes),
    })
    return loadConfig(folder.file('gateway.config.yaml'), {})
  }
  const lines = async (): Promise<Line[]> => {
    log.flush()
    const text = await readFile(folder.file('log'), 'utf8')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }
  const done = () => compared(lines)
  const counted = async () => {
    const text = await metrics.registry.getSingleMetricAsString('seatgate_config_changes_total')
    const found = [...text.matchAll(/kind="(\w+)"\} ([1-9]\d*)/g)]
    return Object.fromEntries(found.map(([, kind, count]) => [kind, Number(count)]))
  }
  return { comparison: new TableComparison(log, metrics, builtInPaths), config, done, lines, counted }
}

t.test('a reload during a comparison: the next one has the changes of both', async (t) => {
  const { comparison, config, done, counted } = await setUp(t)
  const first = await config(['GET /a: p:q', 'GET /b: p:q', 'GET /c: p:q'])
  const second = await config(['GET /a: public', 'GET /b: public', 'GET /c: p:q'])
  const third = await config(['GET /a: public', 'GET /b: p:q', 'GET /c: r:s'])
  comparison.begin(first, second)
  comparison.begin(second, third)
  const lines = await done()
  t.match(lines[0], {
    msg: 'the comparison of the route tables is not finished',
    config_before: first.hash,
    config: second.hash,
  })
  const whole = lines.filter(({ msg }) => DONE.has(String(msg)))
  t.equal(whole.length, 1)
  t.match(whole[0], { config_before: first.hash, config: third.hash })
  t.same(whole[0]?.['changes'], { became_public: 1, changed: 1 }, 'the net change')
  t.same(await counted(), { became_public: 1, changed: 1 })
  comparison.begin(third, first)
  await until(
    async () => Object.keys(await counted()).length >= 3,
    () => 'the next comparison counts nothing',
  )
  t.same(await counted(), { became_public: 1, tightened: 1, changed: 2 }, 'then from the third on')
})

t.test('a stop ends the comparison, which says so and counts nothing', async (t) => {
  const { comparison, config, done, counted } = await setUp(t)
  const [before, after] = [await config(['GET /a: p:q']), await config(['GET /a: public'])]
  comparison.begin(before, after)
  comparison.cancel()
  comparison.cancel()
  // A later one, which takes as long, is done when the ended one would be.
  comparison.begin(after, before)
  const lines = await done()
  t.match(lines[0], { msg: 'the comparison of the route tables is not finished', why: 'the gateway ends' })
  t.same(
    lines.slice(1).map(({ msg }) => msg),
    ['the route tables have changed', 'a route has changed'],
  )
  t.same(await counted(), { tightened: 1 })
})

t.test('a fault of the comparison is logged, and the next one works', async (t) => {
  const { comparison, config, done, lines } = await setUp(t)
  const before = await config(['GET /a: p:q'])
  const after = await config(['GET /a: public'])
  // Such a table does not load.
  const broken = { ...after, routes: after.routes.map((each) => ({ ...each, path: 'no path' })) }
  comparison.begin(before, broken)
  await until(
    async () => (await lines()).length > 0,
    () => 'no line',
  )
  t.match((await lines())[0], { level: 'error', msg: 'the route tables cannot be compared' })
  comparison.begin(before, after)
  t.ok((await done()).some(({ kind }) => kind === 'became_public'))
})
