/**
 * nginx as a plain proxy, and with auth_request to a decision service in Node.js. Connections to both are kept alive;
 * the access log is its own format, buffered, as on a busy server.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { peerCores, which } from '../cores.ts'
import { freePort, Program } from '../program.ts'
import { nginxCommand, nginxConfiguration } from '../upstreams.ts'
import { launchServer, runningOf } from './node-program.ts'
import type { Peer, Setup } from './peer.ts'

export const nginx: Peer = {
  name: 'nginx',
  label: 'nginx',
  authorises: false,
  available,
  start: async (setup) => runningOf([await launch(setup, null)]),
}

export const nginxAuthRequest: Peer = {
  name: 'nginx-auth-request',
  label: 'nginx, auth_request to a service in Node.js',
  authorises: true,
  available,
  start: async (setup) => {
    const service = await launchServer('decision-service', setup, true)
    try {
      return runningOf([service, await launch(setup, service.port)])
    } catch (cause) {
      await service.stop()
      throw cause
    }
  },
}

function available(): string | null {
  return which('nginx') === null ? 'not installed: apt-get install nginx' : null
}

async function launch(setup: Setup, service: number | null): Promise<Program> {
  const { folder, workers } = setup
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, nginxConfiguration(folder, workers, http(setup, port, service)))
  const command = nginxCommand(which('nginx') ?? 'nginx', file)
  return Program.start({ command, port, cores: peerCores(workers), folder })
}

function http({ folder, upstream }: Setup, port: number, service: number | null): string {
  return `access_log ${folder}/access.log combined buffer=32k flush=1s;
  client_max_body_size 10m;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  ${pool('main', new URL(upstream.origin).host)}
  ${service === null ? '' : pool('decisions', `127.0.0.1:${service}`)}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    proxy_http_version 1.1;
    location / {
      ${service === null ? '' : ASK}
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      ${tls(upstream.ca)}
      proxy_pass ${upstream.ca === null ? 'http' : 'https'}://main;
    }
    ${service === null ? '' : DECISION}
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
