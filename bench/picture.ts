/** The picture: CPU per request of every peer, the cheapest first. */

import type { Measured } from './measured.ts'
import { resultOf, summaryOf } from './summary.ts'
import { BAR, bars, type Kind, rectangle, svg, text } from './svg.ts'

const TOP = 84
const LEGEND = [
  [24, 'median', 'Seatgate'],
  [110, 'tail', 'others that authorise'],
  [272, 'plain', 'no authorization'],
] as const

export function picture(measured: Measured): string {
  const rows = rowsOf(measured)
  const label = measured.workloads.find(({ name }) => name === measured.table)?.label ?? measured.table
  return svg(TOP + rows.length * BAR + 48, 'CPU per request, of Seatgate and of other proxies', [
    text(24, 34, 'title', 'CPU per request, in microseconds: less is better'),
    text(24, 54, 'quiet', `${label}; ${measured.machine}; user and system, of all processes`),
    ...LEGEND.map(([x, kind, words]) => rectangle(kind, x, 63, 10, 10) + text(x + 16, 72, 'quiet', words)),
    ...bars({ left: 300, right: 690, top: TOP }, rows),
  ])
}

function rowsOf({ peers, results, table }: Measured) {
  const rows = peers.flatMap(({ name, label, authorises }) => {
    const summary = summaryOf(resultOf(results, name, table)?.samples ?? [])
    const kind: Kind = name === 'seatgate' ? 'median' : authorises ? 'tail' : 'plain'
    return summary === null ? [] : [{ label, value: summary.cpu, kind }]
  })
  return rows.toSorted((a, b) => a.value - b.value)
}
