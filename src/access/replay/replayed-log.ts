/** Decides the requests of a log again, and counts those with another answer, in bounded memory. */

import { Judge, type ReplaySubject, type Verdict } from './judge.ts'
import { type LoggedCaller, type LoggedRequest, readLine } from './logged-request.ts'
import type { Reason } from './unjudged-reasons.ts'

export interface ReplayGroup {
  /** The former answer: `allow`, or the code of a refusal. */
  readonly from: string
  readonly to: string
  /** The method; `*` stands for all that had no room, as one group. */
  readonly method: string
  /** The id of the entry that answers now; null if none does. */
  readonly route: string | null
  readonly count: number
  /** The most frequent callers as `tenant/user`; null for lines without one. */
  readonly callers: readonly { readonly caller: string | null; readonly count: number }[]
  /** Whether there were many callers: a count may be too high by a 64th of the group's. */
  readonly callers_approximate?: true
}

interface Change extends Pick<ReplayGroup, 'from' | 'to' | 'method' | 'route'> {
  readonly caller: LoggedCaller | null
}

/** The most groups by method and entry. Further ones are grouped by their codes alone, which are few. */
const MOST_GROUPS = 2000
const MOST_CALLERS = 5
/** The most characters of a caller. */
const MOST_CHARACTERS = 200

interface Group extends Omit<ReplayGroup, 'callers' | 'callers_approximate' | 'count'> {
  count: number
  readonly callers: FrequentTexts
}

/** The number of counters. Any text with more than this share of all texts is among them. */
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

  /** The number of all lines so far. */
  get requests(): number {
    return this.#same + this.#changed + this.#unjudgedLines
  }

  /** The result; `requests` is the sum of `same`, `changed` and all of `unjudged`. */
  result() {
    const unjudged: Partial<Record<Reason, number>> = Object.fromEntries(
      [...this.#unjudged].sort(([, a], [, b]) => b - a),
    )
    // The groups, the most frequent first.
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

  /** Counts a line, unless it is empty. A promise if the store is asked, which rejects if that fails. */
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

/** The key for no caller. Each name of a caller has a `/`. */
const NO_CALLER = ''

/** The name of a caller. The id of a tenant has no `/`. */
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
 * The most frequent of any number of texts, in bounded memory: the Space-Saving algorithm (Metwally, Agrawal,
 * El Abbadi: Efficient Computation of Frequent and Top-k Elements in Data Streams, 2005).
 */
export class FrequentTexts {
  readonly #counts = new Map<string, number>()
  #isExact = true

  /** Whether counts are exact. With more texts than counters, a count may be too high, but not too low. */
  get isExact(): boolean {
    return this.#isExact
  }

  add(text: string): void {
    const count = this.#counts.get(text)
    if (count !== undefined) this.#counts.set(text, count + 1)
    else if (this.#counts.size < COUNTERS) this.#counts.set(text, 1)
    else this.#replaceRarest(text)
  }

  /** Gives the new text the count of the rarest one: it may have come as often, and been replaced. */
  #replaceRarest(text: string): void {
    let [rarest, least] = ['', Infinity]
    for (const [each, count] of this.#counts) if (count < least) [rarest, least] = [each, count]
    this.#counts.delete(rarest)
    this.#counts.set(text, least + 1)
    this.#isExact = false
  }

  /** The most frequent texts, by descending count. */
  top(most: number): [text: string, count: number][] {
    return [...this.#counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1)).slice(0, most)
  }
}
