/** Asks Redis once, as a gateway reaches it: single, by sentinels or as a cluster. Nothing is written. */

import type { RedisConfig } from '../config/config.ts'
import { connectRedis, connectSubscriber } from './connect.ts'
import type { RedisConnection } from './redis-connection.ts'
import { tryKeys } from './redis-health.ts'
import { Keys } from './keys.ts'

/**
 * Rejects with the first error of the connection, of a command, or with one of the code TIMEOUT.
 *
 * @param timeout ms for the connection and its replies
 * @returns ms of the reply to PING
 */
export async function inspectRedis(config: RedisConfig, timeout: number): Promise<number> {
  try {
    return await ask(config, timeout)
  } catch (cause) {
    // The client of a cluster does not say why a node can't be reached.
    if (config.mode === 'cluster') await ask({ ...config, mode: 'single' }, timeout, false)
    throw cause
  }
}

/** @param whole whether all that a gateway does is asked for, not only a reply */
async function ask(config: RedisConfig, timeout: number, whole = true): Promise<number> {
  const failed = Promise.withResolvers<never>()
  const timer = setTimeout(() => failed.reject(timedOut()), timeout)
  const connection = connectRedis(config, failed.reject, timeout)
  const elapsed = async () => {
    await ready(connection)
    const startedAt = performance.now()
    await connection.ping()
    const duration = performance.now() - startedAt
    if (whole) await requireUse(connection, config)
    return duration
  }
  try {
    return await Promise.race([elapsed(), failed.promise])
  } catch (cause) {
    const late = cause instanceof Error && /^(?:Command timed out|Socket timeout)/.test(cause.message)
    throw late ? timedOut() : cause
  } finally {
    clearTimeout(timer)
    connection.disconnect()
  }
}

/**
 * Rejects where keys of the gateway can't be read or written, or its messages not sent or received. Nothing
 * is written.
 */
async function requireUse(connection: RedisConnection, config: RedisConfig): Promise<void> {
  const keys = new Keys(config.prefix)
  await connection.get(keys.signInEpoch)
  await tryKeys(connection, keys, 0)
  const channel = keys.acknowledgements('check')
  await connection.publish(channel, '')
  const failed = Promise.withResolvers<never>()
  const subscriber = connectSubscriber(config, connection, failed.reject)
  try {
    const subscribed = ready(subscriber).then(() => subscriber.subscribe(keys.announcements, channel))
    await Promise.race([subscribed, failed.promise])
  } finally {
    subscriber.disconnect()
  }
}

function ready(connection: RedisConnection): Promise<void> {
  if (connection.status === 'ready') return Promise.resolve()
  return new Promise((resolve) => connection.once('ready', () => resolve()))
}

function timedOut(): Error {
  return Object.assign(new Error('Redis has not responded in time'), { code: 'TIMEOUT' })
}
