/** Decides the requests of a log again, and counts those that get another answer. */

import { Judge, type ReplaySubject, type Verdict } from './judge.ts'
import { type LoggedRequest, readLine } from './logged-request.ts'
import type { Reason } from './unjudged-reasons.ts'
import { type ReplayResult, Tally } from './replay-tally.ts'

export class Replay {
  readonly #judge: Judge
  readonly #tally = new Tally()

  constructor(subject: ReplaySubject) {
    this.#judge = new Judge(subject)
  }

  /** A promise while the store is asked, which rejects where it can't be. Empty lines do not count. */
  add(line: string): void | Promise<void> {
    if (isBlank(line)) return
    const request = readLine(line)
    if (typeof request === 'string') return this.#tally.unjudged(request)
    const verdict = this.#judge.judge(request)
    if (verdict instanceof Promise) return verdict.then((known) => this.#count(request, known))
    this.#count(request, verdict)
  }

  tooLong(): void {
    this.#tally.unjudged('line_too_long')
  }

  #count({ code: from, method, caller }: LoggedRequest, verdict: Verdict | Reason): void {
    if (typeof verdict === 'string') this.#tally.unjudged(verdict)
    else if (verdict.to === from) this.#tally.same()
    else this.#tally.changed({ from, to: verdict.to, method, route: verdict.route, caller })
  }

  get requests(): number {
    return this.#tally.requests
  }

  result(): ReplayResult {
    return this.#tally.result()
  }
}

/** Most lines begin with a brace. */
function isBlank(line: string): boolean {
  return line.charCodeAt(0) !== BRACE && line.trim() === ''
}

const BRACE = 0x7b
