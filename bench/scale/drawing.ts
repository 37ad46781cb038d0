/**
 * The drawing: acknowledgement time against instances, and the cost of a decision on a small and on a large store. An
 * SVG with a background of its own, light or dark by the reader's preference.
 */

import { availableParallelism } from 'node:os'
import { ceiling, round, svg, text } from '../svg.ts'
import type { FleetCost } from './acknowledgement.ts'
import type { Cost } from './decision-cost.ts'
import type { Measured } from './report.ts'

const WIDTH = 760
const HEIGHT = 300
/** Of both charts. */
const TOP = 70
const BOTTOM = 230

export function drawing({ fleets, costs, filled, load }: Measured): string {
  const label = `From commit to answer by instances, and CPU per request on a store of 100 and of ${filled.seats} Seats`
  return svg(WIDTH, HEIGHT, label, [
    acknowledgements(fleets),
    decisions(costs, filled.seats),
    text(466, BOTTOM + 52, 'quiet', machine(load)),
  ])
}

/** The machine that ran everything, servers included: it is busier, and so slower, than a real fleet's. */
function machine(load: Measured['load']): string {
  const [before, after] = load.map(([minute = 0]) => minute.toFixed(0))
  return `${availableParallelism()} cores for all; load ${before} before, ${after} after`
}

function acknowledgements(fleets: readonly FleetCost[]): string {
  const [left, right] = [60, 390]
  const most = ceiling(Math.max(...fleets.map(({ p99 }) => p99)))
  const last = Math.max(...fleets.map(({ instances }) => instances))
  const x = (instances: number) => left + (instances / last) * (right - left)
  return [
    text(24, 34, 'title', 'From commit to answer, by instances'),
    text(24, 52, 'quiet', 'milliseconds until all have acknowledged'),
    grid(left, right, most, (value) => String(value)),
    ...fleets.map(({ instances }) => text(x(instances), BOTTOM + 36, 'quiet', String(instances), 'middle')),
    text((left + right) / 2, BOTTOM + 52, 'quiet', 'instances', 'middle'),
    series(
      'tail',
      'p99',
      fleets.map(({ instances, p99 }) => [x(instances), p99]),
      most,
    ),
    series(
      'median',
      'median',
      fleets.map((fleet) => [x(fleet.instances), fleet.median]),
      most,
    ),
  ].join('\n')
}

/** The numbers of the higher line are above it, those of the lower one below. */
function series(
  kind: string,
  name: string,
  points: readonly (readonly [number, number])[],
  most: number,
): string {
  const placed = points.map(([x, value]) => [round(x), height(value, most)] as const)
  const dots = placed.map(([x, y]) => `<circle class="${kind}" cx="${x}" cy="${y}" r="3.5"/>`)
  const beside = kind === 'tail' ? -9 : 19
  const numbers = placed.map(([x, y], i) =>
    text(x, y + beside, '', (points[i]?.[1] ?? 0).toFixed(1), 'middle'),
  )
  const [x, y] = placed.at(-1) ?? [0, 0]
  const path = `<polyline class="line ${kind}" points="${placed.join(' ')}"/>`
  return [path, ...dots, ...numbers, text(x + 10, y + 4, '', name)].join('\n')
}

function decisions(costs: readonly Cost[], seats: number): string {
  const [left, right] = [510, 730]
  const [small, large] = costs
  if (small === undefined || large === undefined) throw new Error('a cost is missing')
  const most = ceiling(Math.max(small.cpu, large.cpu))
  const bars = [
    bar(left + 30, small.cpu, most, '100 Seats'),
    bar(left + 135, large.cpu, most, `${seats.toLocaleString('en')} Seats`),
  ]
  return [
    text(left - 44, 34, 'title', 'A request, by Seats stored'),
    text(left - 44, 52, 'quiet', `µs of CPU; ratio ${large.ratio.toFixed(2)}`),
    grid(left, right, most, (value) => String(value)),
    ...bars,
  ].join('\n')
}

function bar(x: number, value: number, most: number, name: string): string {
  const [width, y] = [56, height(value, most)]
  const middle = x + width / 2
  return [
    `<rect class="median" x="${x}" y="${y}" width="${width}" height="${round(BOTTOM - y)}" rx="2"/>`,
    text(middle, y - 7, '', value.toFixed(1), 'middle'),
    text(middle, BOTTOM + 18, 'quiet', name, 'middle'),
  ].join('\n')
}

function grid(left: number, right: number, most: number, label: (value: number) => string): string {
  const lines = [0, 0.5, 1].map((share) => {
    const y = height(share * most, most)
    const line = `<line class="grid" x1="${left}" x2="${right}" y1="${y}" y2="${y}"/>`
    return `${line}${text(left - 8, y + 4, 'quiet', label(share * most), 'end')}`
  })
  return lines.join('\n')
}

function height(value: number, most: number): number {
  return round(BOTTOM - (value / most) * (BOTTOM - TOP))
}
