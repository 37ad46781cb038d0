/**
 * The checker must fail when the protocol is broken, as a checker that never fails proves nothing. One fleet gets all of the
 * variants by turns. The last of its gateways has workers.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { Load, type LoadOptions } from './load.ts'

/** Scenarios until a stale decision is found, at most: a machine that stalls may hide some. */
const ROUNDS = 60

const fleet = await startFleet(t, {
  ...BREAKABLE,
  workers: (name) => (name === 'c' ? 2 : 1),
  proxies: ['store', 'redis'],
})
const { first, redis } = fleet
const withWorkers = fleet.at(2)

interface Variant extends LoadOptions {
  /** The scenario that must show a stale decision. */
  during(load: Load): Promise<unknown>
}

/** Each write is followed by requests to all gateways. */
const writes = { during: (load: Load) => load.written(10) }

const VARIANTS: Readonly<Record<string, Variant>> = {
  'waits-for-no-acknowledgement': {
    async during(load) {
      await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await load.written(10)
    },
  },
  'lease-never-expires': {
    through: (gateway) => gateway !== first,
    async during(load) {
      const proxies = [first.toStore, first.toRedis]
      await load.decided(first, 20)
      for (const proxy of proxies) proxy?.freeze()
      await load.written(20)
      await Promise.all(proxies.map((proxy) => proxy?.heal()))
    },
  },
  'announces-no-session': writes,
  'forgets-no-session': writes,
  'forgets-no-block': writes,
  'accepts-all-cached-values': writes,
  'confirms-for-workers': {
    async during(load) {
      await load.decided(withWorkers, 20)
      const { workers } = withWorkers
      const all = (signal: 'SIGSTOP' | 'SIGCONT') => () => {
        for (const worker of workers) process.kill(worker, signal)
      }
      // Shorter than a lease: a worker decides on its old state for a moment after it continues.
      const stopping = { stop: all('SIGSTOP'), go: all('SIGCONT') }
      await load.whileStopped(withWorkers, stopping, () => sleep(600))
    },
  },
}

/** Without a variant, so that the stale decisions in between come from the variants. */
function isIntact(): void {
  t.test('intact: the checker finds no stale decision', async (t) => {
    const { requests, examples } = await new Load(fleet, { short: true }).run((load) => load.written(60))
    t.same(examples, [])
    t.ok(requests >= 100, `requests: ${requests}`)
  })
}

isIntact()

for (const [how, { during, ...options }] of Object.entries(VARIANTS))
  t.test(`${how}: the checker finds a stale decision`, async (t) => {
    await Promise.all(fleet.gateways.map((gateway) => applyVariant(how, gateway)))
    const { stale, requests, examples } = await new Load(fleet, { ...options, short: true }).run(
      async (load) => {
        for (let round = 0; round < ROUNDS && load.tally.stale === 0; round++) await during(load)
      },
    )
    t.ok(stale > 0, `stale decisions: ${stale} of ${requests}, first: ${examples[0]}`)
    await Promise.all(fleet.gateways.map((gateway) => applyVariant('intact', gateway)))
  })

isIntact()
