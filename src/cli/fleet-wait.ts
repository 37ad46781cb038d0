/**
 * Waits until every live instance of a fleet decides by its new files.
 *
 * An instance counts as live until its sign of life has stayed the same for a lease and its margin, between
 * two readings of the list: it then decides nothing before it has read its files again (`coherence/lease.ts`,
 * `coherence/current-files.ts`). The clock of the store proves nothing, as it may step. An instance of a
 * version that does not read its files again counts until it is off the list.
 */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RefusedReload } from '../../seats-admin/index.ts'
import { FILES_VALID } from '../coherence/current-files.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import { InvalidValue } from '../config/invalid-value.ts'
import { durationWithin } from '../config/units.ts'
import { printable } from '../telemetry/readable.ts'
import { type Option, UsageError } from './arguments.ts'
import { CommandFailed, type Terminal } from './command.ts'
import { GatewayRefusal } from './remote/problem-text.ts'
import { plural } from './screen.ts'

/** The exit code if the time has run out. */
export const NOT_ALL = 3

/** Milliseconds between readings of the list. */
const READ_EVERY = 200
const WITHIN = '30s'
const FINGERPRINT = /^[0-9a-f]{12}$/

export const WITHIN_OPTION = {
  value: 'TIME',
  description: `how long to wait at most; ${WITHIN} by default`,
} as const satisfies Option

/**
 * The milliseconds of `--within`.
 *
 * @throws UsageError
 */
export function withinOf(text = WITHIN): number {
  const within = durationWithin('1s', '1d')(text)
  if (within instanceof InvalidValue) throw new UsageError(`--within ${within.message}`)
  return within
}

/** A failure of a reading that no later one can mend. */
export class FinalFailure extends CommandFailed {}

/**
 * A hash of tables, or a fingerprint.
 *
 * @throws UsageError
 */
export function hexOf(option: string, text: string): string {
  if (FINGERPRINT.test(text)) return text
  throw new UsageError(`${option} is not 12 hexadecimal digits (0-9 a-f)`)
}

/** An instance on the list. */
export interface WaitedInstance {
  readonly id: string
  /** The name that messages show. */
  readonly shown: string
  /** Milliseconds since its sign of life, by the store's clock. */
  readonly age_ms: number
  /** The number of its sign of life; 0: it gives none, or its gateway has an older version. */
  readonly beat: number
  readonly checks_files: boolean
}

interface Waited<I> {
  readonly instances: readonly I[]
  /** The instances that are not as they should be; empty if there is no instance. */
  readonly missing: readonly I[]
  readonly isDone: boolean
}

/**
 * Resolves once each live instance is as it should be, or when the time has run out.
 *
 * @param read reads the list
 * @param isRight whether an instance is as it should be
 * @param within milliseconds
 * @throws the failure of the last reading if none succeeded
 */
export async function waitForAll<I extends WaitedInstance>(
  read: () => Promise<readonly I[]>,
  isRight: (instance: I) => boolean,
  within: number,
): Promise<Waited<I>> {
  const started = performance.now()
  const signs = new SignsOfLife()
  let last: Waited<I> | null = null
  let failure: unknown = new Error('the list of instances was not read in time')
  while (performance.now() - started < within) {
    const begun = performance.now()
    try {
      const instances = await inTime(read(), started + within - begun)
      if (instances === null) break
      const silent = new Set(signs.silent(instances, begun, performance.now()))
      const missing = instances.filter((each) => !isRight(each) && !silent.has(each))
      // One that is cut off and serves public routes may decide for that long by files that it has read
      // before.
      const isSettled = begun - started >= FILES_VALID
      const isDone =
        isSettled && missing.length === 0 && instances.some((each) => isRight(each) && isLive(each))
      last = { instances, missing, isDone }
      if (isDone) return last
    } catch (cause) {
      if (isFinal(cause)) throw cause
      failure = cause
    }
    await sleep(READ_EVERY)
  }
  if (last === null) throw failure
  return last
}

function isFinal(cause: unknown): boolean {
  return cause instanceof FinalFailure || (cause instanceof GatewayRefusal && cause.problem.status < 500)
}

/** Null if the time runs out. */
async function inTime<V>(result: Promise<V>, ms: number): Promise<V | null> {
  const cancelled = new AbortController()
  try {
    return await Promise.race([result, sleep(ms, null, { signal: cancelled.signal })])
  } finally {
    cancelled.abort()
    result.catch(() => {})
  }
}

/** By the store's clock. */
function isLive({ age_ms: age }: WaitedInstance): boolean {
  return age <= LEASE + MARGIN
}

/** Which instances have given no sign of life for so long that they hold no lease. */
class SignsOfLife {
  /** Id → its sign of life, and the time at which a reading with it had ended. */
  #signs = new Map<string, { readonly beat: number; readonly since: number }>()

  /** @param begun monotonic ms at the beginning of the reading, `ended` at its end */
  silent<I extends WaitedInstance>(instances: readonly I[], begun: number, ended: number): I[] {
    const before = this.#signs
    this.#signs = new Map(
      instances.map(({ id, beat }) => {
        const sign = before.get(id)
        return [id, sign?.beat === beat ? sign : { beat, since: ended }]
      }),
    )
    return instances.filter(({ id, beat, checks_files: checksFiles }) => {
      const since = this.#signs.get(id)?.since ?? ended
      return checksFiles && beat > 0 && begun - since >= LEASE + MARGIN
    })
  }
}

/**
 * What a message says of an instance that is not as it should be.
 *
 * @param why what is wrong
 */
export function missingLine(instance: WaitedInstance, why: string, refused?: RefusedReload | null): string {
  const silent = isLive(instance)
    ? ''
    : instance.checks_files
      ? '; it is silent'
      : '; it is silent, and of an older version: when it returns, it may decide by old files'
  const files = refused == null ? '' : `; ${refusedText(refused)}`
  return printable(`${instance.shown} ${why}${silent}${files}`)
}

export function refusedText({ at, faults, first }: RefusedReload): string {
  return `refused its files at ${at}: ${plural(faults, 'fault')}: ${first}`
}

/**
 * Says which instances are missing.
 *
 * @param what is not the case at them, such as `do not decide by …`
 */
export function printMissing(
  { instances, missing }: Waited<WaitedInstance>,
  lines: readonly string[],
  [what, within]: readonly [string, number],
  terminal: Terminal,
): void {
  const time = `after ${within / 1000} s`
  if (missing.length === 0) terminal.printError(`${time}, no gateway is live: none ${what}`)
  else
    terminal.printError(
      [
        `${time}, ${missing.length} of ${plural(instances.length, 'instance')} did not ${what}:`,
        ...lines,
      ].join('\n'),
    )
}
