/**
 * What the fleet node has of Redis, and what the log says about it. The client is loaded only when Redis is
 * configured.
 */

import { systemClock } from '../coherence/clock.ts'
import { type Config, firstSecrets } from '../config/config.ts'
import type { Ephemeral } from '../oidc/ports.ts'
import { boundedEphemeral, ProcessEphemeral } from '../oidc/sign-in/completed-sign-ins.ts'
import { RedisBus } from '../redis/redis-bus.ts'
import { SIGN_IN_TIMEOUT, RedisEphemeral } from '../redis/redis-sign-ins.ts'
import { RedisHealth } from '../redis/redis-health.ts'
import { Keys } from '../redis/keys.ts'
import { commandOf, isRedisRefusal, wordOf } from '../redis/redis-errors.ts'
import { Seal } from '../redis/redis-seal.ts'
import type { SharedCache } from '../redis/seat-cache.ts'
import { codeOf } from './surroundings/fault.ts'
import { redisMessage } from './surroundings/redis-fault.ts'
import type { Log } from '../telemetry/logger.ts'

/** Without Redis, `ephemeral` is in memory of this process, and the other parts are null. */
export interface RedisParts {
  readonly cache: SharedCache | null
  readonly bus: RedisBus | null
  /** The used states of sign-in. */
  readonly ephemeral: Ephemeral
  readonly health: RedisHealth | null
  close(): void
}

/** Connects in the background. */
export async function openRedis(config: Config, log: Log): Promise<RedisParts> {
  const { redis } = config
  if (redis === null)
    return { cache: null, bus: null, ephemeral: new ProcessEphemeral(), health: null, close: () => {} }
  const { connectRedis, connectSubscriber } = await import('../redis/connect.ts')
  const lines = redisLog(config, log)
  const report = (cause: Error) => {
    if (isRedisRefusal(cause)) health.refused()
    lines.warn(cause)
  }
  // Faults of these connections are those of the first one; what Redis refuses them is not.
  const reportRefusal = (cause: Error) => isRedisRefusal(cause) && report(cause)
  const connection = connectRedis(redis, report)
  const subscriber = connectSubscriber(redis, connection, reportRefusal)
  const keys = new Keys(redis.prefix)
  const used = new RedisEphemeral(() => connectRedis(redis, reportRefusal, SIGN_IN_TIMEOUT), keys)
  const ephemeral = boundedEphemeral(new ProcessEphemeral(), used)
  const seal = new Seal(firstSecrets(config))
  const bus = new RedisBus(connection, subscriber, keys, seal)
  const health = new RedisHealth(connection, keys, bus, (isUp, wasDown) => isUp && lines.recovered(wasDown))
  const close = () => {
    health.close()
    connection.disconnect()
    used.close()
  }
  return { cache: { connection, keys, seal }, bus, ephemeral, health, close }
}

/** Milliseconds between log lines about the same fault of Redis. */
const WARN_EVERY = 30_000
/** The most kinds of faults that have lines of their own. */
const MAX_FAULTS = 50

/**
 * Each kind of fault has lines of its own: the line about a lost connection must not hide why Redis refuses.
 */
function redisLog(config: Config, { logger }: Log) {
  /** Monotonic ms of the last line, by fault. */
  const written = new Map<string, number>()
  let warned = false
  return {
    warn(cause: Error): void {
      const refusal = isRedisRefusal(cause) ? { command: commandOf(cause), reply: wordOf(cause) } : null
      const fault = refusal === null ? codeOf(cause) : `${refusal.command} ${refusal.reply}`
      const now = systemClock.now()
      if (now - (written.get(fault) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY) return
      if (written.size === MAX_FAULTS) written.clear()
      written.set(fault, now)
      warned = true
      logger.warn({ cause: redisMessage(config, cause), ...refusal }, 'the gateway continues without Redis')
    },

    /**
     * Reads, writes and messages work. After a loss of less than a second, the lines stay as rare as they
     * are.
     */
    recovered(wasDown: boolean): void {
      if (warned) logger.info('Redis is used again')
      warned = false
      if (wasDown) written.clear()
    },
  }
}
