/** Reloads under load cost no request. Each request uses the table and the upstream of one configuration. */

import t, { type Test } from 'tap'
import { until } from '../runtime/workers/support.ts'
import { configuration, OperatedGateway, routeTable } from './gateway.ts'
import { Load } from './load.ts'
import { startService } from './service.ts'

const ROUNDS = 5

/** The n-th configuration has its own route, and an upstream that answers with its number. */
function files(targets: readonly string[], round: number, workers: number) {
  return {
    main: configuration({ targets: [targets[round] ?? ''], top: [`workers: ${workers}`] }),
    table: routeTable(['GET /docs/*: public', `GET /round/${round}: public`]),
  }
}

async function underLoad(
  t: Test,
  workers: number,
  change: (gateway: OperatedGateway) => void,
): Promise<void> {
  const services = await Promise.all(Array.from({ length: ROUNDS + 1 }, (_, i) => startService(t, String(i))))
  const targets = services.map(({ url }) => url)
  const gateway = await OperatedGateway.start(t, {
    targets: [targets[0] ?? ''],
    top: [`workers: ${workers}`],
    routes: ['GET /docs/*: public', 'GET /round/0: public'],
  })
  let round = 0
  const mixed: string[] = []
  const load = new Load({
    port: gateway.port,
    rate: 500,
    send: async (client, n) => {
      if (n % 3 > 0) return client.send('GET', '/docs/a')
      const asked = String(n % 2 === 0 ? round : Math.max(0, round - 1))
      const outcome = await client.send('GET', `/round/${asked}`)
      if (outcome.kind !== 'answer') return outcome
      // Not in this table, or in it with the matching upstream.
      const right = outcome.status === 404 || (outcome.status === 200 && outcome.body === asked)
      if (!right) mixed.push(`${asked}: ${outcome.status} ${outcome.body}`)
      return { kind: 'answer', status: 200, body: '' }
    },
  })
  await load.more(300)
  for (round = 1; round <= ROUNDS; round++) {
    const { main, table } = files(targets, round, workers)
    const before = loggedVersion(gateway)
    gateway.write('gateway.config.yaml', main)
    gateway.write('routes/main.yaml', table)
    change(gateway)
    await until(async () => (await answered(gateway, round)) === String(round))
    // Wait for all processes: one that is still reading would get files of this round and the next.
    await until(() => loggedVersion(gateway) !== before)
    await load.more(100)
    await until(() => gateway.remarks.some((line) => isComparison(line, gateway)))
    if (round === 3) await broken(t, gateway, table, change)
  }
  await load.stop()
  t.same(load.failures, [])
  t.same(mixed, [], 'never mixed')
  t.equal(load.refused, 0)
  await sameVersion(t, gateway)
}

async function answered(gateway: OperatedGateway, round: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${gateway.port}/round/${round}`)).text()
}

/** Writes a table with a fault: it is reported and changes nothing. Then the table is restored. */
async function broken(
  t: Test,
  gateway: OperatedGateway,
  table: string,
  change: (gateway: OperatedGateway) => void,
) {
  const before = await gateway.metric('seatgate_config_version')
  gateway.write('routes/main.yaml', `${table}  GET /docs/*: public\n  GET /a: nonsense`)
  change(gateway)
  await until(() => gateway.remarks.some(({ msg }) => String(msg).startsWith('reload refused')))
  t.equal(await gateway.metric('seatgate_config_version'), before)
  t.ok((await gateway.metric('seatgate_config_reloads_total{result="faulty"}')) >= 1)
  t.equal(await answered(gateway, 3), '3', 'the previous table stays in use')
  gateway.write('routes/main.yaml', table)
}

/** The whole comparison of the newest reload. A round adds a route and removes one; a faulty table in between counts for none. */
function isComparison(line: Record<string, unknown>, gateway: OperatedGateway): boolean {
  const newest = gateway.remarks.findLast(({ msg }) => msg === 'configuration reloaded')
  const changes = line['changes'] as Record<string, number> | undefined
  return line['config'] === newest?.['config'] && changes?.['became_public'] === 1 && changes['removed'] === 1
}

/** The log, `/readyz` and the metric show the same version. */
function loggedVersion(gateway: OperatedGateway): unknown {
  return gateway.remarks.findLast(({ msg }) => msg === 'configuration reloaded')?.['version']
}

async function sameVersion(t: Test, gateway: OperatedGateway): Promise<void> {
  const logged = () => loggedVersion(gateway)
  const agree = async () => {
    const shown = ((await gateway.ready()).body['config'] as { version: number }).version
    return shown === (await gateway.metric('seatgate_config_version')) && shown === logged()
  }
  await until(agree)
  t.ok(Number(logged()) > ROUNDS)
  const { hash } = (await gateway.ready()).body['config'] as { hash: string }
  t.equal(await gateway.metric(`seatgate_config_info{hash="${hash}"}`), 1)
}

for (const workers of [1, 2]) {
  t.test(`by SIGHUP, ${workers} processes`, (t) =>
    underLoad(t, workers, (gateway) => gateway.signal('SIGHUP')),
  )
}

t.test('by changed files', (t) => underLoad(t, 1, () => {}))

t.test('ten thousand changed routes: all are counted, and no request fails meanwhile', async (t) => {
  const service = await startService(t, 'one')
  const targets = [service.url]
  const routes = (permission: string) => [
    'GET /docs/*: public',
    ...Array.from({ length: 10_000 }, (_, i) => `GET /v1/part${i % 100}/thing${i}/{id}: ${permission}`),
  ]
  const gateway = await OperatedGateway.start(t, { targets, routes: routes('a:read') })
  const load = new Load({ port: gateway.port, rate: 200 })
  await load.more(100)
  gateway.write('routes/main.yaml', routeTable(routes('b:read')))
  await until(() => gateway.remarks.some(({ msg }) => msg === 'configuration reloaded'))
  await until(() => gateway.remarks.some(({ msg }) => msg === 'the route tables have changed'))
  await load.more(100)
  await load.stop()
  t.same(load.failures, [])
  t.equal(load.refused, 0)
  t.equal(await gateway.metric('seatgate_config_changes_total{kind="changed"}'), 10_000)
  const lines = gateway.remarks
  t.equal(lines.filter(({ msg }) => msg === 'a route has changed').length, 20)
  t.match(
    lines.find(({ msg }) => msg === 'the route tables have changed'),
    { changes: { changed: 10_000 } },
  )
})
