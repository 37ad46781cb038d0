/**
 * `/readyz` said ok while pages of the store were corrupt and every read of a Seat outside memory was 503. Its parts
 * follow the results of calls, and are ok again when calls succeed.
 */

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { served } from '../support/served.ts'
import { startWorld, type World } from '../support/world.ts'
import { until } from '../support/until.ts'
import { readiness } from '../support/operations.ts'

const PAGE = 4096
const SEATS = 60
let made = 0

/** More than SQLite's caches of 2 MiB hold, all of it in the file itself. */
async function fill(world: World): Promise<void> {
  const permissions = Array.from({ length: 1000 }, (_, at) => `${'r'.repeat(40)}-${at}:read`)
  for (let at = 0; at < SEATS; at++)
    await world.seat(`Large${at}`, ['s1'], [...permissions, 'trainings:list'])
  const store = new DatabaseSync(world.storeFile)
  store.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  store.close()
}

/** Overwrites all pages except the first. The returned function restores them. */
function corrupt(path: string): () => void {
  const whole = readFileSync(path)
  const write = (bytes: Buffer) => {
    const file = openSync(path, 'r+')
    writeSync(file, bytes, 0, bytes.length, PAGE)
    closeSync(file)
  }
  write(Buffer.alloc(whole.length - PAGE, 0xa5))
  return () => write(whole.subarray(PAGE))
}

async function asker(world: World) {
  const tokens = await Promise.all(Array.from({ length: SEATS }, (_, at) => world.token([`s1:Large${at}`])))
  return async (seat: number) => {
    const headers = { authorization: `Bearer ${tokens[seat]}`, space: 's1' }
    return (await world.client.send('GET', '/v1/trainings', headers)).status
  }
}

/** Waits until `/readyz` has this state. */
async function becomes(world: World, wanted: object): Promise<void> {
  let found: object = {}
  const isWanted = async () => {
    found = await readiness(world)
    return Object.entries(wanted).every(([key, value]) => Reflect.get(found, key) === value)
  }
  await until(isWanted, () => `not ${JSON.stringify(wanted)}: ${JSON.stringify(found)}`)
}

for (const workers of [1, 2]) {
  t.test(`corrupt pages, ${workers} workers`, async (t) => {
    const world = await startWorld(t, { top: [`workers: ${workers}`] })
    await fill(world)
    const ask = await asker(world)
    await becomes(world, { status: 200 })
    t.match(await readiness(world), { status: 200, store: 'ok', store_lists: 'ok', store_writes: 'ok' })
    const restore = corrupt(world.storeFile)
    t.equal(await ask(0), 503)
    await becomes(world, { status: 503 })
    t.match((await readiness(world)).store, /^failing: corrupt$|^unavailable$/)
    t.ok(world.log().some((line) => line.work === 'reads' && line.fault === 'corrupt'))
    t.equal((await fetch(`${world.ops}/livez`)).status, 200)
    restore()
    await becomes(world, { status: 200, store: 'ok' })
    for (let seat = 0; seat < SEATS; seat += 10) t.equal(await ask(seat), 200)
  })
}

t.test('failed writes are shown, and decisions that need only reads still work', async (t) => {
  // A write waits for the lock of another program for three quarters of it.
  const world = await startWorld(t, { storeTimeout: 4000 })
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  const make = () => world.admin('POST', '/v1/seats', { name: `New${made++}`, spaces: [], permissions: [] })
  const other = new DatabaseSync(world.storeFile)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  // A machine that stands still in between makes a timeout of it.
  const locked = await until(async () => {
    t.equal((await make()).status, 503)
    const found = await readiness(world)
    return found.store_writes === 'failing: locked' && found
  }, 'a write that fails at the lock')
  t.match(locked, { status: 200, store: 'ok' })
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  const asked = await served(() => world.client.send('GET', '/v1/trainings', headers))
  t.equal(asked.status, 200)
  other.exec('ROLLBACK')
  t.equal((await served(make)).status, 200)
  t.match(await readiness(world), { status: 200, store_writes: 'ok' })
})

t.test('a missing table', async (t) => {
  const world = await startWorld(t)
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  const other = new DatabaseSync(world.storeFile)
  t.teardown(() => other.close())
  other.exec('ALTER TABLE seats RENAME TO gone')
  t.equal((await world.client.send('GET', '/v1/trainings', headers)).status, 503)
  await becomes(world, { status: 503, store: 'failing: schema' })
  other.exec('ALTER TABLE gone RENAME TO seats')
  await becomes(world, { status: 200, store: 'ok' })
  t.equal((await world.client.send('GET', '/v1/trainings', headers)).status, 200)
})
