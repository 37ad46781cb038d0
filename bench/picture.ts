/** The picture: CPU per request of every peer, the cheapest first. */

import type { Measured } from './measured.ts'
import { resultOf, summaryOf } from './summary.ts'
import { ceiling, round, svg, text } from './svg.ts'

const WIDTH = 760
const LEFT = 300
const RIGHT = 690
const TOP = 84
const ROW = 26

interface Bar {
  readonly label: string
  readonly cpu: number
  readonly kind: 'median' | 'tail' | 'plain'
}

export function picture(measured: Measured): string {
  const bars = barsOf(measured)
  const label = measured.workloads.find(({ name }) => name === measured.table)?.label ?? measured.table
  const most = ceiling(Math.max(...bars.map(({ cpu }) => cpu)))
  const bottom = TOP + bars.length * ROW
  return svg(WIDTH, bottom + 48, 'CPU per request, of Seatgate and of other proxies', [
    text(24, 34, 'title', 'CPU per request, in microseconds: less is better'),
    text(24, 54, 'quiet', `${label}; ${measured.machine}; user and system, of all processes`),
    ...legend(),
    ...grid(most, bottom),
    ...bars.map((bar, i) => row(bar, TOP + i * ROW, most)),
  ])
}

function barsOf({ peers, results, table }: Measured): Bar[] {
  const bars = peers.flatMap(({ name, label, authorises }) => {
    const summary = summaryOf(resultOf(results, name, table)?.samples ?? [])
    const kind = name === 'seatgate' ? 'median' : authorises ? 'tail' : 'plain'
    return summary === null ? [] : [{ label, cpu: summary.cpu, kind } as const]
  })
  return bars.toSorted((a, b) => a.cpu - b.cpu)
}

function legend(): string[] {
  const entry = (x: number, kind: Bar['kind'], words: string) =>
    `<rect class="bar ${kind}" x="${x}" y="63" width="10" height="10" rx="2"/>${text(x + 16, 72, 'quiet', words)}`
  return [
    entry(24, 'median', 'Seatgate'),
    entry(110, 'tail', 'others that authorise'),
    entry(272, 'plain', 'no authorization'),
  ]
}

function grid(most: number, bottom: number): string[] {
  return [0, 0.5, 1].map((share) => {
    const x = across(share * most, most)
    const line = `<line class="grid" x1="${x}" x2="${x}" y1="${TOP}" y2="${bottom}"/>`
    return `${line}${text(x, bottom + 18, 'quiet', String(share * most), 'middle')}`
  })
}

function row({ label, cpu, kind }: Bar, y: number, most: number): string {
  const end = across(cpu, most)
  return [
    text(LEFT - 10, y + 17, kind === 'median' ? 'title' : '', label, 'end'),
    `<rect class="bar ${kind}" x="${LEFT}" y="${y + 5}" width="${round(end - LEFT)}" height="${ROW - 10}" rx="2"/>`,
    text(end + 8, y + 17, '', cpu.toFixed(1)),
  ].join('\n')
}

function across(value: number, most: number): number {
  return round(LEFT + (value / most) * (RIGHT - LEFT))
}
