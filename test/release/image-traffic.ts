/** What the image promises about its process, and the calls of the demo with the shipped configuration and tables mounted. */

import assert from 'node:assert/strict'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '../demo/loopback.ts'
import { startTrainingsService } from '../demo/trainings-service.ts'
import type { Owner, Started } from '../package/slim-root.ts'
import { reservePort } from '../support/servers/ports.ts'
import { until } from '../support/until.ts'
import { demoCalls } from './demo-calls.ts'
import type { Mounts, Place } from './image-places.ts'

export interface Setting extends Mounts {
  /** The URL of the gateway. */
  readonly url: string
  /** Resolves once the request for /held is at its service. */
  readonly held: Promise<void>
  /** Answers that request. */
  release(): void
}

/** The time in s that the shipped configuration gives to requests in flight. */
const DRAIN = 30

/** Starts the services behind the gateway, and writes its configuration. */
export async function prepare(t: Owner, clone: string): Promise<Setting> {
  const trainings = await startTrainingsService()
  t.teardown(() => trainings.close())
  const [arrival, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = await serve(async (_, response) => {
    arrival.resolve()
    await end.promise
    response.end('held')
  })
  t.teardown(() => slow.close())
  const [port, ops] = [await reservePort(t), await reservePort(t)]
  return {
    url: `http://127.0.0.1:${port}`,
    held: arrival.promise,
    release: end.resolve,
    config: configuration(t, clone, slow.url),
    env: {
      SEATGATE_LISTEN: `127.0.0.1:${port}`,
      SEATGATE_OPS: `127.0.0.1:${ops}`,
      SEATGATE_STORE: 'sqlite:/data/seatgate.db',
      ACME_TOKEN_SECRET: 'a secret of more than thirty-two bytes, for tests',
      TRAININGS_URL: trainings.url,
    },
  }
}

/** The shipped files, and a route of a service that answers late. The user of the image may read them. */
function configuration(t: Owner, clone: string, slow: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  cpSync(join(clone, 'routes'), join(folder, 'routes'), { recursive: true })
  writeFileSync(join(folder, 'routes/slow.yaml'), 'upstream: slow\nroutes:\n  GET /held: public\n')
  const text = readFileSync(join(clone, 'gateway.config.yaml'), 'utf8')
  const upstream = `upstreams:\n  slow: { targets: ["${slow}"] }\n`
  writeFileSync(join(folder, 'gateway.config.yaml'), text.replace('upstreams:\n', upstream))
  chmodSync(folder, 0o755)
  return folder
}

/**
 * @returns what was seen
 * @throws an `AssertionError` for the first promise that does not hold
 */
export async function tryImage(place: Place, setting: Setting): Promise<string> {
  const { key } = JSON.parse(await place.run('bootstrap', '--tenant', 'acme', '--json'))
  const before = performance.now()
  const gateway = place.start()
  await gateway.prints('/livez')
  const start = seconds(before)
  const tokenOf = async (sub: string, ...seats: string[]) => {
    const options = seats.flatMap((seat) => ['--seat', seat])
    return (await place.run('token', '--tenant', 'acme', '--sub', sub, ...options)).trim()
  }
  const statuses = await demoCalls({ url: setting.url, key, tokenOf })
  const user = await checkProcess(place, gateway)
  await checkHealth(place, gateway)
  const stop = await checkStop(place, gateway, setting)
  return `in ${place.name}: ready after ${start} s, ${user}, ${statuses}, exit 0 ${stop} s after SIGTERM`
}

/** The user and the rights of the process, and what it can write. */
async function checkProcess(place: Place, gateway: Started): Promise<string> {
  const pid = await gateway.pid()
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const lines = [/^Uid:(\t65532){4}$/m, /^Gid:(\t65532){4}$/m, /^CapPrm:\t0+$/m, /^CapEff:\t0+$/m]
  for (const line of [...lines, ...place.status]) assert.match(status, line)
  const script = `console.log(['/config/a', '/app/a', '/tmp/a', '/etc/a', '/data/a'].map((path) => {
    try { fs.writeFileSync(path, ''); return 'written' } catch ({ code }) { return code }
  }).join())`
  const results = await place.beside('/nodejs/bin/node', '-e', script)
  assert.equal(results.trim(), 'EROFS,EROFS,EROFS,EROFS,written')
  return 'uid 65532 without capabilities, root read-only'
}

/** The health check follows the gateway: it fails as long as the process is stopped. */
async function checkHealth(place: Place, gateway: Started): Promise<void> {
  await place.health()
  const pid = await gateway.pid()
  process.kill(pid, 'SIGSTOP')
  await assert.rejects(place.health())
  process.kill(pid, 'SIGCONT')
  const isHealthy = () =>
    place.health().then(
      () => true,
      () => false,
    )
  await until(isHealthy, 'a healthy gateway')
}

/**
 * A request in flight is answered after SIGTERM, and the gateway ends then.
 *
 * @returns the seconds between both
 */
async function checkStop(place: Place, gateway: Started, { url, held, release }: Setting): Promise<string> {
  const answer = fetch(`${url}/held`)
  await Promise.race([held, answer.then(({ status }) => assert.fail(`${status} for a request that is held`))])
  const before = performance.now()
  process.kill(await gateway.pid(), 'SIGTERM')
  await gateway.prints('draining')
  release()
  const response = await answer
  assert.deepEqual([response.status, await response.text()], [200, 'held'])
  assert.equal(await gateway.ended, 0, gateway.out)
  const stop = seconds(before)
  assert.ok(Number(stop) < DRAIN, `the end after ${stop} s, not within ${DRAIN} s`)
  await assert.rejects(place.run('health'), /ECONNREFUSED/)
  return stop
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1)
}
