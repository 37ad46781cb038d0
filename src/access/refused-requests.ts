/** Who was refused what: the refused requests of access logs, grouped. */

import { type RequestLine, requestLine } from './replay/logged-request.ts'

export interface RefusedGroup {
  readonly code: string
  readonly method: string | null
  /** Id of the entry; null: none matched, or the request was refused before. */
  readonly route: string | null
  readonly permission: string | null
  readonly space: string | null
  /** The host of the last request, as the client named it. Requests without an entry are grouped by it. */
  host: string | null
  /** The path of the last request. */
  path: string | null
  /** Null: no signature and no key was right. */
  readonly tenant: string | null
  readonly user: string | null
  count: number
  /** RFC 3339: of the last one. */
  last: string
  /** Of the last one. */
  request_id: string
  /** Of the last one: other spaces in which the caller's Seats hold the permission. */
  granted_in: readonly string[]
  /** Of the last one: why it was refused; null: an older version wrote the line. */
  detail: string | null
}

interface RefusedFilter {
  /** ms since the epoch; null: all. */
  readonly since: number | null
  readonly tenant: string | null
  readonly user: string | null
}

/** Clients choose their spaces, so the number of groups has no other bound. */
const MAX_GROUPS = 10_000

/** An upstream's fault is no refusal of a right, and the answers to AuthZEN's questions are no requests of a caller. */
const NO_REFUSAL = /^(?:allow$|upstream_(?:unreachable|protocol_error|timeout)$)/

export class RefusedRequests {
  readonly #filter: RefusedFilter
  readonly #groups = new Map<string, RefusedGroup>()
  #lines = 0
  #requestLines = 0
  #requests = 0
  #refused = 0
  #further = 0

  constructor(filter: RefusedFilter) {
    this.#filter = filter
  }

  get requests(): number {
    return this.#requests
  }

  /** Lines that are no requests do not count. */
  add(text: string): void {
    this.#lines++
    const line = requestLine(text)
    if (typeof line === 'string') return
    const { code, time } = line
    if (typeof code !== 'string' || typeof time !== 'string') return
    this.#requestLines++
    if (!this.#isWanted(line, time)) return
    this.#requests++
    if (NO_REFUSAL.test(code)) return
    this.#refused++
    this.#count(line, { code, time })
  }

  /** There are lines, and none is a request, whatever the filter: they are of something else than an access log. */
  get isOther(): boolean {
    return this.#lines > 0 && this.#requestLines === 0
  }

  /** The most frequent group comes first. `requests` are all of the time, tenant and user, allowed ones included. */
  result() {
    const groups = [...this.#groups.values()].sort(
      (one, other) => other.count - one.count || (one.last < other.last ? 1 : -1),
    )
    // Requests of further groups, beyond `MAX_GROUPS`.
    const further = this.#further === 0 ? {} : { in_further_groups: this.#further }
    return { requests: this.#requests, refused: this.#refused, groups, ...further }
  }

  #isWanted(line: RequestLine, time: string): boolean {
    const { since, tenant, user } = this.#filter
    if (tenant !== null && line['tenant'] !== tenant) return false
    if (user !== null && line['user'] !== user) return false
    return since === null || Date.parse(time) >= since
  }

  #count(line: RequestLine, { code, time }: { code: string; time: string }): void {
    const identity = {
      code,
      method: textOf(line['method']),
      route: textOf(line['route']),
      permission: textOf(line['permission']),
      space: textOf(line['space']),
      tenant: textOf(line['tenant']),
      user: textOf(line['user']),
    }
    const host = textOf(line['host'])
    const key = JSON.stringify(identity.route === null ? { ...identity, host } : identity)
    const existing = this.#groups.get(key)
    if (existing === undefined && this.#groups.size >= MAX_GROUPS) return void this.#further++
    const group = existing ?? { ...identity, ...NO_REQUEST }
    this.#groups.set(key, group)
    group.count++
    // The lines of several workers, and several logs, come in any order.
    if (time < group.last) return
    group.last = time
    group.request_id = line.request_id
    group.host = host
    group.path = textOf(line['path'])
    group.granted_in = textsOf(line['granted_in'])
    group.detail = textOf(line['detail'])
  }
}

const NO_REQUEST = {
  count: 0,
  last: '',
  request_id: '',
  granted_in: [],
  host: null,
  path: null,
  detail: null,
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
