/**
 * The service of the peers: nginx if it is installed, so that it is never the bottleneck, or else Node.js.
 * Responds with small JSON, 1 KiB and 64 KiB, and accepts uploads; the same by TLS on a second port, and the
 * responses of the mixed workload on a third.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CERTIFICATES } from '../test/support/servers/tls.ts'
import { filler, SIZES, SMALL } from './answers.ts'
import { loadCores, which } from './cores.ts'
import { mixedServer } from './mixed/nginx.ts'
import type { Ending } from './harness.ts'
import { Program, startServer } from './program.ts'
import { reservePort } from '../test/support/servers/ports.ts'

export interface Upstream {
  readonly port: number
  readonly origin: string
  /** The file of the authority that issued its certificate; null: no TLS. */
  readonly ca: string | null
  /** Whether it speaks HTTP/2 without TLS, and no HTTP/1.1. */
  readonly h2c?: boolean
}

export interface Upstreams {
  readonly plain: Upstream
  readonly tls: Upstream
  /** Responses of many kinds. */
  readonly mixed: Upstream
  /** Answers gRPC-like calls. */
  readonly grpc: Upstream
  /** Echoes WebSocket messages. */
  readonly websocket: Upstream
  /** The program in use. */
  readonly by: string
}

/** Starts them all; they run until the ending. */
export async function startUpstreams(ending: Ending, folder: string): Promise<Upstreams> {
  mkdirSync(folder)
  const [port, tlsPort, mixedPort] = [
    await reservePort(ending.t),
    await reservePort(ending.t),
    await reservePort(ending.t),
  ]
  const ports = [port, tlsPort, mixedPort] as const
  const nginx = which('nginx')
  const command = nginx === null ? nodeCommand(ports) : nginxCommand(nginx, writeNginx(folder, ports))
  await Program.start(ending, { command, port, cores: loadCores(1), folder })
  const grpc = await startServer(ending, folder, 'grpc-upstream')
  const echo = await startServer(ending, folder, 'websocket-echo')
  return {
    plain: { port, origin: `http://127.0.0.1:${port}`, ca: null },
    websocket: { port: echo.port, origin: echo.origin, ca: null },
    grpc: { port: grpc.port, origin: grpc.origin, ca: null, h2c: true },
    mixed: { port: mixedPort, origin: `http://127.0.0.1:${mixedPort}`, ca: null },
    tls: { port: tlsPort, origin: `https://localhost:${tlsPort}`, ca: CERTIFICATES.files.ca },
    by: nginx === null ? 'Node.js' : 'nginx',
  }
}

type Ports = readonly [plain: number, tls: number, mixed: number]

function nodeCommand(ports: Ports): string[] {
  return [process.execPath, join(import.meta.dirname, 'servers', 'upstream.ts'), ...ports.map(String)]
}

export function nginxCommand(nginx: string, file: string): string[] {
  return [nginx, '-c', file, '-e', 'stderr']
}

function writeNginx(folder: string, [port, tlsPort, mixedPort]: Ports): string {
  mkdirSync(join(folder, 'sizes'))
  for (const [name, size] of Object.entries(SIZES)) writeFileSync(join(folder, 'sizes', name), filler(size))
  const { server, serverKey } = CERTIFICATES.files
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    nginxConfiguration(
      folder,
      1,
      `access_log off;
  default_type application/json;
  sendfile on;
  open_file_cache max=128;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    listen 127.0.0.1:${tlsPort} ssl;
    ssl_certificate ${server};
    ssl_certificate_key ${serverKey};
    location / { return 200 '${SMALL}'; }
    location /v1/sizes/ { alias ${folder}/sizes/; }
  }
  ${mixedServer(folder, mixedPort)}`,
    ),
  )
  return file
}

/**
 * The settings with which nginx runs in the foreground, in a folder of its own, and closes no connections
 * under load.
 */
export function nginxConfiguration(folder: string, workers: number, http: string): string {
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `${user}daemon off;
worker_processes ${workers};
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
  ${kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  ${http}
}
`
}
