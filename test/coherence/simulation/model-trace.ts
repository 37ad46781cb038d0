/**
 * What happens in a simulated world, in the words of the model (`../model/lease.pml`), which accepts it or not. In the model each
 * gateway has one worker, the positions of the feed are the numbers of the writes, and the records are its keys.
 */

import type { Lease } from '../../../src/coherence/lease.ts'
import type { Reading } from '../../../src/coherence/feed-reading.ts'
import { samePosition } from '../../../src/coherence/feed-reading.ts'
import type { AsOf } from '../../../src/decision/seats/read-through.ts'
import type { Acknowledgement, Announcement } from '../../../src/coherence/bus.ts'
import type { Decider } from '../../../src/coherence/deciders.ts'
import type { Instance } from '../../../src/coherence/instance.ts'
import type { Committed, Position } from '../../../seats-admin/model/change.ts'
import type { Database } from './database.ts'
import type { Machine, Process } from './process.ts'
import type { Question, Seen } from './questions.ts'
import type { Schedule } from './schedule.ts'
import { BLOCK, NAMES, RECORDS, recordBy, SESSION, type StoredRecord } from './records.ts'

/** In the order of their numbers in the model, from 1. */
export const WORDS = [
  ...['time', 'base', 'commit', 'announce', 'answer', 'list', 'confirm', 'confirmed', 'forget', 'leave'],
  ...['enlist', 'note', 'snapshot', 'beat', 'late', 'receive', 'lose', 'unlisted', 'get', 'apply'],
  ...['join', 'end', 'retire', 'live', 'load', 'look'],
] as const

export type Word = (typeof WORDS)[number]
export type ModelEvent = readonly [Word, ...number[]]

/** The reading of a gateway that is under way. */
interface Underway {
  readonly beat: number
  readonly applied: number
  readonly registered: boolean
}

/** The keys of the model. */
const KEYS: readonly StoredRecord[] = [...RECORDS, ...NAMES]

/** The size of the model that accepts traces. */
export const TRACED = { INSTANCES: 8, WRITES: 29, KEYS: KEYS.length, MAX_EVENTS: 20_000 } as const

/** Stands for all programs that write from outside; gateways have lower numbers. */
const OUTSIDE = TRACED.INSTANCES - 1

/** The schedule with one worker for each gateway, or none, as the model has it. */
export function inModel(schedule: Schedule): Schedule {
  const one = (workers: number) => Math.min(workers, 1)
  const actions = schedule.actions.map((action) =>
    action.kind === 'begin' ? { ...action, workers: one(action.workers) } : action,
  )
  return { ...schedule, gateways: schedule.gateways.map(one), actions, tablesInStore: false }
}

export class ModelTrace {
  readonly events: ModelEvent[]
  readonly #database: Database
  /** The last change of each write; that of 0 is the last one from before the first gateway. */
  readonly #ends: number[]
  readonly #microseconds = new Map<Machine, number>()
  readonly #readings = new Map<number, Underway>()
  #isCrowded = false
  readonly #enlisted = new Set<number>()
  readonly #workers = new Map<Decider, Process>()
  /** The workers that have joined and have not ended. */
  readonly #up = new Set<Process>()
  /** Gateway and number of its announcement → the write. */
  readonly #announced = new Map<string, number>()

  constructor(database: Database) {
    this.#database = database
    this.#ends = [database.head.seq]
    this.events = [['base', this.#goneAt(database.head.seq)]]
  }

  /** Whether something has happened for which the model has no room. */
  get isTooLarge(): boolean {
    return this.writes > TRACED.WRITES || this.#isCrowded || this.events.length > TRACED.MAX_EVENTS
  }

  get writes(): number {
    return this.#ends.length - 1
  }

  #add(process: Process, word: Word, ...values: number[]): void {
    const { machine } = process
    const now = Math.round(process.clock.now() * 1000)
    const before = this.#microseconds.get(machine)
    this.#microseconds.set(machine, now)
    if (before !== undefined && now > before) this.events.push(['time', gatewayOf(process), now - before])
    this.events.push([word, ...values])
  }

  /** The last write up to a change. */
  #writeAt(seq: number): number {
    return Math.max(
      0,
      this.#ends.findLastIndex((end) => end <= seq),
    )
  }

  commit(process: Process, { seq, changes }: Committed): void {
    const gateway = gatewayOf(process)
    this.#ends.push(seq)
    this.#add(process, 'commit', gateway, setOf(this.#database.changedBy(seq)), this.#goneAt(seq))
    if (gateway === OUTSIDE) this.announce(process, seq)
    // A renewal of the session decides by what it wrote.
    if (changes.some(({ kind, key }) => kind === 'session' && key === SESSION.id))
      this.#add(process, 'load', gateway, KEYS.indexOf(SESSION), this.writes)
  }

  #goneAt(seq: number): number {
    return setOf(KEYS.filter((record) => !this.#database.versionAt(record, seq).exists))
  }

  announce(process: Process, seq: number): void {
    this.#add(process, 'announce', this.#writeAt(seq))
  }

  answer(process: Process, seq: number): void {
    this.#add(process, 'answer', this.#writeAt(seq))
  }

  list(process: Process): void {
    this.#add(process, 'list', gatewayOf(process))
  }

  announces(process: Process, { number, seq }: Announcement): void {
    this.#announced.set(`${gatewayOf(process)} ${number}`, this.#writeAt(seq))
  }

  /** An acknowledgement is sent to another gateway, or has arrived from one. */
  acknowledgement(word: 'confirm' | 'confirmed', process: Process, acknowledgement: Acknowledgement): void {
    const { from, to, number } = acknowledgement
    const write = this.#announced.get(`${gatewayNamed(to)} ${number}`) ?? 0
    const by = gatewayNamed(from)
    this.#add(process, word, ...(word === 'confirm' ? [by, write] : [write, by]))
  }

  forget(process: Process, id: string): void {
    this.#add(process, 'forget', gatewayNamed(id))
  }

  leave(process: Process): void {
    this.#add(process, 'leave', gatewayOf(process))
  }

  enlist(process: Process): void {
    this.#enlisted.add(gatewayOf(process))
    this.#add(process, 'enlist', gatewayOf(process))
  }

  note(process: Process, beat: number, applied: number): void {
    const gateway = gatewayOf(process)
    const registered = this.#enlisted.delete(gateway)
    this.#readings.set(gateway, { beat, applied: this.#writeAt(applied), registered })
    this.#add(process, 'note', gateway, this.#writeAt(applied))
  }

  snapshot(process: Process, beat: number, found: boolean): void {
    const gateway = gatewayOf(process)
    if (this.#readings.get(gateway)?.beat === beat) this.#add(process, 'snapshot', gateway, found ? 1 : 0)
  }

  beat(process: Process, beat: number, applied: number, counts: boolean): void {
    const gateway = gatewayOf(process)
    if (this.#readings.get(gateway)?.beat === beat) this.#add(process, 'beat', gateway)
    else if (counts) this.#add(process, 'late', gateway, this.#writeAt(applied))
  }

  /** An unregistered instance registers and reads again; if it is still not listed, the reading counts without a lease. */
  receive(process: Process, beat: number, registered: boolean): void {
    const gateway = gatewayOf(process)
    const reading = this.#readings.get(gateway)
    if (reading?.beat !== beat) return
    this.#readings.delete(gateway)
    this.#add(process, registered || reading.registered ? 'receive' : 'unlisted', gateway)
  }

  lose(process: Process, beat: number): void {
    const gateway = gatewayOf(process)
    if (this.#readings.get(gateway)?.beat !== beat) return
    this.#readings.delete(gateway)
    this.#add(process, 'lose', gateway)
  }

  forks(remote: Decider, worker: Process): void {
    this.#workers.set(remote, worker)
  }

  /** Observes which worker joins; or the process itself, if it has none. The primary of a worker joins first, and does not count. */
  instance(process: Process, instance: Instance, workers: number): Instance {
    const gateway = gatewayOf(process)
    this.#isCrowded ||= gateway >= OUTSIDE
    const join: Instance['join'] = (decider) => {
      const worker = workers === 0 ? process : this.#workers.get(decider)
      // The message of a worker may arrive after its end.
      if (worker === undefined || worker.state === 'ended') return
      this.#up.add(worker)
      this.#add(process, 'join', gateway)
    }
    return observed(instance, { join })
  }

  end(process: Process): void {
    if (this.#up.delete(process)) this.#add(process, 'end', gatewayOf(process))
  }

  decide(process: Process, { credential }: Question, seen: readonly Seen[]): void {
    for (const [record, state] of seen) {
      if (!KEYS.includes(record)) continue
      // The store may have told a renewal that the session has ended, before memory knows.
      if (credential === 'cookie' && record === SESSION && state === false) continue
      const version = typeof state === 'number' ? this.#writeOf(record, state) : -1
      this.#add(process, 'look', gatewayOf(process), KEYS.indexOf(record), version, state === false ? 0 : 1)
    }
  }

  #writeOf(record: StoredRecord, tag: number): number {
    const version = this.#database.versionsOf(record).find((each) => each.tag === tag)
    return this.#writeAt(version?.seq ?? 0)
  }

  /** Observes the lease of a worker. */
  lease(process: Process, lease: Lease): Lease {
    const gateway = gatewayOf(process)
    let position: Position | null = null
    const get = ({ noted, from, head, changes }: Reading) => {
      const isWhole = changes !== null && samePosition(from, position)
      position = head
      // A worker that joins gets what the primary has read.
      if (noted === Number.NEGATIVE_INFINITY && from === null) return
      this.#add(process, 'get', gateway, this.#writeAt(head.seq), isWhole ? 0 : 1)
    }
    return observed(lease, {
      live: () => {
        if (lease.live()) this.#add(process, 'live', gateway)
      },
      applyReading: get,
      applyAnnouncement: (changes) =>
        this.#add(process, 'apply', gateway, this.#writeAt(changes.at(-1)?.seq ?? 0)),
      end: () => this.#add(process, 'retire', gateway),
    })
  }

  /** Observes what memory loads, from the store or from the shared cache. */
  source<S extends object>(process: Process, source: S): S {
    return new Proxy(source, {
      get: (_, name) => {
        const method: unknown = Reflect.get(source, name)
        const recordOf = LOADS[String(name)]
        if (typeof method !== 'function') return method
        if (recordOf === undefined) return method.bind(source)
        return async (tenant: string, id: string, ...rest: unknown[]) => {
          const value: AsOf<unknown> = await method.call(source, tenant, id, ...rest)
          const key = KEYS.indexOf(recordOf(id))
          if (key >= 0) this.#add(process, 'load', gatewayOf(process), key, this.#writeAt(value.seq))
          return value
        }
      },
    })
  }
}

/** The reads of memory → the record that they read. */
const LOADS: Readonly<Record<string, (id: string) => StoredRecord>> = {
  grantByName: recordBy,
  grantById: recordBy,
  apiKeyById: recordBy,
  readSession: recordBy,
  restrictions: () => BLOCK,
  userRestriction: () => BLOCK,
}

/** As a set of keys of the model. */
function setOf(records: readonly StoredRecord[]): number {
  return records
    .filter((record) => KEYS.includes(record))
    .reduce((set, record) => set | (1 << KEYS.indexOf(record)), 0)
}

function gatewayOf({ name }: Process): number {
  return gatewayNamed(name)
}

/** Of the name of a gateway or of a worker, such as `g2-1`. */
function gatewayNamed(name: string): number {
  const [, number] = /^g(\d+)/.exec(name) ?? []
  return number === undefined ? OUTSIDE : Number(number) - 1
}

type Methods<O> = {
  [K in keyof O]?: O[K] extends (...args: infer A) => unknown ? (...args: A) => void : never
}

/** The object, with what is told before some of its methods. */
function observed<O extends object>(object: O, before: Methods<O>): O {
  return new Proxy(object, {
    get(_, name) {
      const member: unknown = Reflect.get(object, name, object)
      if (typeof member !== 'function') return member
      const observe: unknown = Reflect.get(before, name)
      return (...args: unknown[]) => {
        if (typeof observe === 'function') observe(...args)
        return member.apply(object, args)
      }
    },
  })
}
