/** The checker must fail when the protocol is broken, as a checker that never fails proves nothing. */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { type Fleet, type FleetOptions, startFleet } from './fleet.ts'
import { Load, type LoadOptions } from './load.ts'

const BROKEN_SEATGATE = fileURLToPath(new URL('./broken-seatgate.ts', import.meta.url))

/** `seatgate` does this itself: types are stripped once, not at each start. */
const CACHED = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') }

/** Scenarios until a stale decision is found, at most: a machine that stalls may hide some. */
const ROUNDS = 30

interface Variant extends LoadOptions {
  readonly workers?: number
  readonly proxies?: FleetOptions['proxies']
  /** The scenario that must show a stale decision. */
  during(load: Load, fleet: Fleet): Promise<void>
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  'waits-for-no-acknowledgement': {
    async during(load, { redis }) {
      await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await load.written(20)
    },
  },
  'lease-never-expires': {
    proxies: ['store', 'redis'],
    through: ({ name }) => name !== 'a',
    async during(load, { first }) {
      const proxies = [first.toStore, first.toRedis]
      await load.decided(first, 50)
      for (const proxy of proxies) proxy?.freeze()
      await load.written(40)
      await Promise.all(proxies.map((proxy) => proxy?.heal()))
    },
  },
  'announces-no-session': {
    during: (load) => load.written(20),
  },
  'forgets-no-session': {
    during: (load) => load.written(20),
  },
  'forgets-no-block': {
    during: (load) => load.written(20),
  },
  'accepts-all-cached-values': {
    during: (load) => load.written(20),
  },
  'confirms-for-workers': {
    workers: 2,
    async during(load, { first }) {
      await load.decided(first, 50)
      const { workers } = first
      const all = (signal: 'SIGSTOP' | 'SIGCONT') => () => {
        for (const worker of workers) process.kill(worker, signal)
      }
      // Shorter than a lease: a worker decides on its old state for a moment after it continues.
      const stopping = { stop: all('SIGSTOP'), go: all('SIGCONT') }
      await load.whileStopped(first, stopping, () => sleep(600))
    },
  },
}

for (const [how, { workers = 1, proxies = [], during, ...more }] of Object.entries(VARIANTS)) {
  t.test(`${how}: the checker finds a stale decision`, async (t) => {
    const program = [BROKEN_SEATGATE, how]
    const fleet = await startFleet(t, { gateways: 2, program, workers, proxies, envOf: () => CACHED })
    const { stale, requests, examples } = await new Load(fleet, more).run(async (load) => {
      for (let round = 0; round < ROUNDS && load.tally.stale === 0; round++) await during(load, fleet)
    })
    t.ok(stale > 0, `stale decisions: ${stale} of ${requests}, first: ${examples[0]}`)
  })
}
