/** Verifies a tenant's chain of audit entries, read in parts: memory is bounded. */

import type { AuditHead, AuditStart } from '../model/audit.ts'
import type { ChainReading } from './audit-store.ts'
import { isIntact } from './audit-chain.ts'
import { integer, type Row, text, textOrNull } from './rows.ts'

/**
 * - `changed`: the entry is not the one that was written
 * - `missing`: entries up to the next one are gone, at the beginning, in between or at the end
 * - `unexpected`: an entry with a number that another one has or had: inserted, or moved here
 * - `unlinked`: the entry does not follow the one before it: one of the two was replaced
 * - `head`: the newest entry is not the one that the store or the given head names
 * - `before`: the entry does not begin where the one before it on the same target ended
 * - `row`: a row of the store is not what its last entry says
 */
type AuditFault = 'changed' | 'missing' | 'unexpected' | 'unlinked' | 'head' | 'before' | 'row'

export interface AuditFinding {
  /** The number of the entry; 0: there is none. */
  readonly seq: number
  readonly fault: AuditFault
  readonly message: string
}

/** Findings of one verification; further ones are counted. */
const MAX_FINDINGS = 100

export class Findings {
  readonly findings: AuditFinding[] = []
  /** The number of all findings, including those that {@link findings} has no room for. */
  count = 0

  protected add(seq: number, fault: AuditFault, message: string): void {
    this.count++
    if (this.findings.length < MAX_FINDINGS) this.findings.push({ seq, fault, message })
  }
}

export class AuditVerifier extends Findings {
  entries = 0
  #start: AuditStart | null = null
  #next = 1
  /** The hash of the entry before the next one. */
  #prev: string | null = null
  /** The newest entry, as the store names it; null: the tenant has none. */
  newest: AuditHead | null = null
  /** The id after which to read on. */
  after = ''
  readonly #expected: AuditHead | null
  #expectedFound = false

  /** @param expected an entry that the chain must have, such as a head that a log has shown; null: none */
  constructor(expected: AuditHead | null) {
    super()
    this.#expected = expected
  }

  /** The oldest entry that is kept. */
  get start(): number {
    return this.#start?.seq ?? 1
  }

  /** @returns whether there is more to read */
  verify({ rows, start, head }: ChainReading): boolean {
    // Retention may have gone past what was read: the entries in between are no longer kept.
    if (this.#start === null || start.seq > this.#next) this.#begin(start)
    for (const row of rows) this.#entry(row)
    if (rows.length > 0) return true
    this.#end(head)
    return false
  }

  #begin(start: AuditStart): void {
    this.#start ??= start
    this.#next = start.seq
    this.#prev = start.prev
  }

  #entry(row: Row): void {
    const seq = integer(row, 'seq')
    this.entries++
    this.after = text(row, 'id')
    if (!isIntact(row)) this.add(seq, 'changed', `entry ${seq} was changed after it was written`)
    if (seq < this.#next) this.add(seq, 'unexpected', `entry ${seq} stands behind entry ${this.#next - 1}`)
    else if (seq > this.#next) this.#missing(seq - 1)
    else if (textOrNull(row, 'prev') !== this.#prev)
      this.add(seq, 'unlinked', `entry ${seq} does not follow the one before it: one of the two was replaced`)
    const hash = text(row, 'hash')
    if (seq === this.#expected?.seq && hash === this.#expected.hash) this.#expectedFound = true
    this.#next = Math.max(seq + 1, this.#next)
    this.#prev = hash
  }

  #missing(last: number): void {
    const first = this.#next
    const what = first === last ? `entry ${first} is` : `entries ${first} to ${last} are`
    this.add(first, 'missing', `${what} missing`)
  }

  #end(head: AuditHead | null): void {
    this.newest = head
    const newest = this.#next - 1
    if ((head?.seq ?? 0) > newest) this.#missing(head?.seq ?? 0)
    else if ((head?.seq ?? 0) < newest)
      this.add(newest, 'head', `the store names entry ${head?.seq ?? 0} as the newest, but has ${newest}`)
    else if (head !== null && head.hash !== this.#prev)
      this.add(newest, 'head', `entry ${newest} is not the one that the store names as the newest`)
    const { seq = 0 } = this.#expected ?? {}
    if (this.#expected === null || this.#expectedFound || this.#isAnchor(this.#expected)) return
    if (seq < this.start - 1)
      this.add(
        seq,
        'head',
        `entry ${seq} is no longer kept: the chain cannot be compared with the given hash`,
      )
    else if (seq > newest) this.#missing(seq)
    else this.add(seq, 'head', `entry ${seq} has another hash than the given one`)
  }

  /** Whether it is the entry before the oldest one kept. */
  #isAnchor({ seq, hash }: AuditHead): boolean {
    return seq === this.start - 1 && hash === this.#start?.prev
  }
}
