/**
 * Errors that Redis replies to commands of the gateway. Redis keeps the connection open at each of them, and
 * ioredis reports none: a server that was demoted at its address would be used for ever.
 */

import { performance } from 'node:perf_hooks'
import type { Address, RedisConfig } from '../config/config.ts'

/** An error that Redis replied, as ioredis gives it. Messages leave out arguments, as they may be secret. */
type RedisRefusal = Error & { readonly command?: { readonly name: string } }

/** What the gateway asks for itself. ioredis sends others, and tolerates their refusal. */
const OWN_COMMANDS = new Set(['get', 'set', 'publish', 'subscribe', 'ping', 'eval', 'evalsha'])
/** Redirections, which the client of a cluster follows. */
const REDIRECTIONS = new Set(['MOVED', 'ASK', 'TRYAGAIN'])
/** The errors of a wrong server: a replica, or one that is starting. */
const WRONG_SERVER = new Set(['READONLY', 'MASTERDOWN', 'LOADING'])
/** Milliseconds between two renewals of one connection because of an error of {@link WRONG_SERVER}. */
const RENEW_EVERY = 1000
/** The same for any other error. */
const RENEW_OTHERS_EVERY = 5000

const SERVERS = new WeakMap<Error, Address>()

/** Notes the server that a failed connection was for. A sentinel or a cluster may have named it. */
export function failedAt(cause: Error, server: Address): void {
  SERVERS.set(cause, server)
}

/** The server of an error; null if the error is of no connection. */
export function serverOf(cause: Error): Address | null {
  return SERVERS.get(cause) ?? null
}

export function isRedisRefusal(cause: unknown): cause is RedisRefusal {
  return cause instanceof Error && cause.name === 'ReplyError'
}

/** The first word of Redis' error, such as `READONLY`. A script of Redis 6 puts it after its own. */
export function wordOf({ message }: Error): string {
  const [, ofScript] = /^ERR Error running script[^]*?: -?([A-Z]{3,}) /.exec(message) ?? []
  return ofScript ?? /^[A-Z]+/.exec(message)?.[0] ?? 'ERR'
}

/** The command in upper case, as Redis writes it; null if ioredis does not say it. */
export function commandOf({ command }: RedisRefusal): string | null {
  return command === undefined ? null : command.name.toUpperCase()
}

/**
 * Whether the error is of one key or script, not of the server. A script that Redis lost is sent again. A key
 * of another type counts as a miss of the cache, or as a failed loan of rate-limit tokens.
 */
function isOfOneKey({ message }: Error, word: string): boolean {
  return word === 'NOSCRIPT' || word === 'WRONGTYPE' || (word === 'ERR' && /\bscript\b/.test(message))
}

/**
 * ioredis' option `reconnectOnError` of one connection: reports refusals, and has the connection made again.
 * At its address there may be another server by now. A cluster's nodes keep their connections: its client
 * asks for the slots.
 */
export function refusalsOf(mode: RedisConfig['mode'], report: (cause: RedisRefusal) => void) {
  let renewedAt = Number.NEGATIVE_INFINITY
  return (cause: RedisRefusal): boolean => {
    const word = wordOf(cause)
    if (!OWN_COMMANDS.has(cause.command?.name ?? '') || isOfOneKey(cause, word)) return false
    if (mode === 'cluster' && REDIRECTIONS.has(word)) return false
    report(cause)
    const now = performance.now()
    const pause = WRONG_SERVER.has(word) ? RENEW_EVERY : RENEW_OTHERS_EVERY
    if (mode === 'cluster' || word === 'ERR' || now - renewedAt < pause) return false
    renewedAt = now
    return true
  }
}
