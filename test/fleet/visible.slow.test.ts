/** A fleet as an operator sees it: `/readyz`, `seatgate fleet`, metrics. */

import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { seatgateHere } from '../cli/in-process.ts'
import { metric } from '../support/operations.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { servedCommand } from './checker.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { LEAST_WRITES, Load } from './load.ts'

interface Listed {
  readonly seq: number
  readonly instances: readonly {
    readonly id: string
    readonly name: string
    readonly seq: number
    readonly behind: number
    readonly age_ms: number
    readonly config: string | null
    readonly differs: boolean
  }[]
}

t.test('the view of an operator', async (t) => {
  const fleet = await startFleet(t, { proxies: ['store', 'redis'] })
  const { first } = fleet
  await new Load(fleet).run((load) => load.written(60))

  await t.test(
    'seatgate fleet lists the instances, their applied changes and the age of their beats',
    async (t) => {
      const { seq, instances } = await allListed(fleet)
      t.ok(seq >= LEAST_WRITES, `the store's newest change: ${seq}`)
      t.equal(new Set(instances.map(({ id }) => id)).size, 3)
      for (const { name, pid } of fleet.gateways)
        t.ok(
          instances.some((each) => each.name.endsWith(` ${pid}`)),
          `gateway ${name} is listed`,
        )
      const caughtUp = async () => (await listed(fleet)).instances.every(({ behind }) => behind === 0)
      await until(caughtUp, () => 'the instances do not apply the newest change')
      const { code, out } = await run(fleet)
      t.equal(code, 0)
      t.match(out, /^state +change +sign of life +tables +name +id$/m)
      const namesAll = async () => {
        const { out } = await run(fleet)
        return fleet.gateways.every(({ pid }) => out.includes(String(pid)))
      }
      await until(namesAll, 'all instances, by their process ids')
    },
  )

  await t.test(
    'the beat of a silent instance ages; an instance that ends in order is removed at once',
    async (t) => {
      await fleet.at(2).freeze()
      const old = async () => (await listed(fleet)).instances.some(({ age_ms: age }) => age > 1500)
      await until(old, () => 'no beat gets old')
      fleet.at(2).thaw()
      await fleet.at(1).end()
      const { instances } = await listed(fleet)
      t.notOk(instances.some(({ name }) => name.endsWith(` ${fleet.at(1).pid}`)))
      await fleet.at(1).start()
    },
  )

  await t.test('each gateway shows the fleet, and measures the changes that it wrote', async (t) => {
    await fleet.makeSeat(fleet.at(0), 'Seen', { spaces: [], permissions: [] })
    const { seq } = await listed(fleet)
    for (const [at, gateway] of fleet.gateways.entries()) {
      const view = async () => {
        const { json } = await served(() => fleet.admin(gateway, 'GET', '/v1/fleet'))
        return (
          json.changes[0]?.seq === seq &&
          isWhole(json.data.map(({ hash }: { hash: string | null }) => hash)) &&
          json
        )
      }
      const { data, changes } = await until(
        view,
        () => `${gateway.name} does not see the change, or not all instances`,
      )
      t.equal(new Set(data.map(({ id }: { id: string }) => id)).size, 3)
      for (const each of data) {
        t.match(each, { hash: data[0].hash, version: data[0].version, url: null })
        t.ok(Date.parse(each.started_at) > 0)
      }
      t.match(changes[0], { kind: 'seat-name', effective_ms: at === 0 ? Number : null })
    }
    const gateway = fleet.at(1)
    gateway.configure('advertise: http://10.0.0.2:8080')
    process.kill(gateway.pid, 'SIGHUP')
    const urls = async () =>
      (await served(() => fleet.admin(fleet.at(0), 'GET', '/v1/fleet'))).json.data.map(
        ({ url }: { url: string }) => url,
      )
    await until(
      async () => (await urls()).includes('http://10.0.0.2:8080'),
      () => 'no gateway shows the address of another after its reload',
    )
  })

  await t.test('an instance with other route tables is flagged', async (t) => {
    const other = fleet.at(2)
    const table = join(dirname(other.file), 'routes', 'main.yaml')
    const before = readFileSync(table, 'utf8')
    const configs = async () => {
      const { instances } = await allListed(fleet)
      return {
        own: instances.find(({ name }) => name.endsWith(` ${other.pid}`)),
        rest: instances.filter(({ name }) => !name.endsWith(` ${other.pid}`)),
      }
    }
    const { own, rest } = await configs()
    for (const each of rest) t.match(each, { config: own?.config, differs: false })
    t.notMatch((await run(fleet)).out, /differs/)
    writeFileSync(table, `${before}  GET /new: public\n`)
    process.kill(other.pid, 'SIGHUP')
    const flagged = async () => (await configs()).own?.differs === true
    await until(flagged, () => 'no sign of life has the new hash')
    const after = await configs()
    t.not(after.own?.config, own?.config)
    t.equal(after.own?.config, ((await other.ready())['config'] as { hash: string }).hash)
    for (const each of after.rest) t.match(each, { config: own?.config, differs: false })
    const shown = async () => {
      const { out } = await run(fleet)
      return out.includes(`${after.own?.config} (differs)`) && out
    }
    t.match(await until(shown, 'the other hash'), 'Some instances decide by other route tables')
    writeFileSync(table, before)
    process.kill(other.pid, 'SIGHUP')
    await until(
      async () => !(await flagged()),
      () => 'it is flagged for ever',
    )
  })

  await t.test('/readyz names the degraded part', async () => {
    await readyzShows(fleet, { status: 'ready', store: 'ok', redis: 'ok' })
    await first.toRedis?.cut()
    await readyzShows(fleet, { status: 'ready', store: 'ok', redis: 'degraded' })
    await first.toRedis?.heal()
    await readyzShows(fleet, { status: 'ready', store: 'ok', redis: 'ok' })
    await first.toStore?.cut()
    await readyzShows(fleet, { status: 'not_ready', store: 'unavailable' })
    await first.toStore?.heal()
    await readyzShows(fleet, { status: 'ready', store: 'ok', redis: 'ok' })
  })

  await t.test('metrics of the lease, the feed and acknowledgements exist and change', async (t) => {
    const before = await figures(fleet)
    for (const [name, figure] of Object.entries(before)) t.ok(Number.isFinite(figure), `${name}: ${figure}`)
    await new Load(fleet).run((load) => load.written(60))
    const after = await figures(fleet)
    for (const name of [
      'seatgate_feed_seq',
      'seatgate_instance_seq',
      WRITES,
      'seatgate_acknowledgement_seconds_count',
    ])
      t.ok((after[name] ?? 0) > (before[name] ?? 0), `${name} increases`)
    for (const name of ['seatgate_lease_live', 'seatgate_redis_up'])
      await until(async () => (await metric(first, name)) === 1, name)
    t.ok((after['seatgate_feed_losses_total'] ?? 0) >= 1, 'one interruption of the store')
    const from = (source: string) => metric(first, `seatgate_decisions_by_source_total{source="${source}"}`)
    for (const source of ['memory', 'store']) t.ok((await from(source)) > 0, `decisions from ${source}`)
  })
})

const WRITES = 'seatgate_write_answered_seconds_count{by="acknowledged"}'

const METRICS = [
  'seatgate_lease_live',
  'seatgate_feed_seq',
  'seatgate_feed_age_seconds',
  'seatgate_feed_losses_total',
  'seatgate_instance_seq',
  'seatgate_redis_up',
  'seatgate_workers',
  WRITES,
  'seatgate_acknowledgement_seconds_count',
  'seatgate_decisions_by_source_total{source="memory"}',
]

async function figures({ first }: Fleet): Promise<Record<string, number>> {
  const all = METRICS.map(async (name) => [name, await metric(first, name)] as const)
  return Object.fromEntries(await Promise.all(all))
}

function run({ first, env }: Fleet, ...more: string[]) {
  const args = ['fleet', '--config', first.file, ...more]
  return servedCommand(() => seatgateHere(dirname(first.file), args, { ...env }))
}

async function listed(fleet: Fleet): Promise<Listed> {
  const { code, out, err } = await run(fleet, '--json')
  if (code !== 0) throw new Error(err)
  return JSON.parse(out) as Listed
}

/** Whether three instances are there, each with the hash of its tables, which it tells at its first sign of life. */
function isWhole(hashes: readonly (string | null)[]): boolean {
  return hashes.length === 3 && !hashes.includes(null)
}

/** All instances: one that stood still on a busy machine, so that a writer has removed it, registers again. */
function allListed(fleet: Fleet): Promise<Listed> {
  const look = async () => {
    const found = await listed(fleet)
    return isWhole(found.instances.map(({ config }) => config)) && found
  }
  return until(look, 'three instances on the list')
}

/** Waits for these fields in the first gateway's `/readyz`. */
async function readyzShows({ first }: Fleet, parts: Record<string, string>): Promise<void> {
  let shown: Record<string, unknown> = {}
  const isShown = async () => {
    shown = await first.ready()
    return Object.entries(parts).every(([name, value]) => shown[name] === value)
  }
  await until(isShown, () => `/readyz does not show ${JSON.stringify(parts)} but ${JSON.stringify(shown)}`, {
    pause: 20,
  })
}
