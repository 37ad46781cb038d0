/** A gateway starts without its store, with the tables that it had, and decides nothing until the store is back. */

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { bootstrapIn } from '../support/bootstrapped-store.ts'
import { Client } from '../support/client.ts'
import { GatewayProcess } from '../support/gateway-process.ts'
import { reservePort } from '../support/servers/ports.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startTcpProxy } from '../support/servers/proxy.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/world.ts'
import { Pusher, tableOf } from './pushing.ts'

const postgres = await startPostgres(t, { fsync: false })
const line = await startTcpProxy(t, postgres)
const direct = new URL(await postgres.createDatabase('tables'))
const through = new URL(direct)
through.port = String(line.port)
const upstream = await startUpstream(t)
const store = await openStore({ kind: 'postgres', url: direct.href })
const key = await bootstrapIn(store, 'acme')
await store.close()

const port = await reservePort(t)
const opsPort = await reservePort(t)
const starting = (cache = 'seatgate-tables.json') =>
  new GatewayProcess(t, {
    store: through.href,
    target: upstream.url,
    listen: `127.0.0.1:${port}`,
    ops: `127.0.0.1:${opsPort}`,
    tablesFrom: `{ from: store, cache: ${cache} }`,
    top: ['startup_timeout: 2s'],
  })
const statusOf = async (path = '/gate') => {
  const client = new Client(port)
  try {
    return (await client.send('GET', path)).status
  } catch {
    return null
  } finally {
    client.close()
  }
}
const first = starting()
const cache = join(first.folder, 'seatgate-tables.json')

t.test('the file has the active tables, for its user alone', async (t) => {
  await first.start()
  await first.listens()
  const pusher = new Pusher(port, key)
  t.match(await pusher.push({ 'main.yaml': tableOf('public') }), { status: 200 })
  t.match(await pusher.push({ 'main.yaml': tableOf('authenticated') }), { status: 200 })
  pusher.close()
  const kept = await until(() => {
    const { version, ...others } = JSON.parse(readFileSync(cache, 'utf8'))
    return version === 2 ? others : undefined
  }, 'the newest version in the file')
  t.match(kept, { tenant: 'acme', files: { 'main.yaml': tableOf('authenticated') } })
  t.equal(statSync(cache).mode & 0o777, 0o600)
  await first.kill()
})

t.test('without the store it listens and decides nothing, and then by what is active', async (t) => {
  await line.cut()
  await first.start()
  await until(async () => (await statusOf()) === 503 || undefined, 'it listens')
  t.equal(await statusOf('/other'), 503, 'not even that there is no such route')
  await until(() => first.log.includes('the store is away') || undefined, 'it says why')
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`)
  t.equal(answer.status, 503)
  t.match(await answer.json(), { store: 'unavailable' })
  // Longer than startup_timeout.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  t.equal(await statusOf(), 503)

  const other = new GatewayProcess(t, {
    store: direct.href,
    target: upstream.url,
    tablesFrom: 'store',
  })
  await other.start()
  await other.listens()
  const pusher = new Pusher(other.port, key)
  t.match(await pusher.push({ 'main.yaml': tableOf('public') }), { status: 200 }, 'others go on')
  pusher.close()
  t.equal(await statusOf(), 503)

  await line.heal()
  const statuses = new Set<number | null>()
  await until(async () => {
    const status = await statusOf()
    statuses.add(status)
    return status === 200 || undefined
  }, 'it decides by the active tables')
  t.notOk(statuses.has(401), 'never by those of the file')
  await first.kill()
})

t.test('a file that is not whole is no reason to start', async (t) => {
  await line.cut()
  const whole = JSON.parse(readFileSync(cache, 'utf8'))
  for (const text of [
    '',
    JSON.stringify({ ...whole, files: { 'main.yaml': tableOf('a:read') } }),
    JSON.stringify({ ...whole, tenant: 'globex' }),
  ]) {
    writeFileSync(cache, text)
    await first.start()
    t.equal(await first.ended, 1, text)
    t.match(first.log, 'gave up after 2 s (startup_timeout)')
  }
  await line.heal()
})

t.test('a folder that cannot be written is said, and nothing more', async (t) => {
  const gateway = starting('/proc/nowhere/tables.json')
  await gateway.start()
  await gateway.listens()
  await until(() => gateway.log.includes('cannot be kept in a file') || undefined, 'a warning')
  t.equal(await statusOf(), 200)
})
