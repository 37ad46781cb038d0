/**
 * What this instance has cut for the revocations of the last seconds, which its beats repeat: a message may
 * be lost, and there may be no bus.
 */

import type { OpenCounts } from '../../seats-admin/model/revocation.ts'
import type { CutReport } from '../../seats-admin/model/registered-instance.ts'
import type { Clock } from './clock.ts'

/** Milliseconds from the commit within which an instance has to say what it has cut. */
export const CUT_WITHIN = 2000
/** Milliseconds that a report is repeated: the writer's wait, with a slow store. */
const REPEATED = 2 * CUT_WITHIN
/** The most reports of one beat, of some 60 bytes each. */
const MAX_REPORTS = 200

export class CutReports {
  readonly #clock: Pick<Clock, 'now'>
  /** Mark → the report, and when it is dropped, in monotonic ms. The oldest first. */
  readonly #reports = new Map<number, CutReport & { readonly until: number }>()
  /** Reports that no beat has carried yet. */
  #hasNew = false

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get hasNew(): boolean {
    return this.#hasNew
  }

  add(mark: number, cut: OpenCounts | null): void {
    if (this.#reports.has(mark)) return
    this.#hasNew = true
    this.#reports.set(mark, { mark, cut, until: this.#clock.now() + REPEATED })
    const [oldest] = this.#reports.keys()
    if (this.#reports.size > MAX_REPORTS && oldest !== undefined) this.#reports.delete(oldest)
  }

  /** The reports for the next beat. */
  take(): readonly CutReport[] {
    this.#hasNew = false
    const now = this.#clock.now()
    for (const [mark, { until }] of this.#reports) if (until <= now) this.#reports.delete(mark)
    return [...this.#reports.values()].map(({ mark, cut }) => ({ mark, cut }))
  }
}
