/** Decides the requests of a log again, and counts those that get another answer, in bounded memory. */

import { Judge, type ReplaySubject, type Verdict } from './judge.ts'
import { type LoggedCaller, type LoggedRequest, readLine } from './logged-request.ts'
import type { Reason } from './unjudged-reasons.ts'

export interface ReplayGroup {
  /** `allow`, or the code of a refusal. */
  readonly from: string
  readonly to: string
  /** `*`: each value that had no room, as one group. */
  readonly method: string
  /** Id of the entry that answers now; null: none does. */
  readonly route: string | null
  readonly count: number
  /** The most frequent. `caller` is `tenant/user`; null: the line has none. */
  readonly callers: readonly { readonly caller: string | null; readonly count: number }[]
  /** There were many: the counts of callers may be too high, by a sixty-fourth of the group's at most. */
  readonly callers_approximate?: true
}

interface Change extends Pick<ReplayGroup, 'from' | 'to' | 'method' | 'route'> {
  readonly caller: LoggedCaller | null
}

/** Groups by method and entry. What comes beyond is grouped by its codes alone, of which there are few. */
const MOST_GROUPS = 2000
const MOST_CALLERS = 5
/** Characters of a caller. */
const MOST_CHARACTERS = 200

interface Group extends Omit<ReplayGroup, 'callers' | 'callers_approximate' | 'count'> {
  count: number
  readonly callers: FrequentTexts
}

/** Counted texts. Any text that is more than one in so many of all is among them. */
const COUNTERS = 64

export class Tally {
  #same = 0
  #changed = 0
  #unjudgedLines = 0
  readonly #unjudged = new Map<Reason, number>()
  readonly #groups = new Map<string, Group>()

  same(): void {
    this.#same++
  }

  unjudged(reason: Reason): void {
    this.#unjudgedLines++
    this.#unjudged.set(reason, (this.#unjudged.get(reason) ?? 0) + 1)
  }

  changed({ caller, ...change }: Change): void {
    this.#changed++
    const group = this.#groupOf(change)
    group.count++
    group.callers.add(caller === null ? NO_CALLER : nameOf(caller))
  }

  #groupOf({ from, to, method, route }: Omit<Change, 'caller'>): Group {
    const key = JSON.stringify([from, to, method, route])
    const existing = this.#groups.get(key)
    if (existing !== undefined) return existing
    if (this.#groups.size >= MOST_GROUPS && method !== '*')
      return this.#groupOf({ from, to, method: '*', route: null })
    const group = { from, to, method, route, count: 0, callers: new FrequentTexts() }
    this.#groups.set(key, group)
    return group
  }

  /** Of all lines so far. */
  get requests(): number {
    return this.#same + this.#changed + this.#unjudgedLines
  }

  /** `requests` are `same`, `changed` and all of `unjudged` together. */
  result() {
    const unjudged: Partial<Record<Reason, number>> = Object.fromEntries(
      [...this.#unjudged].sort(([, a], [, b]) => b - a),
    )
    // The most frequent first.
    const groups = [...this.#groups.values()].map(shown).sort((a, b) => b.count - a.count)
    return { requests: this.requests, same: this.#same, changed: this.#changed, unjudged, groups }
  }
}

/** A tally of the lines of a log. */
export class Replay extends Tally {
  readonly #judge: Judge

  constructor(subject: ReplaySubject) {
    super()
    this.#judge = new Judge(subject)
  }

  /** A promise while the store is asked, which rejects where it can't be. Empty lines do not count. */
  add(line: string): void | Promise<void> {
    if (isBlank(line)) return
    const request = readLine(line)
    if (typeof request === 'string') return this.unjudged(request)
    const verdict = this.#judge.judge(request)
    if (verdict instanceof Promise) return verdict.then((result) => this.#count(request, result))
    this.#count(request, verdict)
  }

  tooLong(): void {
    this.unjudged('line_too_long')
  }

  #count({ code: from, method, caller }: LoggedRequest, verdict: Verdict | Reason): void {
    if (typeof verdict === 'string') this.unjudged(verdict)
    else if (verdict.to === from) this.same()
    else this.changed({ from, to: verdict.to, method, route: verdict.route, caller })
  }
}

/** Most lines begin with a brace. */
function isBlank(line: string): boolean {
  return line.charCodeAt(0) !== BRACE && line.trim() === ''
}

const BRACE = 0x7b

export type ReplayResult = ReturnType<Tally['result']>

/** No name of a caller: each has a `/`. */
const NO_CALLER = ''

/** The id of a tenant has no `/`. */
function nameOf({ tenant, user }: LoggedCaller): string {
  const name = `${tenant}/${user}`
  return name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS)}…` : name
}

function shown({ callers, ...group }: Group): ReplayGroup {
  const top = callers.top(MOST_CALLERS).map(([name, count]) => {
    return { caller: name === NO_CALLER ? null : name, count }
  })
  return { ...group, callers: top, ...(callers.isExact ? {} : { callers_approximate: true }) }
}

/**
 * The most frequent of any number of texts, in bounded memory: the Space-Saving algorithm (Metwally, Agrawal, El Abbadi:
 * Efficient Computation of Frequent and Top-k Elements in Data Streams, 2005).
 */
export class FrequentTexts {
  readonly #counts = new Map<string, number>()
  #isExact = true

  /** False: there were more texts than counters. A count may then be too high, but not too low. */
  get isExact(): boolean {
    return this.#isExact
  }

  add(text: string): void {
    const count = this.#counts.get(text)
    if (count !== undefined) this.#counts.set(text, count + 1)
    else if (this.#counts.size < COUNTERS) this.#counts.set(text, 1)
    else this.#replaceRarest(text)
  }

  /** The new text takes the count of the rarest: it may have come as often, and was replaced since. */
  #replaceRarest(text: string): void {
    let [rarest, least] = ['', Infinity]
    for (const [each, count] of this.#counts) if (count < least) [rarest, least] = [each, count]
    this.#counts.delete(rarest)
    this.#counts.set(text, least + 1)
    this.#isExact = false
  }

  /** By descending count. */
  top(most: number): [text: string, count: number][] {
    return [...this.#counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1)).slice(0, most)
  }
}
