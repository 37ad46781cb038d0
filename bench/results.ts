/** The results as Markdown: `bench/RESULTS.md`. The machine is described by its relevant properties only. */

import type { Measured } from './measured.ts'
import { CORES, pinned } from './cores.ts'
import { loader } from './load.ts'
import { ENOUGH, WARM } from './traffic.ts'
import {
  curveLines,
  floodTable,
  neighbourTable,
  peerTable,
  ratios,
  stageTable,
  turnsTable,
  workloadTable,
} from './tables.ts'

export function machine(): string {
  const date = new Date().toISOString().slice(0, 10)
  return `${CORES} cores, Node.js ${process.version.slice(1)}, ${date}`
}

export function report(measured: Measured): string {
  const sections = [
    heading(measured),
    peerTable(measured),
    ratios(measured),
    turnsTable(measured),
    workloadTable(measured),
    floodTable(measured),
    neighbourTable(measured),
    stageTable(measured),
    measured.curves === null ? [] : curveLines(measured.curves),
    notes(measured),
  ]
  const lines = sections.filter((section) => section.length > 0).map((section) => section.join('\n'))
  return `${lines.join('\n\n')}\n`
}

function heading({ machine: on, quick, rounds, upstream, load }: Measured): string[] {
  const cores = pinned
    ? 'one core for the peer, the others for load and upstream'
    : 'no core of its own for anybody'
  const [before, after] = load.map((each) => each.toFixed(1))
  return [
    '# Results of the bench',
    '',
    `${on}; ${cores}; load by ${loader}, upstream ${upstream}; medians of ${rounds === 1 ? '1 round' : `${rounds} rounds`}${quick ? ' (a short look)' : ''}; machine load ${before} before, ${after} after.`,
    '',
    'Seatgate runs on SQLite with 5,000 Seats and 10,000 routes; the others have one route. All keep connections to the',
    'upstream open, and a log of all requests in a file, as each has it: Seatgate by 32 KiB, the proxies in Node.js by 4, nginx and',
    'Apache buffered, HAProxy and Caddy a line at a time. Seatgate without a log, and the bare Node.js server, keep none.',
    'In the mixed workload, peers that know no API keys get tokens in their place. Envoy is not measured: Debian has no package of it.',
    quick
      ? `Each is warmed up by ${1.5 * WARM} requests, or for 30 seconds. One short round cannot show differences below a half:`
      : `Each is warmed up by ${ENOUGH} requests, or for 15 seconds (5 for the other workloads).`,
    ...(quick ? ['compare only lines of this run, and use `npm run bench` for any other statement.'] : []),
  ]
}

function notes({ left, results }: Measured): string[] {
  const failed = results.flatMap(({ peer, workload, failures }) =>
    failures.map((failure) => `${peer}, ${workload}: ${failure}`),
  )
  const cold = results.flatMap(({ peer, workload, samples }) =>
    samples
      .filter(({ warmed }) => warmed < WARM)
      .map(
        ({ warmed }) =>
          `${peer}, ${workload}: measured after ${warmed} requests; a program that V8 compiles is warm after ${WARM}`,
      ),
  )
  const all = [...left, ...failed, ...cold].map((line) => `- ${line.replaceAll('\n', ' ').slice(0, 300)}`)
  return all.length === 0 ? [] : ['## Left out, failed or not warm', '', ...all]
}
