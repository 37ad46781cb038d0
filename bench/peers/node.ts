/** Node.js's own server, which responds by itself: the lower bound for proxies in Node.js. */

import { nodeProgram } from './node-program.ts'
import type { Peer } from './peer.ts'

export const node: Peer = {
  name: 'node',
  label: 'Node.js http server, answers itself',
  authorises: false,
  available: () => null,
  start: nodeProgram('node', false),
}
