/** @fastify/http-proxy: bare, and with a token check in its preHandler. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startServer } from './node-program.ts'
import type { Peer } from './peer.ts'

export const fastify: Peer = {
  name: 'fastify',
  label: '@fastify/http-proxy',
  authorises: false,
  available,
  start: (setup) => startServer('fastify', setup, false),
}

export const fastifyJwt: Peer = {
  name: 'fastify-jwt',
  label: '@fastify/http-proxy with jose and a cache',
  authorises: true,
  available,
  start: (setup) => startServer('fastify', setup, true),
}

function available(): string | null {
  const packages = ['fastify', '@fastify/http-proxy']
  const isThere = (name: string) =>
    existsSync(fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url)))
  return packages.every(isThere) ? null : `not installed: npm install --save-dev ${packages.join(' ')}`
}
