/** Entries that would serve requests of omitted entries: the router takes a wider one if there is none. */

import { covers, NO_EXCEPTIONS, type Pattern, readPattern } from '../../decision/router/pattern.ts'
import { leftOut, type Remark, remarkName } from './operations.ts'

interface Entry extends Pick<Remark, 'at'> {
  readonly method: string
  readonly path: string
  readonly permission: string
}

/** Drops wider entries. @param lost the omitted entries; a dropped one may have hidden a still wider one */
export function withoutWider<E extends Entry>(
  entries: readonly E[],
  lost: readonly E[],
): { kept: readonly E[]; dropped: Remark[] } {
  const dropped: Remark[] = []
  let kept = entries.map(withPattern)
  const queue = lost.map(withPattern)
  for (const each of queue) {
    const wider = new Set(kept.filter((other) => wouldServe(other, each)))
    if (wider.size === 0) continue
    const reason = `it would serve requests of ${remarkName(each.entry)}, which is left out`
    dropped.push(...[...wider].map(({ entry }) => leftOut(entry.at, reason)))
    queue.push(...wider)
    kept = kept.filter((other) => !wider.has(other))
  }
  return { kept: kept.map(({ entry }) => entry), dropped }
}

interface Read<E extends Entry> {
  readonly entry: E
  readonly pattern: Pattern
}

function withPattern<E extends Entry>(entry: E): Read<E> {
  const pattern = readPattern(entry.path, NO_EXCEPTIONS)
  if (typeof pattern === 'string') throw new Error(`${entry.path}: ${pattern}`)
  return { entry, pattern }
}

function wouldServe({ entry, pattern }: Read<Entry>, { entry: lost, pattern: its }: Read<Entry>): boolean {
  const methods = [entry.method, lost.method]
  const isShared = entry.method === lost.method || methods.includes('ANY') || methods.join() === 'GET,HEAD'
  if (!isShared || entry.permission === lost.permission) return false
  return meet(pattern, its) && (!covers(its, pattern) || covers(pattern, its))
}

/** Whether a request can match both, regardless of methods. */
function meet(one: Pattern, other: Pattern): boolean {
  for (const [at, segment] of one.segments.entries()) {
    const beside = other.segments[at]
    if (beside === undefined) return false
    if (segment.kind === 'rest' || beside.kind === 'rest') return true
    if (segment.kind === 'static' && beside.kind === 'static' && segment.text !== beside.text) return false
  }
  return one.segments.length === other.segments.length
}
