/** The configuration of a program of the bench, and its access log. */

import { readFileSync } from 'node:fs'
import pino from 'pino'
import type { ServerSetup } from '../peers/node-program.ts'

export function readSetup(): ServerSetup {
  process.once('SIGTERM', () => process.exit())
  return JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ServerSetup
}

/** pino into a file, 4 KiB at a time, as in Seatgate: the fastest logging in Node.js. */
export function openAccessLog({ log }: ServerSetup): pino.Logger {
  return pino({ base: null }, pino.destination({ dest: log, minLength: 4096, sync: true }))
}

/** The usual fields of an access log. */
export function line(
  { method = '', url = '', socket }: LoggedRequest,
  status: number,
  begun: number,
): Readonly<Record<string, string | number>> {
  const path = url.split('?', 1)[0] ?? ''
  return { method, path, status, client: socket.remoteAddress ?? '', ms: performance.now() - begun }
}

interface LoggedRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly socket: { readonly remoteAddress?: string | undefined }
}
