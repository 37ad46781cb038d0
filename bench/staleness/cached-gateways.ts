/**
 * Two instances of a gateway in Node.js with a cache and messages of Redis; and nginx, which caches its
 * decisions.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../test/support/servers/binaries.ts'
import { startRedis } from '../../test/support/servers/redis.ts'
import { fileURLToPath } from 'node:url'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import type { Ending } from '../harness.ts'
import { nginxCommand, nginxConfiguration } from '../upstreams.ts'
import { CALLER, running, setRight, startInstance } from './gateway-instances.ts'
import {
  type CachedGatewaySetup,
  placeAt,
  type RunningStalenessPeer,
  type StalenessPeer,
} from './staleness-peer.ts'

const SCRIPT = fileURLToPath(new URL('../servers/cached-gateway.ts', import.meta.url))

function startGateway(ending: Ending, folder: string, redis: string, keeps: number): Promise<number> {
  return startInstance<CachedGatewaySetup>(ending, folder, SCRIPT, { redis, keeps })
}

function gateways(name: string, keeps: number, breaks: boolean): StalenessPeer {
  return {
    name,
    label: `Node.js, cache of ${keeps / 1000} s and Redis pub/sub${breaks ? ', the subscription breaks' : ''}`,
    configuration: `two instances; a right is kept for ${keeps / 1000} s and dropped by a published message${breaks ? '; CLIENT KILL TYPE pubsub before each write of half of the run' : ''}`,
    every: keeps / 1000 + 2,
    async start(ending, folder): Promise<RunningStalenessPeer> {
      const redis = await startRedis(ending.t)
      const ports = [
        await startGateway(ending, folder, redis.url, keeps),
        await startGateway(ending, folder, redis.url, keeps),
      ]
      return running(ending, { ports, redis, breaks, writesAt: (turn) => ports[turn % ports.length] })
    },
  }
}

function nginx(seconds: number): StalenessPeer {
  return {
    name: `nginx-cache-${seconds}s`,
    label: `nginx, auth_request with proxy_cache of ${seconds} s`,
    configuration: `proxy_cache_valid 200 204 401 403 ${seconds}s; proxy_cache_key $http_authorization; the service behind it keeps nothing`,
    every: seconds + 2,
    async start(ending, folder): Promise<RunningStalenessPeer> {
      const redis = await startRedis(ending.t)
      const service = await startGateway(ending, folder, redis.url, 0)
      const port = await reservePort(ending.t)
      const file = join(folder, 'nginx.conf')
      mkdirSync(join(folder, 'cache'), { recursive: true })
      writeFileSync(file, nginxConfiguration(folder, 1, httpOf(folder, port, service, seconds)))
      const { path, env } = await findProgram('nginx')
      await Program.start(ending, { command: nginxCommand(path, file), port, folder, env })
      return {
        places: [placeAt(ending, port, '/')],
        caller: CALLER,
        write: (allow) => setRight(service, allow),
      }
    },
  }
}

function httpOf(folder: string, port: number, service: number, seconds: number): string {
  return `access_log off;
  proxy_cache_path ${folder}/cache keys_zone=decisions:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      auth_request /decision;
      try_files /none /allowed;
    }
    location = /decision {
      internal;
      proxy_pass http://127.0.0.1:${service};
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_cache decisions;
      proxy_cache_key $http_authorization;
      proxy_cache_valid 200 204 401 403 ${seconds}s;
    }
    location = /allowed { internal; return 204; }
  }`
}

export const cachedPeers: readonly StalenessPeer[] = [
  nginx(1),
  nginx(10),
  gateways('node-pubsub', 10_000, false),
  gateways('node-pubsub-broken', 10_000, true),
  gateways('node-cache-1s-broken', 1000, true),
]
