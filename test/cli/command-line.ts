/** Runs `seatgate` as a user does, in a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import type { Test } from 'tap'
import { bundled } from '../support/bundled.ts'
import { writeFiles } from '../support/configuration.ts'
import { MAIN, SECRET } from '../support/gateway-process.ts'
import { serverFolder } from '../support/servers/folder.ts'

export { MAIN, SECRET }

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export function seatgate(
  cwd: string,
  args: readonly string[],
  /** Beside those of this process. Undefined: not set. */
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Ran> {
  const variables = { ...process.env, ...bundled(), ACME_SECRET: SECRET, ...env }
  return outcomeOf(spawn(process.execPath, [MAIN, ...args], { cwd, env: variables }))
}

/** Resolves once the process has ended. */
export function outcomeOf(child: ChildProcess): Promise<Ran> {
  let [out, err] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (chunk) => (out += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk) => (err += chunk))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}

/** A folder with a configuration and the given files. */
export function folderWith(t: Test, files: Record<string, string>): string {
  const folder = serverFolder(t, 'cli')
  writeFiles(folder, files)
  return folder
}

export const CONFIG = `listen: 127.0.0.1:0
ops: 127.0.0.1:0
store: sqlite:./seatgate.db
tenants:
  acme: { token: { secrets: ["\${ACME_SECRET}"] } }
upstreams:
  trainings: { targets: ["\${TRAININGS_URL:-http://127.0.0.1:9}"] }
routes: [routes/*.yaml]
`

export const ROUTES = `upstream: trainings
routes:
  GET /v1/trainings: trainings:list
  GET /v1/me: authenticated
  GET /docs/*: public
`
