/** What is written into a test server's redis.conf, and who may log in. */

import { randomBytes } from 'node:crypto'
import { filesOf, type Tls } from './tls.ts'

export interface RedisOptions {
  readonly replicaOf?: { readonly port: number }
  /** The password of the default user. */
  readonly password?: string
  /** A user in place of the default one, which is then off. `rules`: as in `ACL SETUSER`; left out: all. */
  readonly user?: { readonly name: string; readonly password: string; readonly rules?: string }
  readonly tls?: Tls
  /** Additional lines of redis.conf; the last one of a name counts. */
  readonly config?: readonly string[]
  readonly sentinel?: boolean
}

/** The user of the tests, which every server admits. Replicas and sentinels use it too. */
export const HARNESS = { username: 'harness', password: randomBytes(16).toString('hex') }

export function configOf(port: number, folder: string, options: RedisOptions): string {
  const { replicaOf, password, user, tls, config = [], sentinel = false } = options
  const lines = [
    'bind 127.0.0.1',
    ...(tls === undefined ? [`port ${port}`] : tlsLines(port, tls)),
    'daemonize no',
    `dir "${folder}"`,
    ...(sentinel ? [] : DATA),
    ...(user === undefined ? [] : ['user default off', userLine(user)]),
    ...(password === undefined ? [] : [`requirepass ${password}`]),
    ...(replicaOf === undefined ? [] : [`replicaof 127.0.0.1 ${replicaOf.port}`]),
    ...config,
  ]
  return `${lines.join('\n')}\n`
}

/** Lines of servers that hold data, which sentinels do not have. */
const DATA = [
  'save ""',
  'appendonly no',
  `user ${HARNESS.username} on >${HARNESS.password} ~* &* +@all`,
  `masteruser ${HARNESS.username}`,
  `masterauth ${HARNESS.password}`,
  // A new replica is served at once. By default, the server waits five seconds for others.
  'repl-diskless-sync-delay 0',
]

function userLine({ name, password, rules = '~* &* +@all' }: NonNullable<RedisOptions['user']>): string {
  return `user ${name} on >${password} ${rules}`
}

function tlsLines(port: number, tls: Tls): string[] {
  const { ca, server, serverKey, client, clientKey } = filesOf(tls)
  return [
    'port 0',
    `tls-port ${port}`,
    `tls-ca-cert-file "${ca}"`,
    `tls-cert-file "${server}"`,
    `tls-key-file "${serverKey}"`,
    // Nodes of a cluster show each other a client's certificate, whatever they ask of clients.
    `tls-client-cert-file "${client}"`,
    `tls-client-key-file "${clientKey}"`,
    `tls-auth-clients ${tls === 'mutual' ? 'yes' : 'no'}`,
    'tls-replication yes',
    'tls-cluster yes',
  ]
}
