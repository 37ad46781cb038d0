/** The results of pushes as tables in Markdown. */

import { quantile } from '../statistics.ts'
import type { Drilled } from './drills.ts'
import type { FleetPushes } from './fleets.ts'
import type { Push } from './pushed-fleet.ts'
import type { Stalls } from './stall.ts'

/** The shares of the time until the answer. */
const PHASES: readonly ((push: Push) => number)[] = [
  ({ began, proposed }) => proposed - began,
  ({ proposed, activated }) => activated - proposed,
  ({ activated, answered }) => answered - activated,
]

export function fleetTable(measured: readonly FleetPushes[]): string {
  return [
    '| instances | Redis | routes | pushes | until 200, ms: p50, p99 | plan, prepare, activate: p50 | from the commit to the first decision of each instance, ms: p50, p99 | decisions after the answer | stale |',
    '|--:|---|--:|--:|--:|--:|--:|--:|--:|',
    ...measured.map(fleetRow),
  ].join('\n')
}

function fleetRow({ instances, redis, routes, turns }: FleetPushes): string {
  const pushes = turns.map(({ push }) => push)
  const cells = [
    ...[instances, redis ? 'yes' : 'no', routes, turns.length],
    spread(pushes.map(({ began, answered }) => answered - began)),
    PHASES.map((phase) => quantile(pushes.map(phase), 0.5).toFixed(0)).join(', '),
    spread(turns.flatMap(({ first }) => first)),
    turns.reduce((sum, { checked }) => sum + checked, 0),
    turns.reduce((sum, { stale }) => sum + stale, 0),
  ]
  return `| ${cells.join(' | ')} |`
}

export function stallTable(measured: readonly Stalls[]): string {
  return [
    '| routes | pushes | longest wait of a request, ms: p50, longest | without a push | longest delay of an event loop, ms: p50, longest | without a push |',
    '|--:|--:|--:|--:|--:|--:|',
    ...measured.map(({ routes, during, without }) => {
      const of = (key: 'request' | 'delay') =>
        [during, without].map((waits) => extremes(waits.map((each) => each[key])))
      return `| ${[routes, during.length, ...of('request'), ...of('delay')].join(' | ')} |`
    }),
  ].join('\n')
}

export function drillTable(measured: readonly Drilled[]): string {
  return [
    '| | routes | pushes | until 200, ms: p50, longest | decisions after the answer | of the instance that was away | stale |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...measured.map(
      ({ drill, routes, answers, checked, returned, stale }) =>
        `| ${[drill, routes, answers.length, extremes(answers), checked, returned, stale].join(' | ')} |`,
    ),
  ].join('\n')
}

function spread(values: readonly number[]): string {
  return [0.5, 0.99].map((share) => quantile(values, share).toFixed(0)).join(', ')
}

function extremes(values: readonly number[]): string {
  return [0.5, 1].map((share) => quantile(values, share).toFixed(0)).join(', ')
}
