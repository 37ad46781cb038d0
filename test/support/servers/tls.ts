/**
 * Certificates for tests, for servers at localhost, 127.0.0.1 and ::1: files that are in the repository,
 * because a machine with no more than Node.js cannot make any.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { Identity } from '../../proxy/authority.ts'
import { serverFolder } from './folder.ts'

/**
 * `server`: TLS or nothing. `mutual`: the client shows a certificate too. Files: as `server`, with a
 * certificate of the test's own.
 */
export type Tls = 'server' | 'mutual' | CertificateFiles

/** Paths. */
export interface CertificateFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/**
 * @param ca the contents of the files of authorities
 * @param identity of a server whose name is `localhost`
 */
export function certificateFiles(t: Test, ca: string, identity: Identity): CertificateFiles {
  const folder = serverFolder(t, 'tls')
  const at = { ca: join(folder, 'ca.pem'), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  for (const [name, text] of Object.entries({ ca, ...identity }))
    writeFileSync(at[name as keyof typeof at], text)
  return at
}

/** The files of a server with this setting; its nodes show each other those of `client`. */
export function filesOf(tls: Tls) {
  if (typeof tls === 'string') return files
  const { ca, cert, key } = tls
  return { ca, server: cert, serverKey: key, client: cert, clientKey: key }
}

/** The options with which the tests connect. */
export function ownOptions(tls: Tls): ConnectionOptions {
  if (typeof tls === 'string') return CERTIFICATES.client
  return { ca: readFileSync(tls.ca), servername: 'localhost' }
}

const path = (name: string) => fileURLToPath(new URL(`./tls/${name}.pem`, import.meta.url))

const files = {
  ca: path('ca'),
  server: path('server'),
  serverKey: path('server-key'),
  /** Its common name is `seatgate`. */
  client: path('client'),
  clientKey: path('client-key'),
  /** The certificate of a client, valid until 2021. */
  expired: path('expired'),
  expiredKey: path('expired-key'),
}

const ca = readFileSync(files.ca, 'utf8')

export const CERTIFICATES = {
  files,
  /** Options as node:tls takes them. */
  server: { ca, cert: readFileSync(files.server, 'utf8'), key: readFileSync(files.serverKey, 'utf8') },
  client: { ca, cert: readFileSync(files.client, 'utf8'), key: readFileSync(files.clientKey, 'utf8') },
} as const
