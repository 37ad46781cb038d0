/** A fleet in simulated time, correct or broken in one way, for the checker of `seatgate verify`. */

import { Subject, type Violation, type Write } from '../../../src/cli/verify/staleness.ts'
import type { Random } from '../../support/random.ts'

export type Broken =
  /** An instance never gets the message of one write. */
  | 'forgets a message'
  /** The writer answers before every instance has applied the change. */
  | 'acknowledges too early'
  /** A token issued before the name was given up counts again once the name is used again. */
  | 'revives a name'
  /** An instance's clock jumps forward: for some seconds it takes credentials for expired. */
  | 'has a clock that jumps'

/** What the writes of a run do to a token, in turn. */
const OPERATIONS: readonly (readonly [operation: string, answer: string])[] = [
  ['grant', 'allow'],
  ['revoke', 'permission_denied'],
  ['grant', 'allow'],
  ['block', 'caller_blocked'],
  ['unblock', 'allow'],
  ['delete', 'permission_denied'],
  ['again', 'permission_denied'],
]

const INSTANCES = 3
/** ms */
const LEASE = 1200
const BETWEEN_WRITES = 1000
const READS = 40

interface Change {
  readonly write: Write
  readonly answer: string
  readonly answered: number
  /** Instance → when it decides on the change. */
  readonly applied: readonly number[]
}

interface Freeze {
  readonly instance: number
  readonly from: number
  readonly to: number
}

/** One run of less than a minute, with an instance that is frozen meanwhile. @returns what the checker reports */
export function simulate(random: Random, broken: Broken | null = null): Violation[] {
  const from = random.between(0, OPERATIONS.length * BETWEEN_WRITES)
  // The fault of a broken fleet must not hide in the freeze of another instance.
  const instance = broken === null ? random.below(INSTANCES) : 0
  const freeze = { instance, from, to: from + random.between(50, 3 * LEASE) }
  const changes = changesOf(random, freeze, broken)
  const made: Write = { operation: 'make', place: '0', began: -2, answered: -1, requestId: 'made' }
  const subject = new Subject('token', null, made, ['permission_denied'])
  const events: { readonly at: number; readonly run: () => void }[] = []
  for (const { write, answer, answered } of changes) {
    events.push({ at: write.began, run: () => subject.begin(write, [answer]) })
    if (answered !== Infinity) events.push({ at: answered, run: () => void (write.answered = answered) })
  }
  const violations: Violation[] = []
  const end = (changes.at(-1)?.write.began ?? 0) + BETWEEN_WRITES
  for (const { instance, began } of momentsOf(random, changes, end)) {
    const read = readOf(random, { instance, began }, changes, freeze, broken)
    const judge = () => {
      const violation = subject.judge(read)
      if (violation !== null) violations.push(violation)
    }
    events.push({ at: read.ended, run: judge })
  }
  for (const { run } of events.toSorted((one, other) => one.at - other.at)) run()
  return violations
}

/** The last one may have no 2xx: its outcome is unknown, and nothing follows it. */
function changesOf(random: Random, freeze: Freeze, broken: Broken | null): Change[] {
  const changes: Change[] = []
  const forgotten = random.below(5)
  let now = 0
  for (const [number, [operation, answer]] of OPERATIONS.entries()) {
    const began = now + random.between(1, 20)
    const committed = began + random.between(0, 5)
    const isFrozen = committed < freeze.to && committed + LEASE > freeze.from
    const waited = isFrozen ? LEASE : random.between(0.1, 30)
    const right = committed + waited
    const answered = broken === 'acknowledges too early' ? committed : right
    const applied = Array.from({ length: INSTANCES }, (_, instance) => {
      if (broken === 'forgets a message' && number === forgotten && instance === 1) return Infinity
      const slow = broken === 'acknowledges too early' ? committed + random.between(100, 900) : null
      return slow ?? (instance === freeze.instance && isFrozen ? right : random.between(committed, right))
    })
    const isLost = broken === null && random.chance(0.03)
    const write = { operation, place: `${random.below(INSTANCES)}`, began, requestId: `${number}` }
    const written = { write: { ...write, answered: Infinity }, answer, applied }
    changes.push({ ...written, answered: isLost ? Infinity : answered })
    if (isLost) break
    now = answered + random.between(0.5, 1) * BETWEEN_WRITES
  }
  return changes
}

interface Moment {
  readonly instance: number
  readonly began: number
}

function readOf(
  random: Random,
  { instance, began }: Moment,
  changes: readonly Change[],
  freeze: Freeze,
  broken: Broken | null,
) {
  const meant = began + random.between(0, 2)
  const isFrozen = instance === freeze.instance && meant >= freeze.from && meant < freeze.to
  // After it continues, an instance decides on nothing older than its lease: it has applied what others waited for.
  const decided = isFrozen ? Math.max(freeze.to, ...settledBy(changes, freeze.to)) : meant
  const shown = changes.findLast(({ applied }) => (applied[instance] ?? Infinity) <= decided)
  return {
    place: `${instance}`,
    began,
    ended: decided + random.between(0, 2),
    answer: answerOf(shown, decided, instance, broken),
    requestId: `read ${began}`,
  }
}

/** A frozen instance has applied, before it decides again, each change that was answered meanwhile. */
function settledBy(changes: readonly Change[], moment: number): number[] {
  return changes.filter(({ write }) => write.began < moment).map(({ applied }) => Math.max(...applied))
}

/** At each instance right after each 2xx, and at any time. */
function momentsOf(random: Random, changes: readonly Change[], end: number): Moment[] {
  const all = Array.from({ length: INSTANCES }, (_, instance) => instance)
  const after = changes
    .filter(({ answered }) => answered !== Infinity)
    .flatMap(({ answered }) =>
      all.map((instance) => ({ instance, began: answered + random.between(0.01, 5) })),
    )
  const any = Array.from({ length: READS }, () => ({
    instance: random.below(INSTANCES),
    began: random.between(0, end),
  }))
  return [...after, ...any]
}

function answerOf(
  shown: Change | undefined,
  decided: number,
  instance: number,
  broken: Broken | null,
): string {
  if (broken === 'has a clock that jumps' && instance === 2 && decided % 5000 < 2000) return 'token_expired'
  if (broken === 'revives a name' && shown?.write.operation === 'again') return 'allow'
  return shown?.answer ?? 'permission_denied'
}
