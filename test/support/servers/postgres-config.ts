/** What is written into a test server's postgresql.conf and pg_hba.conf. */

import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { giveTo, ordinaryUser } from './folder.ts'
import { filesOf, type Tls } from './tls.ts'

export interface PostgresOptions {
  readonly tls?: Tls
  /** Additional lines of postgresql.conf; the last one of a name counts. */
  readonly settings?: readonly string[]
  /**
   * Whether commits survive a crash of the machine. Without it the server is quicker; commits survive its own
   * end in any case.
   */
  readonly fsync?: boolean
  /** The primary of a standby, which is read only until a promotion. */
  readonly standbyOf?: Primary
}

/** What a standby connects to. */
export interface Primary {
  readonly port: number
  readonly user: string
  readonly password: string
}

export function configure(
  data: string,
  port: number,
  { tls, settings = [], fsync = true, standbyOf }: PostgresOptions,
): void {
  const lines = [
    `listen_addresses = '127.0.0.1'`,
    `port = ${port}`,
    `unix_socket_directories = ''`,
    'shared_buffers = 16MB',
    // Not there in every package, and of no use for small queries.
    'jit = off',
    // Files of the data directory, which goes; the default leaves some in /dev/shm after a crash.
    'dynamic_shared_memory_type = mmap',
    `fsync = ${fsync ? 'on' : 'off'}`,
    ...(tls === undefined ? [] : tlsLines(data, tls)),
    ...(standbyOf === undefined ? [] : standbyLines(data, standbyOf)),
    ...settings,
  ]
  appendFileSync(join(data, 'postgresql.conf'), `\n${lines.join('\n')}\n`)
  writeFileSync(join(data, 'pg_hba.conf'), accessRule(tls))
}

function tlsLines(data: string, tls: Tls): string[] {
  const { ca, server, serverKey } = filesOf(tls)
  for (const [name, from] of Object.entries({
    'ca.pem': ca,
    'server.pem': server,
    'server-key.pem': serverKey,
  })) {
    copyFileSync(from, join(data, name))
    giveTo(join(data, name), ordinaryUser(), 0o600)
  }
  return [
    'ssl = on',
    `ssl_ca_file = 'ca.pem'`,
    `ssl_cert_file = 'server.pem'`,
    `ssl_key_file = 'server-key.pem'`,
  ]
}

function standbyLines(data: string, { port, user, password }: Primary): string[] {
  const signal = join(data, 'standby.signal')
  writeFileSync(signal, '')
  giveTo(signal, ordinaryUser())
  const place = `host=127.0.0.1 port=${port} user=${user} password=${password}`
  return [`primary_conninfo = '${place}'`]
}

function accessRule(tls?: Tls): string {
  const kind = tls === undefined ? 'host' : 'hostssl'
  // `all` is no replication.
  const rules = ['all', 'replication'].map((database) => `${kind} ${database} all 127.0.0.1/32 scram-sha-256`)
  return rules.map((rule) => `${rule} ${tls === 'mutual' ? 'clientcert=verify-ca' : ''}\n`).join('')
}
