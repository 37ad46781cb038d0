/**
 * The drawing: the time of acknowledgement by instances, and the cost of a decision on a small and on a large
 * store.
 */

import { availableParallelism } from 'node:os'
import { bars, lines, svg, text } from '../svg.ts'
import type { FleetCost } from './acknowledgement.ts'
import type { Cost } from './decision-cost.ts'
import type { Measured } from './report.ts'

export function drawing({ fleets, costs, filled, load }: Measured): string {
  const label = `From commit to answer by instances, and CPU per request on a store of 100 and of ${filled.seats} Seats`
  // The machine ran everything, servers included: it was busier, and so slower, than a real fleet's.
  const [before, after] = load.map(([minute = 0]) => minute.toFixed(0))
  const machine = `${availableParallelism()} cores for all; load ${before} before, ${after} after`
  return svg(300, label, [
    ...acknowledgements(fleets),
    ...decisions(costs, filled.seats),
    text(466, 282, 'quiet', machine),
  ])
}

function acknowledgements(fleets: readonly FleetCost[]): string[] {
  const last = Math.max(...fleets.map(({ instances }) => instances))
  const ticks = fleets.map(({ instances }) => ({ at: instances / last, label: String(instances) }))
  const series = [
    { kind: 'tail', name: 'p99', values: fleets.map(({ p99 }) => p99) },
    { kind: 'median', name: 'median', values: fleets.map(({ median }) => median) },
  ] as const
  return [
    text(24, 34, 'title', 'From commit to answer, by instances'),
    text(24, 52, 'quiet', 'milliseconds until all have acknowledged'),
    ...lines({ left: 60, right: 390, top: 70, bottom: 230 }, ticks, series, 1),
    text(225, 282, 'quiet', 'instances', 'middle'),
  ]
}

function decisions([small, large]: readonly Cost[], seats: number): string[] {
  if (small === undefined || large === undefined) throw new Error('a cost is missing')
  const rows = [
    { label: '100 Seats', value: small.cpu, kind: 'median' },
    { label: `${seats.toLocaleString('en')} Seats`, value: large.cpu, kind: 'median' },
  ] as const
  return [
    text(466, 34, 'title', 'A request, by Seats stored'),
    text(466, 52, 'quiet', `µs of CPU; ratio ${large.ratio.toFixed(2)}`),
    ...bars({ left: 590, right: 710, top: 90 }, rows),
  ]
}
