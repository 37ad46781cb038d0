/** Counts what a replay finds, in bounded memory. */

import { FrequentTexts } from './frequent.ts'
import type { LoggedCaller } from './logged-request.ts'
import type { Reason } from './unjudged-reasons.ts'

export interface ReplayResult {
  /** `same`, `changed` and all of `unjudged` together. */
  readonly requests: number
  readonly same: number
  readonly changed: number
  readonly unjudged: Readonly<Partial<Record<Reason, number>>>
  /** The most frequent first. */
  readonly groups: readonly ReplayGroup[]
}

export interface ReplayGroup {
  /** `allow`, or the code of a refusal. */
  readonly from: string
  readonly to: string
  /** `*`: any, in a group of all that had no room. */
  readonly method: string
  /** Id of the entry that answers now; null: none does. */
  readonly route: string | null
  readonly count: number
  /** The most frequent. `caller` is `tenant/user`; null: the line has none. */
  readonly callers: readonly { readonly caller: string | null; readonly count: number }[]
  /** There were many: the counts of callers may be too high, by a sixty-fourth of the group's at most. */
  readonly callers_approximate?: true
}

export interface Change {
  readonly from: string
  readonly to: string
  readonly method: string
  readonly route: string | null
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
    const known = this.#groups.get(key)
    if (known !== undefined) return known
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

  result(): ReplayResult {
    const unjudged = Object.fromEntries([...this.#unjudged].sort(([, a], [, b]) => b - a))
    const groups = [...this.#groups.values()].map(shown).sort((a, b) => b.count - a.count)
    return { requests: this.requests, same: this.#same, changed: this.#changed, unjudged, groups }
  }
}

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
