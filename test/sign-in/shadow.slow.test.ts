/** Candidate tables and sessions: a public page may require one soon, and its requests renew none for that. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { routeTable } from '../support/configuration.ts'
import { until } from '../support/until.ts'
import { moveClock } from './moving-clock.ts'
import { startSignIn } from './world.ts'
import { metricsOf } from '../support/operations.ts'

const clock = moveClock(t)
const world = await startSignIn(t)
const { gateway } = world
await gateway.seat('Viewer', ['main'], ['trainings:list'])
world.user('alice', { memberOf: ['Viewer'] })

const CANDIDATE = ['GET /bye: trainings:list', 'GET /pages/*: { permission: authenticated, sign_in: acme }']

async function results(): Promise<Record<string, number>> {
  const text = await metricsOf(gateway)
  const found = text.matchAll(/^seatgate_shadow_decisions_total\{result="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, result, count]) => [result, Number(count)]))
}

t.test('a session counts for the candidate while it is current, and is not renewed for it', async (t) => {
  const { folder } = gateway
  const { file } = gateway.config
  mkdirSync(join(folder, 'next'))
  writeFileSync(join(folder, 'next', 'main.yaml'), routeTable(CANDIDATE))
  writeFileSync(file, `${readFileSync(file, 'utf8')}shadow: { routes: [next/*.yaml] }\n`)
  await gateway.reload()
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const before = await results()
  t.equal((await visitor.ask('/bye', { space: 'main' })).status, 200)
  await until(
    async () => Object.values(await results()).some((count, at) => count > (Object.values(before)[at] ?? 0)),
    () => 'not judged',
  )
  t.equal((await results())['allow_to_deny'], before['allow_to_deny'], 'the session of the browser counts')
  t.equal(world.acme.count('/token'), 1, 'the sign-in')
  const unjudged = async () => (await results())['unjudged'] ?? 0
  const earlier = await unjudged()
  clock.pass(3_600_000)
  t.equal((await visitor.ask('/bye', { space: 'main' })).status, 200)
  await until(async () => (await unjudged()) > earlier, 'a candidate that cannot be judged')
  t.equal(world.acme.count('/token'), 1, 'the provider is not asked for the candidate')
  t.equal((await visitor.ask('/v1/me')).status, 200, 'the live request renews the session')
  t.equal(world.acme.count('/token'), 2)
})
