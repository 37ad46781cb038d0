/** Why Redis can't be used. The gateway goes on without it, so that this is for the log. */

import type { Address, Config, RedisConfig } from '../../config/config.ts'
import { commandOf, isRedisRefusal, serverOf, wordOf } from '../../redis/redis-errors.ts'
import { codeOf, describeFault, type Finding, settingOf } from './fault.ts'
import { findingTable } from './finding-table.ts'
import { networkFinding, OTHER_NAMES, type ServerText, serverValues } from './network-fault.ts'

/** The most characters of a cause, which may be text that Redis sent. */
const MAX_CAUSE = 200

/** Faults of servers that do not use TLS as configured. */
const handshakes = findingTable({
  NO_TLS: [
    '{at} does not answer the TLS handshake ({code})',
    'Write redis:// in place of rediss:// in {setting} if this server speaks no TLS on that port, or name its TLS port',
  ],
  NO_CERTIFICATE: [
    '{at} closed the connection after the TLS handshake',
    'Name a client certificate, cert and key, in {setting} if this server requires one, or see its log',
  ],
  NO_REDIS: [
    '{at} closed the connection without a reply',
    'Write rediss:// in place of redis:// in {setting} if this server requires TLS, or check that it is a Redis',
  ],
})

/**
 * Certificates of servers that sentinels or a cluster have named, which they do by addresses unless
 * configured otherwise.
 */
const namings = findingTable({
  cluster: [
    `${OTHER_NAMES}, and the cluster names this server so`,
    'Have the cluster name its nodes by a name of the certificate (cluster-announce-hostname, and cluster-preferred-endpoint-type hostname), or issue the certificate for {host}',
  ],
  other: [
    `${OTHER_NAMES}, and the sentinels name this server so`,
    'Have the sentinels name it by a name of the certificate (sentinel resolve-hostnames yes and announce-hostnames yes; replica-announce-ip of its replicas), or issue the certificate for {host}',
  ],
})

/** Refusals of commands, by the first word of Redis' reply. */
const replies = findingTable({
  WRONGPASS: ['{at} refused the password (WRONGPASS)', 'Check user and password in {setting}'],
  WRONGPASS_OF_USER: [
    '{at} refused user {username} or the password (WRONGPASS)',
    'Check user and password in {setting}',
  ],
  NOAUTH: [
    '{at} requires a password, and none is given (NOAUTH)',
    'Add it in {setting}: redis://:PASSWORD@HOST:PORT',
  ],
  READONLY: [
    '{at} is a replica, which accepts reads only (READONLY)',
    'Name the master in {setting}, or the sentinels that know it',
  ],
  NOPERM: [
    '{at} does not permit this user a command or a key ({reply})',
    'Permit the user of {setting} all commands on ~{prefix}* and &{prefix}* (ACL SETUSER)',
  ],
  OOM: [
    'the memory of {at} is full ({reply})',
    'Raise maxmemory of Redis, or remove what other programs store there',
  ],
  MISCONF: [
    '{at} refuses writes since it could not save its data ({reply})',
    'See the log of Redis, and make room on its disk',
  ],
  NOREPLICAS: [
    '{at} refuses writes since too few replicas follow it ({reply})',
    'Start its replicas, or lower min-replicas-to-write of Redis',
  ],
  MASTERDOWN: [
    '{at} is a replica that has lost its master ({reply})',
    'Name the master in {setting}, or the sentinels that know it',
  ],
  LOADING: [
    '{at} is loading its data ({reply})',
    'Wait until it has loaded. The gateway connects again by itself',
  ],
  CLUSTERDOWN: [
    '{at} belongs to a cluster that does not serve all hash slots ({reply})',
    'Start the nodes that CLUSTER NODES shows as failed, or assign their slots to others',
  ],
  'MOVED ASK': [
    '{at} is a node of a cluster ({reply})',
    'Write redis+cluster:// in place of redis:// in {setting}',
  ],
  REFUSED: ['{at} refused a command ({reply})', 'See the log of Redis, and check {setting}'],
})

/** @returns '' without Redis */
export function redisMessage({ redis, sources }: Pick<Config, 'redis' | 'sources'>, cause: Error): string {
  if (redis === null) return ''
  return describeFault(sources.redis, redisFinding(redis, settingOf(sources.redis), cause))
}

export function redisFinding(config: RedisConfig, setting: string, reported: Error): Finding {
  const cause = ofOneNode(reported)
  const named = serverOf(cause)
  const servers = named === null ? config.nodes : [named]
  const at = `Redis at ${servers.map(addressText).join(', ')}`
  const server = { name: 'Redis', at, host: servers[0]?.host ?? '', setting, authorities: 'ca' }
  const code = codeOf(cause)
  const values = serverValues(server, code, cause)
  const isNamedByOthers = named !== null && config.nodes.every(({ host }) => host !== named.host)
  return (
    handshakes(handshakeFault(config.tls, code, cause), values) ??
    (code === 'ERR_TLS_CERT_ALTNAME_INVALID' && isNamedByOthers ? namings(config.mode, values) : null) ??
    networkFinding(server, code, cause) ??
    refusal(server, config, cause) ?? {
      cause: `${at}: ${shortened(cause)}`,
      advice: `See the log of Redis, and check ${setting}`,
    }
  )
}

function addressText({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function shortened({ message }: Error): string {
  return message.slice(0, MAX_CAUSE).replace(/\.$/, '')
}

/** The error of the node that was tried last, which is in the error of a cluster. */
function ofOneNode(cause: Error): Error {
  return 'lastNodeError' in cause && cause.lastNodeError instanceof Error ? cause.lastNodeError : cause
}

/** The codes of a TLS handshake with a server that does not speak TLS. */
const NO_TLS = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'EPROTO',
  'ETIMEDOUT',
])

/** @returns '' for any other fault */
function handshakeFault(tls: boolean, code: string, { name }: Error): string {
  if (!tls) return code === 'NO_REPLY' || name === 'ProtocolError' ? 'NO_REDIS' : ''
  if (NO_TLS.has(code)) return 'NO_TLS'
  return code === 'NO_REPLY' ? 'NO_CERTIFICATE' : ''
}

function refusal(
  { at, setting }: ServerText,
  { username, prefix, mode }: RedisConfig,
  cause: Error,
): Finding | null {
  const isRefusal = isRedisRefusal(cause)
  const command = isRefusal ? commandOf(cause) : null
  const reply = `${shortened(cause)}${command === null ? '' : `, in reply to ${command}`}`
  const values = { at, setting, prefix, username: username ?? '', reply }
  const first = cause.message.startsWith('ERR invalid password') ? 'WRONGPASS' : wordOf(cause)
  const word = first === 'WRONGPASS' && username !== null ? 'WRONGPASS_OF_USER' : first
  // The client of a cluster follows redirections.
  if (mode === 'cluster' && (word === 'MOVED' || word === 'ASK')) return null
  return replies(word, values) ?? (isRefusal ? replies('REFUSED', values) : null)
}
