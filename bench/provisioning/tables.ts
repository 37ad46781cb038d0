/** The results of provisioning as tables in Markdown. */

import { quantile } from '../statistics.ts'
import type { Drilled } from './drills.ts'
import { type Kind, KINDS, type Sent } from './provider.ts'
import type { Day, Week } from './week.ts'

export function dayTable(days: readonly Day[]): string {
  const rows = days.map(({ name, seconds, requests, statements, checked, stale }) =>
    [name, seconds.toFixed(1), requests, statements, checked, stale].join(' | '),
  )
  return table(
    '| | seconds | requests | statements | decisions compared | stale |',
    '|---|--:|--:|--:|--:|--:|',
    rows,
  )
}

export function kindTable({ sent, reorganised, cuts, uncut }: Week): string {
  const rows = [
    ...KINDS.flatMap((kind) => rowOf(kind, kind, sent)),
    ...KINDS.flatMap((kind) => rowOf(`${kind}, in the reorganisation`, kind, reorganised)),
  ]
  const streams = `${cuts.length} streams of leavers ended, ms from the request: p50, p99 ${spread(cuts)}; not ended: ${uncut}.`
  return `${table('| | number | repeated | ms until 2xx: p50, p99 | longest |', '|---|--:|--:|--:|--:|', rows)}\n\n${streams}`
}

/** Of each kind: the median and the longest time, and how often requests were repeated. */
export function drillTable(drills: readonly Drilled[]): string {
  const kinds = KINDS.filter((kind) => drills.some(({ sent }) => sent.some((each) => each.kind === kind)))
  const rows = drills.map(({ drill, sent, checked, stale }) =>
    [drill, ...kinds.map((kind) => cellOf(kind, sent)), checked, stale].join(' | '),
  )
  return table(
    `| | ${kinds.join(' | ')} | decisions compared | stale |`,
    `|---|${'--:|'.repeat(kinds.length + 2)}`,
    rows,
  )
}

function cellOf(kind: Kind, all: readonly Sent[]): string {
  const sent = all.filter((each) => each.kind === kind)
  const times = sent.map(({ ms }) => ms)
  return `${quantile(times, 0.5).toFixed(0)}, ${Math.max(...times).toFixed(0)} (${repeatedOf(sent)})`
}

function repeatedOf(sent: readonly Sent[]): number {
  return sent.reduce((sum, { requests }) => sum + requests - 1, 0)
}

/** No row without a request of the kind. */
function rowOf(name: string, kind: Kind, all: readonly Sent[]): string[] {
  const sent = all.filter((each) => each.kind === kind)
  if (sent.length === 0) return []
  const times = sent.map(({ ms }) => ms)
  return [[name, sent.length, repeatedOf(sent), spread(times), Math.max(...times).toFixed(0)].join(' | ')]
}

function spread(values: readonly number[]): string {
  return [0.5, 0.99].map((share) => quantile(values, share).toFixed(1)).join(', ')
}

function table(head: string, rule: string, rows: readonly string[]): string {
  return [head, rule, ...rows.map((row) => `| ${row} |`)].join('\n')
}
