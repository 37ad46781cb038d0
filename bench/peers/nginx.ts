/**
 * nginx as a plain proxy, and with auth_request to a decision service in Node.js. Connections to both are
 * kept alive; the access log is its own format, buffered, as on a busy server.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { IDENTITY_FIELDS } from '../../src/proxy/identity-headers.ts'
import { peerCores, which } from '../cores.ts'
import type { Ending } from '../harness.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { nginxCommand, nginxConfiguration } from '../upstreams.ts'
import { launchServer, runningOf } from './node-program.ts'
import { launchDecisions } from './seatgate.ts'
import type { Peer, Setup } from './peer.ts'

export const nginx: Peer = {
  name: 'nginx',
  label: 'nginx',
  authorises: false,
  available,
  start: async (setup, ending) => runningOf([await launch(setup, null, ending)]),
}

export const nginxAuthRequest: Peer = {
  name: 'nginx-auth-request',
  label: 'nginx, auth_request to a service in Node.js',
  authorises: true,
  available,
  start: async (setup, ending) => {
    const service = await launchServer('decision-service', setup, true, ending)
    const decisions = { port: service.port, ask: ASK, location: DECISION }
    return runningOf([service, await launch(setup, decisions, ending)])
  },
}

export const nginxDecision: Peer = {
  name: 'nginx-decision',
  label: "nginx, auth_request to Seatgate's decision listener",
  authorises: true,
  apiKeys: true,
  available,
  start: async (setup, ending) => {
    const port = await reservePort(ending.t)
    const gateway = await launchDecisions(setup, port, ending)
    const decisions = { port, ask: ASK_SEATGATE, location: SEATGATE }
    return runningOf([gateway, await launch(setup, decisions, ending)])
  },
}

function available(): string | null {
  return which('nginx') === null ? 'not installed: apt-get install nginx' : null
}

/** The service that nginx asks, and how. */
interface Decisions {
  readonly port: number
  /** Directives of the location that asks. */
  readonly ask: string
  /** The location of the question. */
  readonly location: string
}

async function launch(setup: Setup, decisions: Decisions | null, ending: Ending): Promise<Program> {
  const { folder, workers } = setup
  const port = await reservePort(ending.t)
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, nginxConfiguration(folder, workers, http(setup, port, decisions)))
  const command = nginxCommand(which('nginx') ?? 'nginx', file)
  return Program.start(ending, { command, port, cores: peerCores(workers), folder })
}

function http(
  { folder, world, upstream, tls: listensWithTls }: Setup,
  port: number,
  decisions: Decisions | null,
): string {
  const { cert, key } = world.certificate
  const [options, files] = listensWithTls
    ? [' ssl http2', `ssl_certificate ${cert}; ssl_certificate_key ${key}; ssl_protocols TLSv1.2 TLSv1.3;`]
    : ['', '']
  return `access_log ${folder}/access.log combined buffer=32k flush=1s;
  client_max_body_size 10m;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  ${pool('main', new URL(upstream.origin).host)}
  ${decisions === null ? '' : pool('decisions', `127.0.0.1:${decisions.port}`)}
  server {
    listen 127.0.0.1:${port} backlog=4096${options};
    ${files}
    proxy_http_version 1.1;
    location / {
      ${decisions?.ask ?? ''}
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      ${tls(upstream.ca)}
      ${upstream.h2c === true ? 'grpc_pass grpc://main;' : `proxy_pass ${upstream.ca === null ? 'http' : 'https'}://main;`}
    }
    ${decisions?.location ?? ''}
  }`
}

function pool(name: string, server: string): string {
  return `upstream ${name} { server ${server}; keepalive 256; keepalive_requests 1000000000; }`
}

function tls(ca: string | null): string {
  if (ca === null) return ''
  return `proxy_ssl_trusted_certificate ${ca}; proxy_ssl_verify on; proxy_ssl_name localhost;`
}

/** The token is removed, and the upstream gets the caller, as in Seatgate. */
const ASK = `auth_request /decision;
      auth_request_set $user $upstream_http_x_user;
      proxy_set_header X-User $user;
      proxy_set_header Authorization "";`

const DECISION = `location = /decision {
      internal;
      proxy_set_header Upgrade "";
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header Connection "";
      proxy_set_header X-Original-URI $request_uri;
      proxy_pass http://decisions;
    }`

/** The question to Seatgate as in the manual, except for the documents of refusals. */
const ASK_SEATGATE = `auth_request /decision;
      ${IDENTITY_FIELDS.map(identityLines).join('\n      ')}
      proxy_set_header X-Api-Key "";
      proxy_set_header Authorization "";`

function identityLines(name: string): string {
  const variable = name.replaceAll('-', '_')
  return `auth_request_set $${variable} $upstream_http_${variable}; proxy_set_header ${name} $${variable};`
}

const SEATGATE = `location = /decision {
      internal;
      proxy_set_header Upgrade "";
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header Connection "";
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Original-URL $scheme://$host$request_uri;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_method HEAD;
      proxy_pass http://decisions/auth/nginx;
    }`
