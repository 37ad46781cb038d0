/** The record of a run, which counts events, and its report. Its memory is bounded, whatever the duration. */

import type { runDrill } from './drill-command.ts'
import {
  Coverage,
  type Distribution,
  distributionOf,
  type Read,
  type Subject,
  type Violation,
  type ViolationKind,
  type Write,
} from './staleness.ts'

/** The most violations that the report describes; all are counted. */
const MOST_DESCRIBED = 1000
/** The most writes that are watched for until each place shows them. */
const MOST_AWAITED = 100
/** The most request ids of answers that are remembered. */
const MOST_IDS = 100_000

type PlaceRecord = ReturnType<typeof emptyPlace>

type ViolationDetails = Omit<Violation, 'kind'> & {
  readonly kind: ViolationKind | 'open_stream' | 'no_order'
  /** For `no_order`, a text for each operation of the contradiction. */
  readonly operations?: readonly string[]
}

/** What was checked with several writers. */
export interface HistoriesReport {
  readonly writers: number
  readonly scenes: number
  /** The number of writes, reads and decisions whose order was checked. */
  readonly operations: number
  /** The number of operations in parts of the history that are too wide for the search. */
  readonly unchecked: number
}

export type ViolationReport = ReturnType<RunRecord['described']>

export interface Untested {
  readonly what: string
  readonly why: string
}

export type RunReport = ReturnType<RunRecord['report']>

export class RunRecord {
  /** The monotonic clock in ms. */
  readonly now: () => number
  readonly #zero: number
  readonly #startedAt: number
  readonly #places: ReadonlyMap<string, PlaceRecord>
  readonly #writeTimes: number[] = []
  readonly #operations = new Map<string, number>()
  readonly #unanswered = new Map<string, number>()
  readonly #cuts: number[] = []
  readonly #violations: ViolationReport[] = []
  readonly #untested = new Map<string, string>()
  /** The places that have shown each write. */
  readonly #awaited = new Map<Write, Set<string>>()
  /** The request ids of the answers to reads. A gateway gives each answer an id of its own. */
  readonly #ids = new Set<string>()
  #repeated = 0
  #violationsTotal = 0
  #longestStale: number | null = null
  #end: number | null = null
  /** The command of `--during`. */
  during: Awaited<ReturnType<typeof runDrill>> | null = null
  /** The counts with several writers; null if there is one writer, whose reads are judged one by one. */
  histories: HistoriesReport | null = null

  /**
   * Starts a record.
   *
   * @param now the monotonic clock in ms
   * @param startedAt the same moment in ms since the epoch
   */
  constructor(places: readonly string[], now: () => number, startedAt: number) {
    this.now = now
    this.#zero = now()
    this.#startedAt = startedAt
    this.#places = new Map(places.map((place) => [place, emptyPlace()]))
  }

  get violations(): number {
    return this.#violationsTotal
  }

  get reads(): number {
    return sum([...this.#places.values()].map(({ reads }) => reads))
  }

  get writes(): number {
    return this.#writeTimes.length
  }

  /** Whether a write had no 2xx, and may have taken effect. */
  get hasUnanswered(): boolean {
    return this.#unanswered.size > 0
  }

  /** The time in ms since the start. */
  get elapsed(): number {
    return this.sinceStart(this.#end ?? this.now())
  }

  /** The number of writes of this operation with a 2xx. */
  timesOf(operation: string): number {
    return this.#operations.get(operation) ?? 0
  }

  sinceStart(moment: number): number {
    return moment - this.#zero
  }

  /** Notes that there is a credential to read from now on. */
  beginReads(): void {
    for (const place of this.#places.values()) place.coverage ??= new Coverage(this.now())
  }

  /** Notes that no more reads are sent. */
  endReads(): void {
    this.#end = this.now()
  }

  /** Counts a decided read, which is judged later. */
  decided(read: Pick<Read, 'place' | 'began' | 'requestId'>): void {
    const place = this.#placeOf(read.place)
    this.#note(read.requestId)
    place.reads++
    place.coverage?.read(read)
  }

  /** Counts and judges a decided read. */
  read<C>(subject: Subject<C>, read: Read): void {
    this.decided(read)
    const violation = subject.judge(read)
    if (violation !== null) this.violation(violation)
    const tested = subject.testedBy(read)
    if (tested !== null) this.#placeOf(read.place).tested.add(tested.operation)
    const write = subject.shownBy(read)
    if (write !== null) this.#seen(write, read)
  }

  #note(requestId: string): void {
    if (requestId === '') return
    if (this.#ids.has(requestId)) this.#repeated++
    this.#ids.add(requestId)
    const [oldest] = this.#ids
    if (this.#ids.size > MOST_IDS && oldest !== undefined) this.#ids.delete(oldest)
  }

  undecided(place: string, reason: string): void {
    add(this.#placeOf(place).undecided, reason)
  }

  /** Counts a write with a 2xx. */
  wrote(write: Write): void {
    this.#writeTimes.push(write.answered - write.began)
    add(this.#operations, write.operation)
    for (const place of this.#awaited.get(write) ?? []) this.#placeOf(place).seen.push(0)
  }

  /** Counts a write without a 2xx. */
  unanswered(reason: string): void {
    add(this.#unanswered, reason)
  }

  /** Counts an open stream that was cut. @param ms the time from the 2xx of the write that took its right */
  cut(ms: number): void {
    this.#cuts.push(ms)
  }

  /** Notes what was not tested; the first reason is kept. */
  notTested(what: string, why: string): void {
    if (!this.#untested.has(what)) this.#untested.set(what, why)
  }

  violation(violation: ViolationDetails): void {
    this.#violationsTotal++
    const { kind, read, write } = violation
    if (kind === 'stale') this.#longestStale = Math.max(this.#longestStale ?? 0, read.began - write.answered)
    this.#placeOf(read.place).violations++
    if (this.#violations.length < MOST_DESCRIBED) this.#violations.push(this.described(violation))
  }

  /** A violation as the report has it. */
  described({ kind, subject, read, write, expected, operations }: ViolationDetails) {
    return {
      kind,
      subject,
      place: read.place,
      // RFC 3339, by the clock of the machine that ran this command.
      began_at: this.#wall(read.began),
      ended_at: this.#wall(read.ended),
      // Since the start of the run, by the monotonic clock, as below.
      began_ms: rounded(this.sinceStart(read.began)),
      ended_ms: rounded(this.sinceStart(read.ended)),
      answer: read.answer,
      expected,
      request_id: read.requestId,
      write: {
        operation: write.operation,
        place: write.place,
        answered_at: this.#wall(write.answered),
        answered_ms: rounded(this.sinceStart(write.answered)),
        request_id: write.requestId,
      },
      ...(operations === undefined ? {} : { operations }),
    }
  }

  /**
   * The report. Operations that this run did not make, or that no read tested, are listed as not tested.
   *
   * @param unseen the operations that no read tests by itself
   */
  report(operations: readonly string[], unseen: readonly string[] = []) {
    const end = this.#end ?? this.now()
    for (const operation of operations)
      if (!this.#operations.has(operation))
        this.notTested(operation, 'the run ended before one was answered with 2xx')
      else if (!unseen.includes(operation)) this.#requireReads(operation)
    const places = [...this.#places].map(([place, record]) => placeReport(place, record, end))
    return {
      started_at: this.#wall(this.#zero),
      duration_ms: rounded(this.elapsed),
      reads: this.reads,
      // Reads with the answer of an earlier one: a cache is in between.
      repeated_answers: this.#repeated,
      undecided: sum(places.flatMap(({ undecided }) => Object.values(undecided))),
      // Writes with a 2xx, in all and by operation.
      writes: this.writes,
      operations: Object.fromEntries(this.#operations),
      // Writes without a 2xx, by reason: their outcome is unknown.
      unanswered: Object.fromEntries(this.#unanswered),
      violations: this.#violations as readonly ViolationReport[],
      violations_total: this.#violationsTotal,
      // From the 2xx until the beginning of the last read that was decided on the state before; null: there
      // was none.
      longest_stale_ms: this.#longestStale === null ? null : rounded(this.#longestStale),
      write_ms: figures(this.#writeTimes),
      seen_ms: figures([...this.#places.values()].flatMap(({ seen }) => seen)),
      stream_cut_ms: figures(this.#cuts),
      // The largest of any place.
      longest_unread_ms: Math.max(0, ...places.map(({ longest_unread_ms: longest }) => longest)),
      places,
      not_tested: [...this.#untested].map(([what, why]): Untested => ({ what, why })),
      during: this.during,
      // The counts with several writers; null if there is one.
      histories: this.histories,
    }
  }

  /** Requires that each place has tested a write of this operation, or lists it as not tested there. */
  #requireReads(operation: string): void {
    const without = [...this.#places].flatMap(([place, { tested }]) => (tested.has(operation) ? [] : [place]))
    const why = 'no read that began after its 2xx could tell it from the state before'
    if (without.length === this.#places.size) this.notTested(operation, why)
    else for (const place of without) this.notTested(`${operation} at ${place}`, why)
  }

  /** Notes the first read of a place that shows the write. */
  #seen(write: Write, { place, ended }: Read): void {
    let places = this.#awaited.get(write)
    if (places === undefined) {
      places = new Set()
      this.#awaited.set(write, places)
      const [oldest] = this.#awaited.keys()
      if (this.#awaited.size > MOST_AWAITED && oldest !== undefined) this.#awaited.delete(oldest)
    }
    if (places.has(place)) return
    places.add(place)
    // A read before the 2xx counts when the 2xx arrives.
    if (write.answered !== Infinity) this.#placeOf(place).seen.push(Math.max(0, ended - write.answered))
  }

  #placeOf(name: string): PlaceRecord {
    const place = this.#places.get(name)
    if (place === undefined) throw new Error(`no place ${name}`)
    return place
  }

  #wall(moment: number): string {
    return new Date(this.#startedAt + this.sinceStart(moment)).toISOString()
  }
}

function emptyPlace() {
  return {
    reads: 0,
    violations: 0,
    undecided: new Map<string, number>(),
    seen: [] as number[],
    // The operations of the writes that reads here have tested.
    tested: new Set<string>(),
    coverage: null as Coverage | null,
  }
}

function placeReport(
  place: string,
  { reads, violations, undecided, seen, coverage }: PlaceRecord,
  end: number,
) {
  return {
    // The address.
    place,
    reads,
    // The number of all violations, including those that the report does not describe.
    violations,
    // The reads without a decision, by reason.
    undecided: Object.fromEntries(undecided),
    // From the 2xx of a write until a read showed it here.
    seen_ms: figures(seen),
    longest_unread_ms: rounded(coverage?.longest(end) ?? 0),
  }
}

function figures(values: readonly number[]): Distribution {
  const { count, p50, p99, max } = distributionOf(values)
  const of = (value: number | null) => (value === null ? null : rounded(value))
  return { count, p50: of(p50), p99: of(p99), max: of(max) }
}

/** A value to hundredths of a millisecond. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
