/** One run of `seatgate verify`: its writer and readers, its end, and the deletion of its objects. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Terminal } from '../command.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { PlaceClient } from './place-client.ts'
import { runDrill } from './drill-command.ts'
import { Cycle, type CycleParts, makeAnchor, type RunRevocation } from './cycle.ts'
import type { CycleRequest } from './cycle-request.ts'
import { operationsOf, UNSEEN_OPERATIONS } from './cycle-operations.ts'
import { addEntry, CanaryEntry } from './canary-entry.ts'
import { explained, isPassing, withLeft } from './run-failures.ts'
import type { Credential } from './expected-answers.ts'
import {
  managedPlaces,
  managingSpace,
  hostOf,
  type Reached,
  requireCanary,
  writePlace,
} from './managed-places.ts'
import {
  findMade,
  type MadeObject,
  type Managing,
  type NotRemoved,
  PREFIX,
  removeAll,
  runId,
} from './made-objects.ts'
import { MANY_OPERATIONS, writeAsMany } from './many-writers.ts'
import { OpenStreams } from './open-streams.ts'
import { readAll, Subjects } from './readers.ts'
import { RunRecord } from './run-record.ts'
import { GatewayTime, tenantOfKey, TrialSessions, TrialTokens } from './trial-tokens.ts'
import { Pace, RunEnded, Unanswered, Writer } from './change-writer.ts'

/** The time in ms between two writes that only delete. */
const DELETIONS = 1000
/** The default of `patience` in ms. */
const PATIENCE = 30_000
/** The time in ms that keys, tokens and blocks outlive the run if nothing else ends them. */
const OUTLIVES = 3_600_000
const REVOCATION = 'the revocation of a user'
/** The share of the duration that passes before the command of `--during` starts. */
const BEFORE_DRILL = 0.2

export interface VerificationSettings extends Reached {
  /** The duration of the run in ms. */
  readonly duration: number
  /** The time in ms between two writes. */
  readonly interval: number
  /** The number of readers at each place. */
  readonly readers: number
  readonly tokenSecret: Uint8Array | null
  /** The ids of sign-in sessions that the run ends. */
  readonly sessions: readonly string[]
  readonly during: string | null
  readonly streams: boolean
  readonly blocks: boolean
  readonly revocations: boolean
  /** Whether the run pushes route tables. */
  readonly tables: boolean
  /** The number of writers. Answers to several are judged together, and only Seats and keys change. */
  readonly writers: number
  readonly terminal: Terminal
  /** The time in ms without success after which the deletion is given up; 30 s by default. */
  readonly patience?: number
  /** A signal: when it is aborted, what was made is deleted, and the run ends. */
  readonly interrupted: AbortSignal
  /** A signal: when it is aborted, the run ends at once. */
  readonly abandoned: AbortSignal
  /** Shows the progress, from time to time. */
  progress(record: RunRecord, state: 'running' | 'deleting'): void
}

export type VerificationResult = Awaited<ReturnType<typeof verify>>

/** Runs the verification. @throws CommandFailed if it could not run; all that it made is deleted */
export async function verify(settings: VerificationSettings) {
  const { shared, interrupted } = settings
  const early = { ...settings, shared: { ...shared, signal: interrupted } }
  const run = new Run(settings, await managingSpace(early))
  try {
    await requireCanary(early)
    let failure: unknown = null
    const ended = await run.done().catch((cause: unknown) => {
      failure = cause
      return null
    })
    const { left, unsearched } = await run.deleteAll()
    if (failure !== null) throw withLeft(failure, left)
    const { id, record } = run
    const report =
      settings.writers > 1
        ? record.report(MANY_OPERATIONS, MANY_OPERATIONS)
        : record.report(operationsOf(settings), UNSEEN_OPERATIONS)
    return {
      run: id,
      record,
      report,
      // What could not be deleted.
      left,
      // What a write without a 2xx may have made could not be looked for.
      unsearched,
      // The users whose revocation stays.
      revoked: [...run.revocation.users],
      // Why the run ended early; null: it did not.
      ended,
    }
  } finally {
    await run.close()
  }
}

class Run {
  readonly id = runId()
  readonly record: RunRecord
  readonly #settings: VerificationSettings
  readonly #managed: readonly Managing[]
  /** The connections of each writer, if there are several. */
  readonly #managedByWriter: readonly (readonly Managing[])[]
  readonly #readPlaces: readonly PlaceClient[]
  readonly #made = new Map<string, MadeObject>()
  readonly #prefix = `${PREFIX}${this.id}-`
  readonly revocation: RunRevocation = { user: `${this.#prefix}revoked`, at: 0, users: new Set() }
  readonly #subjects = new Subjects<Credential>()
  /** The end of the writes. */
  readonly #writes = new AbortController()
  /** A signal that is aborted when the writes end or the run is interrupted. */
  readonly #signal: AbortSignal
  readonly #pace: Pace
  #sessions: TrialSessions | null = null

  /** Prepares a run. @param space the space in which Seats and keys are managed */
  constructor(settings: VerificationSettings, space: string) {
    const { places, shared, readers, interval, interrupted, abandoned, writers } = settings
    this.#settings = settings
    const managed = () => managedPlaces({ ...settings, shared: { ...shared, signal: abandoned } }, space)
    this.#managed = managed()
    this.#managedByWriter = writers > 1 ? Array.from({ length: writers }, managed) : []
    this.#readPlaces = places.map((place) => new PlaceClient({ ...shared, ...place, connections: readers }))
    const names = places.map(({ name }) => name)
    this.record = new RunRecord(names, () => performance.now(), Date.now())
    this.#signal = AbortSignal.any([this.#writes.signal, interrupted])
    this.#pace = new Pace(interval)
  }

  async close(): Promise<void> {
    const managed = [this.#managed, ...this.#managedByWriter].flat()
    await Promise.all([...managed, ...this.#readPlaces].map((each) => each.close()))
  }

  /**
   * Runs to the end.
   *
   * @returns why the run ended early; null if it did not
   * @throws if it could not run
   */
  async done(): Promise<string | null> {
    const { interrupted, progress, readers, writers } = this.#settings
    const { record } = this
    const reads = new AbortController()
    const showing = setInterval(() => progress(record, 'running'), 250)
    // Several writers have readers of their own.
    const readPlaces = writers > 1 ? [] : this.#readPlaces
    const reading = readAll(readPlaces, this.#subjects, record, { count: readers, signal: reads.signal })
    const timing = this.#endInTime()
    try {
      await this.#write()
      await timing
    } finally {
      this.#writes.abort()
      reads.abort()
      record.endReads()
      this.#sessions?.close()
      await reading
      await timing.catch(() => {})
      clearInterval(showing)
    }
    return interrupted.aborted ? 'it was interrupted' : null
  }

  /**
   * Ends the run in time. It lasts as long as the command of `--during`, and at most twice its duration. An
   * interruption does not end the command: half a drill may leave Redis stopped.
   */
  async #endInTime(): Promise<void> {
    const { duration, during, terminal, interrupted, abandoned } = this.#settings
    const wait = (ms: number) => sleep(ms, undefined, { signal: this.#signal }).catch(() => {})
    await wait(during === null ? duration : BEFORE_DRILL * duration)
    if (during !== null && !this.#signal.aborted) {
      const late = new AbortController()
      const limit = setTimeout(() => late.abort(), (2 - BEFORE_DRILL) * duration)
      const tell = () => terminal.printError('seatgate verify: waiting for the command of --during')
      interrupted.addEventListener('abort', tell, { once: true })
      const drill = runDrill(
        during,
        () => this.record.elapsed,
        terminal,
        AbortSignal.any([abandoned, late.signal]),
      )
      const rest = wait((1 - BEFORE_DRILL) * duration)
      this.record.during = await drill
      await rest
      clearTimeout(limit)
      interrupted.removeEventListener('abort', tell)
    }
    this.#writes.abort()
  }

  /** Writes cycle after cycle. */
  async #write(): Promise<void> {
    let parts: CycleParts | null = null
    try {
      parts = await this.#cycleParts()
      if (this.#settings.writers > 1) return await this.#writeAsMany(parts)
      for (let number = 1; ; number++) await this.#cycle(parts, number)
    } catch (cause) {
      if (!(cause instanceof RunEnded)) throw cause
    } finally {
      parts?.optional.streams?.close()
    }
  }

  async #writeAsMany(parts: CycleParts): Promise<void> {
    const { readers, interval } = this.#settings
    const writers = this.#managedByWriter.map((managed) => managed.map(writePlace))
    const own = { writers, readPlaces: this.#readPlaces, readers, interval, managed: this.#managed }
    await writeAsMany({ ...parts, ...own }).catch((cause: unknown) => {
      throw explained(cause, parts.space)
    })
  }

  /** Runs a cycle. After a write of unknown result, its objects are deleted, as far as possible now. */
  async #cycle(parts: CycleParts, number: number): Promise<void> {
    try {
      await new Cycle(parts, number).run()
      parts.writer.retire()
      return
    } catch (cause) {
      if (!(cause instanceof Unanswered) && !isPassing(cause)) throw explained(cause, parts.space)
    }
    parts.writer.forget()
    parts.optional.streams?.drop('its cycle was given up before its right was taken')
    const own = [...this.#made.values()].filter(
      ({ kind, name }) => kind !== 'tables' && name !== parts.anchor,
    )
    const [places, pace, signal, made] = [this.#managed, this.#pace, this.#signal, this.#made]
    await removeAll(own, { places, pace, signal, patience: 0, made })
  }

  async #cycleParts(): Promise<CycleParts> {
    const { places, shared, tables, streams, blocks, revocations, tokenSecret, sessions, duration, writers } =
      this.#settings
    const time = new GatewayTime()
    const lifetime = 2 * duration + OUTLIVES
    const writer = new Writer<CycleRequest>({
      places: this.#managed.map(writePlace),
      subjects: this.#subjects,
      record: this.record,
      pace: this.#pace,
      signal: this.#signal,
    })
    const prefix = this.#prefix
    let until = ''
    const parts: CycleParts = {
      writer,
      record: this.record,
      tokens: null,
      sessions: null,
      time,
      space: shared.space,
      prefix,
      anchor: `${prefix}anchor`,
      until: () => until,
      signal: this.#signal,
      made: this.#made,
      optional: {
        streams: streams && writers === 1 ? new OpenStreams(this.#readPlaces, this.record) : null,
        blocks,
        revocations,
      },
      revocation: this.revocation,
      entry: tables ? new CanaryEntry(this.id, this.#managed, places.map(hostOf)) : null,
    }
    await this.#anchored(parts)
    until = new Date(time.now() + lifetime).toISOString()
    this.#sayUntested()
    await addEntry(parts)
    if (tokenSecret === null) return parts
    const [first] = this.#readPlaces
    if (first === undefined) throw new Error('there is no place')
    const settings = {
      secret: tokenSecret,
      tenant: tenantOfKey(shared.key),
      user: `${prefix}user`,
      space: shared.space,
      lifetime: Math.ceil(lifetime / 1000),
    }
    const ask = (credential: Credential) => first.ask(credential)
    const tokens = await TrialTokens.find(settings, time, ask)
    if (sessions.length === 0) return { ...parts, tokens }
    this.#sessions = new TrialSessions(sessions, this.record, ask)
    await this.#sessions.requireLive(tokens)
    return { ...parts, tokens, sessions: this.#sessions }
  }

  /** Makes the anchor. The result may be unknown at first: a gateway may be away already. */
  async #anchored(parts: CycleParts): Promise<void> {
    for (;;)
      try {
        return await makeAnchor(parts)
      } catch (cause) {
        // The first attempt made it, although it had no answer.
        if (cause instanceof GatewayRefusal && cause.problem.code === 'seat_name_taken') return
        if (!(cause instanceof Unanswered)) throw cause
      }
  }

  #sayUntested(): void {
    const { streams, blocks, revocations, tokenSecret, sessions, writers } = this.#settings
    const { record } = this
    if (writers > 1)
      for (const what of ['open streams', 'the block of a user', REVOCATION, 'the end of a session'])
        record.notTested(what, 'several writers change only Seats and API keys')
    if (tokenSecret === null)
      for (const what of ['tokens, and the block of a user', REVOCATION])
        record.notTested(what, 'tokens need the secret that signs them: give --token-secret-file')
    else if (!blocks) record.notTested('the block of a user', 'it was left out with --no-blocks')
    if (tokenSecret !== null && !revocations)
      record.notTested(REVOCATION, 'it was left out with --no-revocations')
    if (!streams) record.notTested('open streams', 'they were left out with --no-streams')
    if (sessions.length === 0)
      record.notTested(
        'the end of a session',
        'a session begins with a sign-in at the identity provider, which this command can not make: sign in, and give the id of the session with --end-session',
      )
  }

  /** Deletes everything. What a write without a 2xx may have made is searched again at the end. */
  async deleteAll(): Promise<{ left: readonly NotRemoved[]; unsearched: boolean }> {
    const { abandoned, progress, interval, patience = PATIENCE } = this.#settings
    const { id: run, record } = this
    const places = this.#managed
    const objects = new Map(this.#made)
    const search = async () => {
      for (const place of places) {
        const made = await findMade(place, run).catch(() => null)
        if (made === null) continue
        for (const object of made) objects.set(object.id, object)
        return true
      }
      return false
    }
    const showing = setInterval(() => progress(record, 'deleting'), 250)
    const pace = new Pace(Math.min(DELETIONS, interval))
    const removing = { places, pace, signal: abandoned, patience, made: objects }
    const hasDoubts = record.hasUnanswered
    try {
      let searched = await search()
      let left = await removeAll(objects.values(), removing)
      if (!searched && hasDoubts) {
        searched = await search()
        if (objects.size > left.length) left = await removeAll(objects.values(), removing)
      }
      return { left, unsearched: hasDoubts && !searched }
    } catch (cause) {
      if (!(cause instanceof RunEnded)) throw cause
      const why = 'the command was interrupted a second time'
      return { left: [...objects.values()].map((object) => ({ ...object, why })), unsearched: hasDoubts }
    } finally {
      clearInterval(showing)
    }
  }
}
