/** Every peer, in the order of the table. */

import { apache, apacheOpenidc } from './apache.ts'
import { caddy, caddyForwardAuth } from './caddy.ts'
import { fastify, fastifyJwt } from './fastify.ts'
import { haproxy, haproxyJwt } from './haproxy.ts'
import { httpProxy3, httpProxy3Jwt } from './http-proxy-3.ts'
import { nginx, nginxAuthRequest, nginxDecision } from './nginx.ts'
import { node } from './node.ts'
import type { Peer } from './peer.ts'
import { seatgate, seatgateBare, seatgateOpen } from './seatgate.ts'

export const peers: readonly Peer[] = [
  seatgate,
  seatgateOpen,
  seatgateBare,
  haproxyJwt,
  haproxy,
  nginxAuthRequest,
  nginxDecision,
  nginx,
  httpProxy3Jwt,
  httpProxy3,
  fastifyJwt,
  fastify,
  caddyForwardAuth,
  caddy,
  apacheOpenidc,
  apache,
  node,
]
