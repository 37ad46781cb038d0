/** @fastify/http-proxy: bare, and with a token check in its preHandler. */

import { missing } from '../own-packages.ts'
import { nodeProgram } from './node-program.ts'
import type { Peer } from './peer.ts'

export const fastify: Peer = {
  name: 'fastify',
  label: '@fastify/http-proxy',
  authorises: false,
  available: () => missing('fastify', '@fastify/http-proxy'),
  start: nodeProgram('fastify', false),
}

export const fastifyJwt: Peer = {
  name: 'fastify-jwt',
  label: '@fastify/http-proxy with jose and a cache',
  authorises: true,
  available: () => missing('fastify', '@fastify/http-proxy'),
  start: nodeProgram('fastify', true),
}
