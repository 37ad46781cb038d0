/** Lists of requests as the load programs read them: a file, a request a line. Made by the workloads. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Requests {
  readonly method: 'GET' | 'POST'
  /** Header lines that every one of them has. */
  readonly headers: readonly string[]
  /** Bytes. */
  readonly body: number
  /** A file of `{path}TAB{header line}`, one a request; the header line may be empty. */
  readonly list: string
  readonly count: number
  /** No request may be sent twice; else the list is sent over and over. */
  readonly once: boolean
}

export interface RequestsSetup {
  readonly method?: 'GET' | 'POST'
  readonly headers?: readonly string[]
  readonly body?: number
  readonly once?: boolean
  /** Path and credential of each. */
  readonly each: readonly (readonly [path: string, credential: string])[]
}

/** @param name of the file in the folder */
export function writeRequests(folder: string, name: string, setup: RequestsSetup): Requests {
  const { method = 'GET', headers = [], body = 0, once = false, each } = setup
  const list = join(folder, name)
  writeFileSync(list, `${each.map(([path, credential]) => `${path}\t${credential}`).join('\n')}\n`, {
    mode: 0o600,
  })
  return { method, headers, body, list, count: each.length, once }
}
