/** The results as Markdown tables. */

import { quantile } from '../statistics.ts'
import type { FleetTurns } from './fleets.ts'
import type { Flooded } from './flood.ts'
import type { CutoffsKept, TenantRevoked } from './large.ts'

export function fleetTable(measured: readonly FleetTurns[]): string {
  return [
    '| instances | | turns | answer, ms: p50, p99 | old credentials refused everywhere, ms: p50, p99 | a client sees the end, ms: p50, p99 | at the instance that was frozen, from when it goes on | closed | stale |',
    '|--:|---|--:|--:|--:|--:|--:|--:|--:|',
    ...measured.map(fleetRow),
  ].join('\n')
}

function fleetRow({ instances, scenario, turns }: FleetTurns): string {
  const answers = turns.filter(({ refused }) => refused === null).map(({ answer }) => answer)
  const refused = turns.flatMap((turn) => turn.refused ?? [])
  const cells = [
    instances,
    scenario,
    turns.length,
    spread(answers),
    spread(refused),
    spread(turns.flatMap(({ cuts }) => cuts)),
    spread(turns.flatMap(({ thawed }) => thawed)),
    turns.filter(({ state }) => state === 'closed').length,
    turns.reduce((sum, { stale }) => sum + stale, 0),
  ]
  return `| ${cells.join(' | ')} |`
}

/** The median with the quartiles, and the 99th percentile; empty without values. */
function spread(values: readonly number[]): string {
  if (values.length === 0) return ''
  const [low, half, high, most] = [0.25, 0.5, 0.75, 0.99].map((share) => quantile(values, share).toFixed(1))
  return `${half} (${low} to ${high}), ${most}`
}

export function floodTable(measured: readonly Flooded[]): string {
  return [
    '| sessions that end | per second | CPU of a core | delay of the event loop, ms: p99, longest | from the request to the end of a WebSocket, ms: p50, p99 |',
    '|---|--:|--:|--:|--:|',
    ...measured.map(floodRow),
  ].join('\n')
}

function floodRow({ flood, rate, cpu, delay, cuts }: Flooded): string {
  const cells = [
    flood,
    rate.toFixed(0),
    `${(100 * cpu).toFixed(0)} %`,
    `${delay.p99.toFixed(1)}, ${delay.most.toFixed(1)}`,
    spread(cuts),
  ]
  return `| ${cells.join(' | ')} |`
}

export function tenantTable(measured: readonly TenantRevoked[]): string {
  return [
    '| store | sessions | until the answer | statements | memory, MiB: before, most | longest delay of the event loop | requests of others, ms: p50, p99, longest |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...measured.map(({ store, sessions, answer, statements, memory, delay, requests }) => {
      const cells = [
        ...[store, sessions, `${(answer / 1000).toFixed(1)} s`, statements ?? 'not counted'],
        memory.map(mebibytes).join(', '),
        `${delay.toFixed(0)} ms`,
        [0.5, 0.99, 1].map((share) => quantile(requests, share).toFixed(1)).join(', '),
      ]
      return `| ${cells.join(' | ')} |`
    }),
  ].join('\n')
}

export function cutoffTable(measured: readonly CutoffsKept[]): string {
  return [
    '| store | cutoffs | start | memory, MiB | first request of a user, ms: p50, p99 | second | a revocation, ms: p50, p99 |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...measured.map(({ store, cutoffs, start, memory, first, second, revocations }) => {
      const spreads = [first, second, revocations].map(spread)
      return `| ${[store, cutoffs, `${start.toFixed(0)} ms`, mebibytes(memory), ...spreads].join(' | ')} |`
    }),
  ].join('\n')
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0)
}
