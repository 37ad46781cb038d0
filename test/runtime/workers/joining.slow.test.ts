/**
 * A worker that starts while its gateway reloads: once the gateway shows the new tables, no worker decides by
 * the old ones.
 */

import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { routeTable } from '../../support/configuration.ts'
import { startGatewayProcess } from '../../support/gateway-process.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { workersOf } from '../../support/workers.ts'

const REQUEST = 'GET /gate HTTP/1.1\r\nHost: x\r\n\r\n'
/** The kernel gives each connection to one of two workers: all of them to one is out of the question. */
const REQUESTS = 60

t.test('a worker that listens, and has not said so, is part of a reload', async (t) => {
  const gateway = await startGatewayProcess(t, {
    top: ['workers: 2'],
    // The upstream is away: 502.
    routes: ['GET /gate: public'],
    env: { NODE_OPTIONS: `--import ${new URL('held-start.ts', import.meta.url).href}` },
  })
  const table = join(gateway.folder, 'routes', 'main.yaml')
  const [hold, listens] = ['hold', 'listens'].map((name) => join(gateway.folder, name)) as [string, string]
  const config = async () => (await gateway.ready()).body['config'] as { hash: string }
  const workers = async () => (await gateway.ready()).body['workers']
  const statuses = async () => {
    const clients = Array.from({ length: REQUESTS }, () => new RawClient(gateway.port).send(REQUEST))
    const answers = await Promise.all(clients.map((client) => client.responses(1)))
    for (const client of clients) client.close()
    return [...new Set(answers.map(({ all }) => all[0]?.status))]
  }
  for (const [requirement, status] of [['authenticated', 401] as const, ['public', 502] as const]) {
    const { hash: before } = await config()
    writeFileSync(hold, '')
    const [worker = 0] = workersOf(gateway.pid)
    process.kill(worker, 'SIGKILL')
    await until(() => existsSync(listens), 'a worker that listens')
    t.equal(await workers(), '1 of 2')
    writeFileSync(`${table}.new`, routeTable([`GET /gate: ${requirement}`]))
    renameSync(`${table}.new`, table)
    gateway.signal('SIGHUP')
    await until(async () => (await config()).hash !== before, 'the new hash')
    t.same(await statuses(), [status], 'of both workers')
    rmSync(listens)
    rmSync(hold)
    await until(async () => (await workers()) === 'ok', 'both workers')
    t.same(await statuses(), [status])
  }
})
