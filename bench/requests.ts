/**
 * Lists of requests as the load programs read them, a request a line, and which status each is planned to get. Made by the
 * workloads.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Status = 200 | 401 | 403

/** In a header line: here a load program puts a token that it sends only once. */
export const NEW_TOKEN = '{new}'

export interface PlannedRequest {
  readonly method?: string
  readonly path: string
  readonly headers: readonly string[]
  /** Bytes. */
  readonly body?: number
  /** Of the answer. */
  readonly status?: Status
}

export interface Requests {
  /**
   * A file, sent over and over: method, path, bytes of the body, and the header lines, all parted by tabs. `wrk.lua` and
   * `readRequests` read it.
   */
  readonly list: string
  /** Of the answer to each. */
  readonly statuses: readonly Status[]
  /** Tokens that are sent once each, a line each; null where the list needs none. */
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

/** How many of so many requests, the list sent over and over, are planned to get the status. */
export function plannedOf({ statuses }: Requests, status: Status, from: number, count: number): number {
  const within = (end: number) => statuses.slice(0, end).filter((each) => each === status).length
  const before = (end: number) =>
    Math.floor(end / statuses.length) * within(statuses.length) + within(end % statuses.length)
  return before(from + count) - before(from)
}
