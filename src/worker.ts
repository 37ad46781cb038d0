/**
 * A worker: decides and forwards, on a port that it shares with others. What it knows of changes, it knows from the
 * primary, whose configuration it runs; without the primary it ends.
 */

import { setFlagsFromString } from 'node:v8'
import { openStore } from '../seats-admin/index.ts'
import { systemClock } from './coherence/clock.ts'
import { RemoteInstance } from './coherence/link.ts'
import type { Config, RedisConfig } from './config/config.ts'
import { unpack } from './config/transfer.ts'
import { Door } from './door.ts'
import { Engine } from './engine.ts'
import { openLog } from './telemetry/logger.ts'
import { Channel } from './workers/channel.ts'

const channel = new Channel({
  send: (message) => void (process.connected && process.send?.(message, undefined, undefined, () => {})),
  onMessage: (receive) => process.on('message', receive),
})
let door: Door | null = null
let put: (() => void) | null = null

// A terminal's Ctrl-C, and some supervisors, reach every process of the group: the primary says when to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// Without the primary nobody would tell of changes, nor take this worker's output.
process.on('disconnect', () => process.exit(1))

channel.serve('begin', begin)
channel.serve('alive', () => true)
channel.serve('metrics', () => door?.metrics.registry.getMetricsAsJSON())
channel.serve('prepare', (config) => {
  put = door?.prepare(unpack(config)) ?? null
})
channel.serve('commit', () => {
  put?.()
  put = null
})

async function begin() {
  const config: Config = unpack(await channel.call('config'))
  const log = await openLog({ pretty: false })
  const store = await openStore(config.store)
  const redis = config.redis === null ? null : await connected(config.redis)
  const cache = redis === null ? null : { connection: redis, prefix: config.redis?.prefix ?? '' }
  const engine = new Engine(store, new RemoteInstance(channel, systemClock), cache)
  await engine.lease.renewed()
  const opened = new Door(engine, config, log)
  door = opened
  channel.serve('end', async (drain) => {
    await opened.close(Number(drain))
    redis?.disconnect()
    await store.close()
    await log.close()
  })
  const address = await opened.listen()
  setFlagsFromString('--semi-space-growth-factor=2')
  return address
}

/** In the background; what goes wrong is the primary's to say. */
async function connected(config: RedisConfig) {
  const { connectRedis } = await import('./redis/connect.ts')
  return connectRedis(config, () => {})
}
