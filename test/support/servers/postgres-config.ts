/** What is written into a test server's postgresql.conf and pg_hba.conf. */

import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { giveTo, ordinaryUser } from './folder.ts'
import { CERTIFICATES, type Tls } from './tls.ts'

export interface PostgresOptions {
  readonly tls?: Tls
  /** Lines more for postgresql.conf; the last one of a name counts. */
  readonly settings?: readonly string[]
  /** False: quicker, and loses what was committed when the machine crashes; not when the server is killed. */
  readonly fsync?: boolean
}

export function configure(
  data: string,
  port: number,
  { tls, settings = [], fsync = true }: PostgresOptions,
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
    ...(tls === undefined ? [] : tlsLines(data)),
    ...settings,
  ]
  appendFileSync(join(data, 'postgresql.conf'), `\n${lines.join('\n')}\n`)
  writeFileSync(join(data, 'pg_hba.conf'), accessRule(tls))
}

function tlsLines(data: string): string[] {
  const { ca, server, serverKey } = CERTIFICATES.files
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

function accessRule(tls?: Tls): string {
  const kind = tls === undefined ? 'host' : 'hostssl'
  return `${kind} all all 127.0.0.1/32 scram-sha-256 ${tls === 'mutual' ? 'clientcert=verify-ca' : ''}\n`
}
