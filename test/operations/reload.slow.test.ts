/** Reloads under load cost no request. Each request uses the table and the upstream of one configuration. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { routeTable } from '../support/configuration.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { Load } from './load.ts'
import { startService } from './service.ts'

const ROUNDS = 3

/** A busy machine may stall between the connection of a client and its request. */
const PATIENT = 'limits: { header_timeout: 5m }'

/** In one step: the gateway never reads a half of it. */
function put({ folder }: GatewayProcess, name: string, text: string): void {
  const path = join(folder, name)
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

/** Its configuration names this table and no other, so that the upstream and the table of a round change together. */
const tableOf = (round: number) => `round-${round}.yaml`

/** The n-th configuration has its own route, and an upstream that answers with its number. */
async function underLoad(t: Test, workers: number, change: (gateway: GatewayProcess) => void): Promise<void> {
  const services = await Promise.all(Array.from({ length: ROUNDS + 1 }, (_, i) => startService(t, String(i))))
  const targets = services.map(({ url }) => url)
  const gateway = await startGatewayProcess(t, {
    target: targets[0] ?? '',
    top: [`workers: ${workers}`, PATIENT],
    routes: ['GET /docs/*: public', 'GET /round/0: public'],
  })
  const first = readFileSync(join(gateway.folder, 'gateway.config.yaml'), 'utf8')
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
    const table = routeTable(['GET /docs/*: public', `GET /round/${round}: public`])
    const before = loggedVersion(gateway)
    put(gateway, tableOf(round), table)
    const config = first.replace(targets[0] ?? '', targets[round] ?? '')
    put(gateway, 'gateway.config.yaml', config.replace('[routes/*.yaml]', `[${tableOf(round)}]`))
    change(gateway)
    await until(
      async () => (await answered(gateway, round)) === String(round),
      `the upstream of round ${round}`,
    )
    // All processes have activated it.
    await until(() => loggedVersion(gateway) !== before, `the reload of round ${round}`)
    await load.more(100)
    await until(
      () => gateway.lines().some((line) => isComparison(line, gateway)),
      `the comparison of round ${round}`,
    )
    if (round === 2) await broken(t, gateway, { name: tableOf(round), text: table }, change)
  }
  await load.stop()
  t.same(load.failures, [])
  t.same(mixed, [], 'never mixed')
  t.equal(load.refused, 0)
  await sameVersion(t, gateway)
}

async function answered(gateway: GatewayProcess, round: number): Promise<string> {
  return (await fetch(`${gateway.origin}/round/${round}`)).text()
}

/** Writes a table with a fault: it is reported and changes nothing. Then the table is restored. */
async function broken(
  t: Test,
  gateway: GatewayProcess,
  table: { readonly name: string; readonly text: string },
  change: (gateway: GatewayProcess) => void,
) {
  put(gateway, table.name, `${table.text}  GET /docs/*: public\n  GET /a: nonsense`)
  change(gateway)
  await until(
    () => gateway.lines().some(({ msg }) => String(msg).startsWith('reload refused')),
    'a line about the refused reload',
  )
  // The signal and the watched files each cause a reload of the table before: the second one may come late.
  t.equal(await gateway.metric('seatgate_config_version'), loggedVersion(gateway))
  t.ok((await gateway.metric('seatgate_config_reloads_total{result="faulty"}')) >= 1)
  t.equal(await answered(gateway, 2), '2', 'the previous table stays in use')
  put(gateway, table.name, table.text)
}

/** The whole comparison of the newest reload. A round adds a route and removes one; a faulty table in between counts for none. */
function isComparison(line: Record<string, unknown>, gateway: GatewayProcess): boolean {
  const newest = gateway.lines().findLast(({ msg }) => msg === 'configuration reloaded')
  const changes = line['changes'] as Record<string, number> | undefined
  return line['config'] === newest?.['config'] && changes?.['became_public'] === 1 && changes['removed'] === 1
}

/** The log, `/readyz` and the metric show the same version. */
function loggedVersion(gateway: GatewayProcess): unknown {
  return gateway.lines().findLast(({ msg }) => msg === 'configuration reloaded')?.['version']
}

async function sameVersion(t: Test, gateway: GatewayProcess): Promise<void> {
  const logged = () => loggedVersion(gateway)
  const agree = async () => {
    const shown = ((await gateway.ready()).body['config'] as { version: number }).version
    return shown === (await gateway.metric('seatgate_config_version')) && shown === logged()
  }
  await until(agree, 'one version in the log, /readyz and the metric')
  t.ok(Number(logged()) > ROUNDS)
  const { hash } = (await gateway.ready()).body['config'] as { hash: string }
  t.equal(await gateway.metric(`seatgate_config_info{hash="${hash}"}`), 1)
}

t.test('by SIGHUP, two processes', (t) => underLoad(t, 2, (gateway) => gateway.signal('SIGHUP')))

t.test('by changed files, one process', (t) => underLoad(t, 1, () => {}))

t.test('two thousand changed routes: all are counted, and no request fails meanwhile', async (t) => {
  const { url } = await startService(t, 'one')
  const routes = (permission: string) => [
    'GET /docs/*: public',
    ...Array.from({ length: 2000 }, (_, i) => `GET /v1/part${i % 100}/thing${i}/{id}: ${permission}`),
  ]
  const gateway = await startGatewayProcess(t, { target: url, routes: routes('a:read'), top: [PATIENT] })
  const load = new Load({ port: gateway.port, rate: 200 })
  await load.more(100)
  put(gateway, 'routes/main.yaml', routeTable(routes('b:read')))
  const logs = (message: string) => until(() => gateway.lines().some(({ msg }) => msg === message), message)
  await logs('configuration reloaded')
  await logs('the route tables have changed')
  await load.more(100)
  await load.stop()
  t.same(load.failures, [])
  t.equal(load.refused, 0)
  t.equal(await gateway.metric('seatgate_config_changes_total{kind="changed"}'), 2000)
  const lines = gateway.lines()
  t.equal(lines.filter(({ msg }) => msg === 'a route has changed').length, 20)
  t.match(
    lines.find(({ msg }) => msg === 'the route tables have changed'),
    { changes: { changed: 2000 } },
  )
})
