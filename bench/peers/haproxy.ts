/**
 * HAProxy as a plain proxy, and with `jwt_verify`: signature, expiry and a claim (the token's first entry
 * must be one for the space), and the user forwarded to the upstream. It has no Seats and reads no lists, so
 * that it can check no more. Its log goes to standard output, here a file: one write a line, as in HAProxy.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { peerCores, which } from '../cores.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { SPACE } from '../names.ts'
import { runningOf } from './node-program.ts'
import type { Peer, Setup } from './peer.ts'

export const haproxy: Peer = {
  name: 'haproxy',
  label: 'HAProxy',
  authorises: false,
  available,
  start: startWith(() => ''),
}

export const haproxyJwt: Peer = {
  name: 'haproxy-jwt',
  label: 'HAProxy, jwt_verify',
  authorises: true,
  available,
  start: startWith(({ world }) => rules(world.secret)),
}

/**
 * HAProxy with `jwt_verify` and a rate limit of each user. As in Seatgate, only requests that pass are
 * counted.
 *
 * @param limit requests per second
 */
export function haproxyLimited(limit: number): Peer {
  return {
    ...haproxyJwt,
    name: 'haproxy-limited',
    label: 'HAProxy, jwt_verify and a stick table',
    start: startWith(({ world }) => rules(world.secret) + rateLimit(limit)),
  }
}

function available(): string | null {
  return which('haproxy') === null ? 'not installed: apt-get install haproxy' : null
}

/** @param front lines of the frontend */
function startWith(front: (setup: Setup) => string): Peer['start'] {
  return async (setup, ending) => {
    const { folder, workers } = setup
    const port = await reservePort(ending.t)
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, configuration(setup, port, front(setup)), { mode: 0o600 })
    const command = [which('haproxy') ?? 'haproxy', '-db', '-f', file]
    return runningOf([await Program.start(ending, { command, port, cores: peerCores(workers), folder })])
  }
}

function configuration(
  { world, upstream, workers, tls: listensWithTls }: Setup,
  port: number,
  front: string,
): string {
  const { host } = new URL(upstream.origin)
  const protocol = upstream.h2c === true ? 'proto h2' : ''
  const tls =
    upstream.ca === null ? protocol : `ssl verify required ca-file ${upstream.ca} sni str(localhost)`
  const listener = listensWithTls ? ` ssl crt ${world.certificate.both} alpn h2,http/1.1` : ''
  return `global
  nbthread ${workers}
  maxconn 4096
  log stdout format raw local0 info
defaults
  mode http
  log global
  option httplog
  option http-keep-alive
  http-reuse always
  timeout connect 3s
  timeout client 75s
  timeout server 30s
  timeout http-request 10s
  timeout tunnel 1h
frontend front
  bind 127.0.0.1:${port} backlog 4096${listener}
${front}  default_backend main
backend main
  option forwardfor
  server one ${host.replace('localhost', '127.0.0.1')} ${tls}
`
}

function rules(secret: string): string {
  return `  http-request set-var(txn.token) http_auth_bearer
  http-request deny deny_status 401 unless { var(txn.token) -m found }
  http-request set-var(txn.alg) var(txn.token),jwt_header_query('$.alg')
  http-request deny deny_status 401 unless { var(txn.alg) -m str HS256 }
  http-request deny deny_status 401 unless { var(txn.token),jwt_verify(txn.alg,"${secret}") 1 }
  http-request set-var(txn.exp) var(txn.token),jwt_payload_query('$.exp','int')
  http-request set-var(txn.now) date()
  http-request deny deny_status 401 unless { var(txn.exp),sub(txn.now) -m int gt 0 }
  http-request deny deny_status 403 unless { var(txn.token),jwt_payload_query('$.hash_perm[0]') -m beg "${SPACE}:" }
  http-request set-header X-User %[var(txn.token),jwt_payload_query('$.sub')]
  http-request del-header Authorization
`
}

function rateLimit(limit: number): string {
  return `  stick-table type string len 64 size 10k expire 10s store gpc0,gpc0_rate(1s)
  http-request track-sc0 var(txn.token),jwt_payload_query('$.sub')
  http-request deny deny_status 429 if { sc0_gpc0_rate ge ${limit} }
  http-request sc-inc-gpc0(0)
`
}
