/** Why Redis can't be used. The gateway goes on without it, so that this is for the log. */

import type { Address, Config, RedisConfig } from '../../config/config.ts'
import { commandOf, isRedisRefusal, serverOf, wordOf } from '../../redis/redis-errors.ts'
import { codeOf, describeFault, type Finding, settingOf } from './fault.ts'
import { networkFinding, otherNames, type ServerText } from './network-fault.ts'

/** Characters of a cause: it may be text that Redis sent. */
const MAX_CAUSE = 200

/** @returns '' without Redis */
export function redisMessage({ redis, sources }: Pick<Config, 'redis' | 'sources'>, cause: Error): string {
  if (redis === null) return ''
  return describeFault(sources.redis, redisFinding(redis, settingOf(sources.redis), cause))
}

export function redisFinding(config: RedisConfig, setting: string, reported: Error): Finding {
  const cause = ofOneNode(reported)
  const asked = serverOf(cause)
  const servers = asked === null ? config.nodes : [asked]
  const server: ServerText = {
    name: 'Redis',
    at: `Redis at ${servers.map(addressText).join(', ')}`,
    host: servers[0]?.host ?? '',
    setting,
    authorities: 'ca',
  }
  return (
    tlsMismatch(server, config.tls, cause) ??
    namedWithoutName(server, config, cause) ??
    networkFinding(server, codeOf(cause), cause) ??
    refusedLogin(server, config, cause.message) ??
    refusedCommand(server, config, cause) ?? {
      cause: `${server.at}: ${cause.message.slice(0, MAX_CAUSE).replace(/\.$/, '')}`,
      advice: `See the log of Redis, and check ${setting}`,
    }
  )
}

function addressText({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Sentinels and clusters name servers by their addresses, unless they are told otherwise. */
function namedWithoutName(server: ServerText, { mode, nodes }: RedisConfig, cause: Error): Finding | null {
  const code = codeOf(cause)
  const asked = serverOf(cause)
  const isConfigured = nodes.some(({ host }) => host === asked?.host)
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID' || asked === null || isConfigured) return null
  const { host } = asked
  return {
    cause: `${otherNames(server, code, cause)}, and ${mode === 'cluster' ? 'the cluster names' : 'the sentinels name'} this server so`,
    advice:
      mode === 'cluster'
        ? `Have the cluster name its nodes by a name of the certificate (cluster-announce-hostname, and cluster-preferred-endpoint-type hostname), or issue the certificate for ${host}`
        : `Have the sentinels name it by a name of the certificate (sentinel resolve-hostnames yes and announce-hostnames yes; replica-announce-ip of its replicas), or issue the certificate for ${host}`,
  }
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

function refusedLogin({ at, setting }: ServerText, { username }: RedisConfig, reply: string): Finding | null {
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
  return null
}

/** What Redis replies to a command that it does not execute, by the first word. */
function refusedCommand(
  { at, setting }: ServerText,
  { prefix, mode }: RedisConfig,
  cause: Error,
): Finding | null {
  const command = isRedisRefusal(cause) ? commandOf(cause) : null
  const said = `${cause.message.slice(0, MAX_CAUSE).replace(/\.$/, '')}${command === null ? '' : `, in reply to ${command}`}`
  const again = 'The gateway connects again by itself'
  switch (wordOf(cause)) {
    case 'READONLY':
      return {
        cause: `${at} is a replica, which accepts reads only (READONLY)`,
        advice: `Name the master in ${setting}, or the sentinels that know it`,
      }
    case 'NOPERM':
      return {
        cause: `${at} does not permit this user a command or a key (${said})`,
        advice: `Permit the user of ${setting} all commands on ~${prefix}* and &${prefix}* (ACL SETUSER)`,
      }
    case 'OOM':
      return {
        cause: `the memory of ${at} is full (${said})`,
        advice: `Raise maxmemory of Redis, or remove what other programs store there`,
      }
    case 'MISCONF':
      return {
        cause: `${at} refuses writes since it could not save its data (${said})`,
        advice: `See the log of Redis, and make room on its disk`,
      }
    case 'NOREPLICAS':
      return {
        cause: `${at} refuses writes since too few replicas follow it (${said})`,
        advice: `Start its replicas, or lower min-replicas-to-write of Redis`,
      }
    case 'MASTERDOWN':
      return {
        cause: `${at} is a replica that has lost its master (${said})`,
        advice: `Name the master in ${setting}, or the sentinels that know it`,
      }
    case 'LOADING':
      return { cause: `${at} is loading its data (${said})`, advice: `Wait until it has loaded. ${again}` }
    case 'CLUSTERDOWN':
      return {
        cause: `${at} belongs to a cluster that does not serve all hash slots (${said})`,
        advice: `Start the nodes that CLUSTER NODES shows as failed, or assign their slots to others`,
      }
    case 'MOVED':
    case 'ASK':
      if (mode === 'cluster') return null
      return {
        cause: `${at} is a node of a cluster (${said})`,
        advice: `Write redis+cluster:// in place of redis:// in ${setting}`,
      }
    default:
      if (!isRedisRefusal(cause)) return null
      return {
        cause: `${at} refused a command (${said})`,
        advice: `See the log of Redis, and check ${setting}`,
      }
  }
}
