/**
 * CVE-2026-54762, CVE-2026-27586, Unkey #5282: a failed dependency must close access, not open it. Another program
 * takes the store away under a running gateway by changing its tables.
 */

import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { LEASE } from '../../src/coherence/lease.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { metricsOf } from '../support/operations.ts'

function tamper(world: World, statement: string): void {
  const database = new DatabaseSync(world.storeFile)
  database.exec(statement)
  database.close()
}

t.test('nothing is allowed after the lease expires; the gateway recovers without a restart', async (t) => {
  const world = await startWorld(t)
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  const ask = () => world.client.send('GET', '/v1/trainings', headers)
  await until(async () => (await ask()).status === 200, 'a decision')

  tamper(world, 'ALTER TABLE counter RENAME TO gone')
  await sleep(LEASE + 500)
  const before = world.upstream.seen.length
  for (let i = 0; i < 20; i++) {
    const answer = await ask()
    t.match(answer, { status: 503, json: { code: 'unavailable' } })
    t.ok(answer.headers['retry-after'])
    t.notMatch(answer.body, /seatgate\.db|counter|SQL/i, 'no internals are shown')
  }
  t.equal((await world.client.send('GET', '/v1/me', { 'x-api-key': world.keys.acme ?? '' })).status, 503)
  t.equal((await world.admin('POST', '/v1/seats', { name: 'New', spaces: [], permissions: [] })).status, 503)
  t.equal(world.upstream.seen.length, before, 'nothing was forwarded')
  t.equal((await world.client.send('GET', '/docs/a')).status, 200, 'requests without a decision still work')
  t.equal((await fetch(`${world.ops}/readyz`)).status, 503)
  t.equal((await fetch(`${world.ops}/livez`)).status, 200)
  t.match(await metricsOf(world), 'seatgate_lease_live 0')

  tamper(world, 'ALTER TABLE gone RENAME TO counter')
  await until(async () => (await ask()).status === 200, 'a decision')
  await until(async () => (await fetch(`${world.ops}/readyz`)).status === 200, 'ready')
  t.ok(world.log().some((line) => line.level === 'error' && /does not respond/.test(String(line.msg))))
})

t.test('an unreadable Seat grants nothing, though others are in memory', async (t) => {
  const world = await startWorld(t)
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  await world.seat('Unread', ['s1'], ['trainings:list'])
  const headers = async (seat: string) => ({
    authorization: `Bearer ${await world.token([`s1:${seat}`])}`,
    space: 's1',
  })
  const [known, unread] = [await headers('Viewer'), await headers('Unread')]
  const statusOf = async (sent: Record<string, string>) =>
    (await world.client.send('GET', '/v1/trainings', sent)).status
  await until(async () => (await statusOf(known)) === 200, 'a decision')
  tamper(world, 'ALTER TABLE seats RENAME TO gone')
  t.equal(await statusOf(unread), 503)
  // On a slow machine the lease may be gone for a moment. It comes back, as the feed can be read.
  await until(async () => (await statusOf(known)) === 200, 'a decision from memory')
  tamper(world, 'ALTER TABLE gone RENAME TO seats')
  await until(async () => (await statusOf(unread)) === 200, 'a decision from the store')
  t.pass()
})
