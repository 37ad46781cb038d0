/** Candidate tables and sessions: a public page may require one soon, and its requests renew none for that. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { routeTable } from '../support/world.ts'
import { until } from '../support/servers/wait.ts'
import { startSignIn } from './world.ts'

/** Times of issue are whole seconds: at least two are left. */
const world = await startSignIn(t, { token: ['lifetime: 3s'] })
const { gateway } = world
await gateway.seat('Viewer', ['main'], ['trainings:list'])
world.user('alice', { memberOf: ['Viewer'] })

const CANDIDATE = ['GET /bye: trainings:list', 'GET /pages/*: { permission: authenticated, sign_in: acme }']

async function results(): Promise<Record<string, number>> {
  const text = await (await fetch(`${gateway.ops}/metrics`)).text()
  const found = text.matchAll(/^seatgate_shadow_decisions_total\{result="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, result, count]) => [result, Number(count)]))
}

t.test('a session counts for the candidate while it is current, and is not renewed for it', async (t) => {
  const { folder } = gateway
  const { file } = gateway.config
  const { mkdirSync } = await import('node:fs')
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
  let last = await results()
  await until(
    async () => {
      t.equal((await visitor.ask('/bye', { space: 'main' })).status, 200)
      last = await results()
      return (last['unjudged'] ?? 0) > (before['unjudged'] ?? 0) + 1
    },
    () => 'the session is never due for renewal',
    100,
  )
  t.equal(world.acme.count('/token'), 1, 'the provider is not asked for the candidate')
  t.equal((await visitor.ask('/v1/me')).status, 200, 'the live request renews the session')
  t.equal(world.acme.count('/token'), 2)
})
