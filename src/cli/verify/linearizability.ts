/**
 * Whether a history of concurrent operations has an order that explains every answer: the search of Wing and
 * Gong (1993) with the memory of Lowe (2017), over a sequential model. Pure, and without a domain.
 *
 * Order. An operation precedes another one if it ended before the other one began. A *weak* operation is an
 * answer that may rest on a state that others no longer see; only *settled* writes to the records that it
 * reads precede it: those with an answer. All that ended before a write or a strong read began, weak
 * operations too, precedes it.
 *
 * Parts. Operations that share no record can be checked apart (Herlihy and Wing, 1990, theorem 1): if each
 * part has an order, a circle through several parts would enter each part at a strong operation, as no record
 * is shared. It would leave the part at an operation that does not precede that one in time, hence ended
 * after that one began. So each entry of the circle begins before the next one, which no circle can do.
 *
 * Search. An operation that leaves the state as it is takes its place as soon as it can: whatever order
 * follows without it follows with it. The search branches over the others. It remembers each pair of a set of
 * placed operations and a state.
 */

export interface TimedOperation {
  /** The time in ms of one monotonic clock. */
  readonly began: number
  /** The time of the answer; Infinity if the result is unknown: it takes effect later, or never. */
  readonly ended: number
  readonly weak: boolean
  /** Whether it may change the state. If it has an answer, weak operations that begin later follow it. */
  readonly writes: boolean
  /** The names of what it reads and writes. */
  readonly records: readonly string[]
}

interface SequentialModel<S, O> {
  readonly initial: S
  /** The next state: the same object if nothing changes; null if the state does not explain the answer. */
  step(state: S, operation: O): S | null
  /** A text that is equal for equal states only. */
  key(state: S): string
}

export type Verdict<S> =
  | { readonly verdict: 'explained' }
  /** The history is too wide for the search. */
  | { readonly verdict: 'not checked' }
  | {
      readonly verdict: 'unexplained'
      /** States in which the watched operation could have been next, and did not fit. */
      readonly states: readonly S[]
    }

/** The most pairs of a set and a state that the search visits. */
export const MOST_VISITS = 30_000
const MOST_STATES = 16

interface Node<S> {
  /** A bit for each operation that has its place. */
  readonly placed: Uint32Array
  readonly state: S
  /** The number of operations with an answer that have no place yet. */
  readonly left: number
}

interface Branch<S> {
  readonly at: number
  readonly state: S
}

/** Looks for an order. @param watched the operation whose preceding states are of interest */
export function checkOrder<S, O extends TimedOperation>(
  history: readonly O[],
  model: SequentialModel<S, O>,
  { watched = null, most = MOST_VISITS }: { readonly watched?: O | null; readonly most?: number } = {},
): Verdict<S> {
  const operations = history.toSorted((one, other) => one.began - other.began)
  const states = new Map<string, S>()
  const refused = (operation: O, state: S) => {
    if (operation === watched && states.size < MOST_STATES) states.set(model.key(state), state)
  }
  const visited = new Set<string>()
  const placed = new Uint32Array(Math.ceil(operations.length / 32))
  const left = operations.filter(({ ended }) => ended !== Infinity).length
  const stack: Node<S>[] = [{ placed, state: model.initial, left }]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const { next, branches } = placeUnchanging(node, operations, model, refused)
    if (next.left === 0) return { verdict: 'explained' }
    const key = `${Buffer.from(next.placed.buffer).toString('latin1')}${model.key(next.state)}`
    if (visited.has(key)) continue
    if (visited.size >= most) return { verdict: 'not checked' }
    visited.add(key)
    // The last one pushed is tried first: the one whose answer came first.
    const end = ({ at }: Branch<S>) => operations[at]?.ended ?? 0
    const inTurn = branches.toSorted((one, other) => end(other) - end(one) || other.at - one.at)
    for (const branch of inTurn) stack.push(after(next, branch, operations))
  }
  return { verdict: 'unexplained', states: [...states.values()] }
}

/** Places unchanging operations: one pass in the order of beginnings finds all that can be next. */
function placeUnchanging<S, O extends TimedOperation>(
  { placed: before, state, left: leftBefore }: Node<S>,
  operations: readonly O[],
  model: SequentialModel<S, O>,
  refused: (operation: O, state: S) => void,
): { next: Node<S>; branches: Branch<S>[] } {
  const placed = before.slice()
  let left = leftBefore
  const branches: Branch<S>[] = []
  /** The first end of an operation without a place; and by record, of a settled write without a place. */
  let firstEnd = Infinity
  const settledAt = new Map<string, number>()
  for (const [at, operation] of operations.entries()) {
    if (isSet(placed, at)) continue
    const { began, ended, weak, writes, records } = operation
    const isNext = weak
      ? records.every((record) => (settledAt.get(record) ?? Infinity) >= began)
      : firstEnd >= began
    if (isNext) {
      const stepped = model.step(state, operation)
      if (stepped === state && ended !== Infinity) {
        set(placed, at)
        left--
        continue
      }
      if (stepped === null) refused(operation, state)
      else if (stepped !== state) branches.push({ at, state: stepped })
    }
    if (ended === Infinity) continue
    firstEnd = Math.min(firstEnd, ended)
    if (writes)
      for (const record of records) settledAt.set(record, Math.min(settledAt.get(record) ?? Infinity, ended))
  }
  return { next: { placed, state, left }, branches }
}

function after<S>(
  { placed, left }: Node<S>,
  { at, state }: Branch<S>,
  operations: readonly TimedOperation[],
): Node<S> {
  const now = placed.slice()
  set(now, at)
  return { placed: now, state, left: operations[at]?.ended === Infinity ? left : left - 1 }
}

function isSet(bits: Uint32Array, at: number): boolean {
  return (((bits[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1
}

function set(bits: Uint32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31))
}

/** Splits a history into parts that share no record, as small as possible. Each part keeps the order. */
export function partsOf<O extends Pick<TimedOperation, 'records'>>(history: readonly O[]): O[][] {
  const above = new Map<string, string>()
  const rootOf = (record: string): string => {
    let root = record
    for (let next = above.get(root); next !== undefined; next = above.get(root)) root = next
    if (root !== record) above.set(record, root)
    return root
  }
  for (const { records } of history)
    for (const record of records) {
      const [one, other] = [rootOf(records[0] ?? ''), rootOf(record)]
      if (one !== other) above.set(other, one)
    }
  return [...Map.groupBy(history, ({ records }) => rootOf(records[0] ?? '')).values()]
}

/** The model of a history and of each part of it, which can remove the answer of an operation. */
export interface HistoryModel<S, O> extends SequentialModel<S, O> {
  /** The operation with an unknown result; null if it says nothing without its answer. */
  unanswered(operation: O): O | null
}

export interface Contradiction<S, O> {
  /** The first answer that contradicts all earlier ones. */
  readonly operation: O
  /** The operations that the contradiction needs, in the order of beginnings. */
  readonly operations: readonly O[]
  /** The states in which it could have been answered. */
  readonly states: readonly S[]
}

/** The contradiction in a history. @param history a history that no order explains */
export function contradictionIn<S, O extends TimedOperation>(
  history: readonly O[],
  model: HistoryModel<S, O>,
): Contradiction<S, O> {
  const fails = (part: readonly O[]) => checkOrder(part, model).verdict === 'unexplained'
  const ends = history
    .filter(({ ended }) => ended !== Infinity)
    .toSorted((one, other) => one.ended - other.ended)
  let [low, high] = [0, ends.length - 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (fails(answeredBy(history, ends[middle]?.ended ?? 0, model))) high = middle
    else low = middle + 1
  }
  const operation = ends[low]
  if (operation === undefined) throw new Error('no operation has an answer')
  const needed = without(answeredBy(history, operation.ended, model), operation, fails)
  const verdict = checkOrder(needed, model, { watched: operation })
  const states = verdict.verdict === 'unexplained' ? verdict.states : []
  return { operation, operations: needed.toSorted((one, other) => one.began - other.began), states }
}

/** The operations and answers at a moment. */
function answeredBy<S, O extends TimedOperation>(
  history: readonly O[],
  moment: number,
  { unanswered }: HistoryModel<S, O>,
): O[] {
  return history.flatMap((operation) => {
    if (operation.began > moment) return []
    if (operation.ended <= moment) return [operation]
    return unanswered(operation) ?? []
  })
}

/** Removes reads: a history with an order has one without its reads too. */
function without<O extends TimedOperation>(
  history: readonly O[],
  kept: O,
  fails: (part: readonly O[]) => boolean,
): readonly O[] {
  let rest = history
  for (let size = rest.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < rest.length; from += size) {
      const spared = new Set(rest.slice(from, from + size).filter((each) => each !== kept && !each.writes))
      const less = rest.filter((each) => !spared.has(each))
      if (spared.size > 0 && fails(less)) {
        rest = less
        from -= size
      }
    }
  }
  return rest
}
