/** A TLS connection for each request, with a full handshake or a resumed session: `handshake-client.ts` in its own process. */

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bound, loadCores } from './cores.ts'
import type { HandshakeLoad } from './handshake-client.ts'
import type { Load, Loaded } from './load-settings.ts'
import { readRequests } from './read-requests.ts'

const CLIENT = fileURLToPath(new URL('./handshake-client.ts', import.meta.url))
/** Connections that are open at once. */
const AT_ONCE = 16
/** Milliseconds beyond its time that the client may take. */
const MARGIN = 30_000

export async function byHandshakes(resume: boolean, load: Load): Promise<Loaded> {
  const { port, requests, from, seconds, workers } = load
  const { method, path, headers } = readRequests(requests, from).next().value
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers]
  const setup: HandshakeLoad = {
    port,
    seconds,
    resume,
    atOnce: AT_ONCE,
    head: `${lines.join('\r\n')}\r\n\r\n`,
  }
  // In a file, because a failure shows the command line, which must not contain a token.
  const file = `${requests.list}.handshakes.json`
  writeFileSync(file, JSON.stringify(setup), { mode: 0o600 })
  const [program = '', ...args] = bound(loadCores(workers), [process.execPath, CLIENT, file])
  const { stdout } = await promisify(execFile)(program, args, { timeout: seconds * 1000 + MARGIN })
  return JSON.parse(stdout) as Loaded
}
