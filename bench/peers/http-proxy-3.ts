/** http-proxy-3, the maintained http-proxy: bare, and with a token check before it. */

import { nodeProgram } from './node-program.ts'
import type { Peer } from './peer.ts'

export const httpProxy3: Peer = {
  name: 'http-proxy-3',
  label: 'http-proxy-3',
  authorises: false,
  available: () => null,
  start: nodeProgram('http-proxy-3', false),
}

export const httpProxy3Jwt: Peer = {
  name: 'http-proxy-3-jwt',
  label: 'http-proxy-3 with jose and a cache',
  authorises: true,
  available: () => null,
  start: nodeProgram('http-proxy-3', true),
}
