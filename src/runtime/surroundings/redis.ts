/** Why Redis can't be used. The gateway goes on without it, so that this is for the log. */

import type { Config, RedisConfig } from '../../config/config.ts'
import { codeOf, describeFault, type Finding, settingOf } from './fault.ts'
import { networkFinding, type ServerText } from './network.ts'

/** Characters of a cause: it may be text that Redis sent. */
const MAX_CAUSE = 200

/** @returns '' without Redis */
export function redisMessage({ redis, sources }: Pick<Config, 'redis' | 'sources'>, cause: Error): string {
  if (redis === null) return ''
  return describeFault(sources.redis, redisFinding(redis, settingOf(sources.redis), cause))
}

export function redisFinding(config: RedisConfig, setting: string, reported: Error): Finding {
  const cause = ofOneNode(reported)
  const addresses = config.nodes.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
  const server: ServerText = {
    name: 'Redis',
    at: `Redis at ${addresses.join(', ')}`,
    host: config.nodes[0]?.host ?? '',
    setting,
    authorities: 'ca',
  }
  return (
    tlsMismatch(server, config.tls, cause) ??
    networkFinding(server, codeOf(cause)) ??
    refusal(server, config, cause.message) ?? {
      cause: `${server.at}: ${cause.message.slice(0, MAX_CAUSE).replace(/\.$/, '')}`,
      advice: `See the log of Redis, and check ${setting}`,
    }
  )
}

/** A cluster's error has that of the node which was tried last. */
function ofOneNode(cause: Error): Error {
  return 'lastNodeError' in cause && cause.lastNodeError instanceof Error ? cause.lastNodeError : cause
}

/** What TLS meets in a server that sends something else. */
const NO_TLS = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'EPROTO',
  'ETIMEDOUT',
])

function tlsMismatch({ at, setting }: ServerText, tls: boolean, cause: Error): Finding | null {
  const code = codeOf(cause)
  if (tls && NO_TLS.has(code))
    return {
      cause: `${at} does not answer the TLS handshake (${code})`,
      advice: `Write redis:// in place of rediss:// in ${setting} if this server speaks no TLS on that port, or name its TLS port`,
    }
  if (tls && code === 'NO_REPLY')
    return {
      cause: `${at} closed the connection after the TLS handshake`,
      advice: `Name a client certificate, cert and key, in ${setting} if this server requires one, or see its log`,
    }
  if (!tls && (code === 'NO_REPLY' || cause.name === 'ProtocolError'))
    return {
      cause: `${at} closed the connection without a reply`,
      advice: `Write rediss:// in place of redis:// in ${setting} if this server requires TLS, or check that it is a Redis`,
    }
  return null
}

/** By the first word of an error that Redis replies. */
function refusal(
  { at, setting }: ServerText,
  { username, prefix }: RedisConfig,
  reply: string,
): Finding | null {
  if (/^WRONGPASS|^ERR invalid password/.test(reply))
    return {
      cause:
        username === null
          ? `${at} refused the password (WRONGPASS)`
          : `${at} refused user ${username} or the password (WRONGPASS)`,
      advice: `Check user and password in ${setting}`,
    }
  if (reply.startsWith('NOAUTH'))
    return {
      cause: `${at} requires a password, and none is given (NOAUTH)`,
      advice: `Add it in ${setting}: redis://:PASSWORD@HOST:PORT`,
    }
  if (reply.startsWith('READONLY'))
    return {
      cause: `${at} is a replica, which accepts reads only (READONLY)`,
      advice: `Name the master in ${setting}, or the sentinels that know it`,
    }
  if (reply.startsWith('NOPERM'))
    return {
      cause: `${at} does not permit this user a command or a key (${reply.slice(0, MAX_CAUSE)})`,
      advice: `Permit the user of ${setting} all commands on ~${prefix}* and &${prefix}* (ACL SETUSER)`,
    }
  return null
}
