/** The results as Markdown tables. */

import { availableParallelism } from 'node:os'
import type { FleetCost } from './acknowledgement.ts'
import type { Cost } from './decision-cost.ts'
import type { Filled } from './fill.ts'
import type { Sources } from './gateway.ts'
import type { InUse } from './seats-in-use.ts'

export interface Measured {
  readonly tenants: number
  readonly filled: Filled
  /** Milliseconds. */
  readonly configLoad: number
  /** Milliseconds until it accepts connections, by configuration. */
  readonly starts: { readonly small: number; readonly large: number }
  readonly inUse: InUse
  readonly costs: readonly Cost[]
  readonly fleets: readonly FleetCost[]
  /** Load averages of the machine, before and after: 1, 5 and 15 minutes. */
  readonly load: readonly (readonly number[])[]
}

export function table(measured: Measured): string {
  const { filled, tenants, load } = measured
  const title = `| ${grouped(filled.seats)} Seats in ${grouped(tenants)} tenants | |`
  const rows = [...storeRows(measured), ...useRows(measured.inUse), ...costRows(measured)]
  const [before, after] = load.map((each) => each.map((value) => value.toFixed(1)).join(' '))
  const machine = `Node.js ${process.versions.node}, ${availableParallelism()} cores; load average ${before} before, ${after} after.`
  return [title, '|---|---|', ...rows.map(row), '', ...fleetTable(measured.fleets), '', machine].join('\n')
}

type Row = readonly [what: string, value: string]

function row([what, value]: Row): string {
  return `| ${what} | ${value} |`
}

function storeRows({ filled, tenants, configLoad, starts }: Measured): Row[] {
  const { seats, seconds, rows, indexes } = filled
  return [
    ['filled by rows of 5,000', `${seconds.toFixed(0)} s, ${grouped(seats / seconds)} Seats/s`],
    ['size in the store: Seats, their indexes', `${mebibytes(rows)}, ${mebibytes(indexes)}`],
    ['size of a Seat, indexes included', `${grouped((rows + indexes) / seats)} bytes`],
    [`configuration of ${grouped(tenants)} tenants, to load`, `${(configLoad / 1000).toFixed(1)} s`],
    [
      'start to connections accepted, with the small / the large configuration',
      `${(starts.small / 1000).toFixed(1)} s / ${(starts.large / 1000).toFixed(1)} s`,
    ],
  ]
}

function useRows({ seats, redis, kept, first, second }: InUse): Row[] {
  const [heapBefore, heapAfter] = second.heap
  const [memoryBefore, memoryAfter] = first.memory
  const inUse = `${grouped(seats)} Seats in use`
  return [
    [`Redis, ${inUse}`, `${mebibytes(redis)}, ${grouped(redis / kept)} bytes a Seat, ${grouped(kept)} kept`],
    [`first instance: ${inUse}, read from`, from(first.sources)],
    [
      'second instance: the same Seats, read from',
      `${from(second.sources)} (${second.lookups} lookups, by the store's own count)`,
    ],
    ['memory of the first, before / after', `${mebibytes(memoryBefore)} / ${mebibytes(memoryAfter)}`],
    [
      'reachable in the second, before / after',
      `${mebibytes(heapBefore)} / ${mebibytes(heapAfter)}, ${grouped((heapAfter - heapBefore) / seats)} bytes a Seat and its token`,
    ],
  ]
}

function from({ memory, redis, store }: Sources): string {
  const rest = memory > 0 ? `, memory ${grouped(memory)}` : ''
  return `store ${grouped(store)}, Redis ${grouped(redis)}${rest}`
}

function costRows({ costs, filled, inUse }: Measured): Row[] {
  const [small, large, all] = costs
  if (small === undefined || large === undefined || all === undefined) throw new Error('a cost is missing')
  const seats = grouped(filled.seats)
  const against = (cost: Cost) =>
    `${cost.cpu.toFixed(1)} µs; ratio ${cost.ratio.toFixed(3)}, median of ${cost.samples.length} pairs`
  return [
    ['a request forwarded, 100 Seats in use: store of 100', `${small.cpu.toFixed(1)} µs CPU`],
    [`the same requests: store of ${seats}`, against(large)],
    [`store of ${seats}, ${grouped(inUse.seats)} in use`, against(all)],
  ]
}

function fleetTable(fleets: readonly FleetCost[]): string[] {
  return [
    '| instances | acknowledged, median | p99 | answered by time | the write and its commit | messages a write, sent | received | at rest, a second and instance: store statements | messages |',
    '|---|---|---|---|---|---|---|---|---|',
    ...fleets.map(fleetRow),
  ]
}

function fleetRow(fleet: FleetCost): string {
  const { instances, samples, waited, messages, rest } = fleet
  const times = [fleet.median, fleet.p99].map((each) => `${each.toFixed(1)} ms`)
  const cells = [
    instances,
    ...times,
    `${waited} of ${samples.length}`,
    `${fleet.commit.toFixed(1)} ms`,
    messages.sent.toFixed(1),
    messages.received.toFixed(1),
    rest.statements.toFixed(1),
    rest.messages.toFixed(1),
  ]
  return `| ${cells.join(' | ')} |`
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function mebibytes(bytes: number): string {
  const value = bytes / 1024 / 1024
  return `${value.toFixed(value < 10 ? 1 : 0)} MiB`
}
