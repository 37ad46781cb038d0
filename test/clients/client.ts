/** Requests of the `fetch` that Node.js itself has: argv[2] is JSON with base, asked, upload. Prints a result a line. */

import { subscribe } from 'node:diagnostics_channel'
import type { TLSSocket } from 'node:tls'

interface Asked {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

interface Options {
  readonly base: string
  readonly asked: readonly Asked[]
  /** Bytes. */
  readonly upload: number
}

const { base, asked, upload } = JSON.parse(process.argv[2] ?? '') as Options
let version = '?'
subscribe('undici:client:connected', (message) => {
  const { socket } = message as { socket: TLSSocket }
  version = socket.alpnProtocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1'
})
for (const { what, method, path, headers } of asked) {
  const body = method === 'POST' ? 'x'.repeat(upload) : null
  const response = await fetch(base + path, { method, headers, body })
  const { byteLength } = await response.arrayBuffer()
  console.log(JSON.stringify([what, response.status, version, byteLength]))
}
