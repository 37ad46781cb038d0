/**
 * Certificates for tests, for servers at localhost, 127.0.0.1 and ::1: files that are in the repository, because a
 * machine with no more than Node.js cannot make any.
 */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** `server`: TLS or nothing. `mutual`: the client shows a certificate too. */
export type Tls = 'server' | 'mutual'

const path = (name: string) => fileURLToPath(new URL(`./tls/${name}.pem`, import.meta.url))

const files = {
  ca: path('ca'),
  server: path('server'),
  serverKey: path('server-key'),
  /** Its common name is `seatgate`. */
  client: path('client'),
  clientKey: path('client-key'),
  /** Of a client; valid until 2021. */
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
