/** The refused requests of access logs, grouped: who was refused what. */

import { type RequestLine, requestLine } from './replay/logged-request.ts'

export interface RefusedGroup {
  readonly code: string
  readonly method: string | null
  /** The id of the entry; null if none matched, or if the request was refused earlier. */
  readonly route: string | null
  readonly permission: string | null
  readonly space: string | null
  /** The host of the last request, as the client wrote it. Requests without an entry are grouped by it. */
  host: string | null
  /** The path of the last request. */
  path: string | null
  /** The tenant; null if no signature and no key was right. */
  readonly tenant: string | null
  readonly user: string | null
  count: number
  /** The time of the last request, in RFC 3339. */
  last: string
  /** The id of the last request. */
  request_id: string
  /** Other spaces in which the last caller's Seats hold the permission. */
  granted_in: readonly string[]
  /** The reason of the last refusal; null if an older version wrote the line. */
  detail: string | null
}

interface RefusedFilter {
  /** The earliest time in ms since the epoch; null: any. */
  readonly since: number | null
  readonly tenant: string | null
  readonly user: string | null
}

/** The most groups. Clients choose their spaces, so the number of groups has no other bound. */
const MAX_GROUPS = 10_000

/** The codes that do not refuse a right: an allowed request, or a fault of the upstream. */
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

  /** Counts a line. Lines of anything but requests are ignored. */
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

  /** Whether there are lines, but no requests, whatever the filter: then this is no access log. */
  get isOther(): boolean {
    return this.#lines > 0 && this.#requestLines === 0
  }

  /**
   * The result, the most frequent group first. `requests` has allowed ones too, as far as the filter accepts.
   */
  result() {
    const groups = [...this.#groups.values()].sort(
      (one, other) => other.count - one.count || (one.last < other.last ? 1 : -1),
    )
    // The number of requests in groups beyond `MAX_GROUPS`.
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
    // The lines of several workers and logs come in any order.
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
