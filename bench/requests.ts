/** Lists of requests in the format of the load programs, a request a line, and the planned status of each. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Status = 200 | 401 | 403

/** Placeholder in a header line: a load program replaces it by a single-use token. */
export const NEW_TOKEN = '{new}'

export interface PlannedRequest {
  readonly method?: string
  readonly path: string
  readonly headers: readonly string[]
  /** The length of the body in bytes. */
  readonly body?: number
  /** The planned status of the response. */
  readonly status?: Status
}

export interface Requests {
  /**
   * A file that is sent repeatedly: method, path, bytes of the body, and the header lines, separated by tabs.
   * `wrk.lua` and `readRequests` read it.
   */
  readonly list: string
  /** The planned status of the response to each request. */
  readonly statuses: readonly Status[]
  /** Single-use tokens, a line each; null: the list needs none. */
  readonly newTokens: NewTokens | null
}

export interface NewTokens {
  readonly list: string
  readonly count: number
}

/** @param name of the files in the folder, without their extension */
export function writeRequests(
  folder: string,
  name: string,
  requests: readonly PlannedRequest[],
  newTokens: readonly string[] = [],
): Requests {
  mkdirSync(folder, { recursive: true })
  const write = (extension: string, lines: readonly string[]) => {
    const list = join(folder, `${name}.${extension}`)
    writeFileSync(list, `${lines.join('\n')}\n`, { mode: 0o600 })
    return list
  }
  return {
    list: write('requests', requests.map(lineOf)),
    statuses: requests.map(({ status = 200 }) => status),
    newTokens: newTokens.length === 0 ? null : { list: write('tokens', newTokens), count: newTokens.length },
  }
}

function lineOf({ method = 'GET', path, headers, body = 0 }: PlannedRequest): string {
  return [method, path, `${body}`, ...headers].join('\t')
}

/** The number of requests with this planned status, among this many of the repeated list. */
export function plannedOf({ statuses }: Requests, status: Status, from: number, count: number): number {
  const within = (end: number) => statuses.slice(0, end).filter((each) => each === status).length
  const before = (end: number) =>
    Math.floor(end / statuses.length) * within(statuses.length) + within(end % statuses.length)
  return before(from + count) - before(from)
}
