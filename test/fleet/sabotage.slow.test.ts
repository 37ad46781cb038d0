/** The checker must fail where the protocol is broken: without these runs its other results would prove nothing. */

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { type Fleet, type FleetOptions, startFleet } from './fleet.ts'
import { Load, type LoadOptions } from './load.ts'

const SABOTAGED = fileURLToPath(new URL('./sabotaged.ts', import.meta.url))

/** Scenarios until one has shown it. */
const ROUNDS = 12

interface Sabotage extends LoadOptions {
  readonly workers?: number
  readonly lines?: FleetOptions['lines']
  /** The scenario that must reveal it. */
  during(load: Load, fleet: Fleet): Promise<void>
}

const SABOTAGE: Readonly<Record<string, Sabotage>> = {
  'answers-at-once': {
    async during(load, { redis }) {
      await redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await load.written(20)
    },
  },
  'lease-never-ends': {
    lines: ['store', 'redis'],
    through: ({ name }) => name !== 'a',
    async during(load, { first }) {
      const lines = [first.toStore, first.toRedis]
      await load.decided(first, 50)
      for (const line of lines) line?.freeze()
      await load.written(40)
      await Promise.all(lines.map((line) => line?.heal()))
    },
  },
  'believes-the-cache': {
    during: (load) => load.written(20),
  },
  'speaks-for-workers': {
    workers: 2,
    async during(load, { first }) {
      await load.decided(first, 50)
      const { workers } = first
      const all = (signal: 'SIGSTOP' | 'SIGCONT') => () => {
        for (const worker of workers) process.kill(worker, signal)
      }
      // Less than a lease: on what it held when it stood still, a worker goes on deciding for a moment.
      const stopping = { stop: all('SIGSTOP'), go: all('SIGCONT') }
      await load.whileStopped(first, stopping, () => sleep(600))
    },
  },
}

for (const [how, { workers = 1, lines = [], during, ...more }] of Object.entries(SABOTAGE)) {
  t.test(`${how}: the checker sees it`, async (t) => {
    const fleet = await startFleet(t, { program: [SABOTAGED, how], workers, lines })
    const { stale, requests, examples } = await new Load(fleet, more).run(async (load) => {
      for (let round = 0; round < ROUNDS && load.tally.stale === 0; round++) await during(load, fleet)
    })
    t.ok(stale > 0, 'it is seen')
    t.comment(`${how}: ${stale} stale of ${requests} requests, for instance: ${examples[0]}`)
  })
}
