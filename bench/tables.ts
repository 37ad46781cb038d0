/** The tables of the report, as lines of Markdown. */

import type { Curve, Curves } from './curves/measure.ts'
import { GOOD_RATE } from './flood.ts'
import { HONEST_RATE } from './neighbour/measure.ts'
import type { Peer } from './peers/peer.ts'
import type { Measured } from './measured.ts'
import { ratioOf, resultOf, type Summary, summaryOf } from './summary.ts'
import { GOALS } from './turns.ts'

export function peerTable({ peers, results, table, workloads }: Measured): string[] {
  const rows = peers.flatMap((peer) => {
    const summary = summaryOf(resultOf(results, peer.name, table)?.samples ?? [])
    return summary === null ? [] : [peerRow(peer, summary)]
  })
  if (rows.length === 0) return []
  return [
    '## Side by side',
    '',
    `64 connections, ${workloads.find(({ name }) => name === table)?.label ?? table}. Latency at a fixed rate of half of what`,
    'each reached, from when a request was due; where the load itself was late (p99, last column), it counts in all of them.',
    '',
    '| | authorises | CPU per request | least to most | requests/s | p50 | p99 | p99.9 | start | memory idle | loaded | load late by |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ]
}

function peerRow(
  { label, authorises }: Peer,
  { cpu, spread, rate, latency, startedIn, idle, loaded, late }: Summary,
): string {
  const cells = [
    label,
    authorises ? 'yes' : '',
    `${cpu.toFixed(1)} µs`,
    spread.map((each) => each.toFixed(1)).join(' to '),
    grouped(rate),
    ...(latency === null ? ['', '', ''] : latency.map(milliseconds)),
    `${startedIn.toFixed(0)} ms`,
    mebibytes(idle),
    mebibytes(loaded),
    late === null ? '' : milliseconds(late),
  ]
  return `| ${cells.join(' | ')} |`
}

/** The goals of the README, in one place. */
export function ratios({ peers, results, table }: Measured): string[] {
  const seatgate = resultOf(results, 'seatgate', table)
  const rows = peers.flatMap(({ name, label }) => {
    const ratio = name === 'seatgate' ? null : ratioOf(seatgate, resultOf(results, name, table))
    return ratio === null ? [] : [`| ${label} | ${ratio.toFixed(2)} |`]
  })
  return rows.length === 0
    ? []
    : ['| Seatgate, CPU per request, compared with | ratio |', '|---|---|', ...rows]
}

export function turnsTable({ turns, peers, workloads, rounds }: Measured): string[] {
  if (turns.length === 0) return []
  const rows = turns.map(({ workload, peer, cpu, ratio, low, high }) => {
    const goal = GOALS[workload]?.[peer]
    const compared =
      goal === undefined
        ? ['', '', '']
        : [ratio.toFixed(2), `${low.toFixed(2)} to ${high.toFixed(2)}`, goal.toFixed(2)]
    const label = workloads.find(({ name }) => name === workload)?.label ?? workload
    return `| ${[label, labelOf(peers, peer), `${cpu.toFixed(1)} µs`, ...compared].join(' | ')} |`
  })
  return [
    '## By turns',
    '',
    'All of them run, and one after the other is loaded for a second: what slows the machine down for a while slows them alike.',
    `Medians of ${turns[0]?.turns} turns, of ${rounds === 1 ? 'one fresh process' : `${rounds} fresh processes`} each.`,
    '',
    '| | | CPU per request | Seatgate, compared with it | half of the turns | goal |',
    '|---|---|---|---|---|---|',
    ...rows,
  ]
}

export function workloadTable({ peers, workloads, results, table }: Measured): string[] {
  const others = workloads.filter(({ name }) => name !== table)
  const columns = peers.filter(({ name }) =>
    others.some((each) => (resultOf(results, name, each.name)?.samples.length ?? 0) > 0),
  )
  if (columns.length === 0) return []
  const rows = [...workloads.filter(({ name }) => name === table), ...others].map((each) => {
    const cells = columns.map(({ name }) =>
      cell(summaryOf(resultOf(results, name, each.name)?.samples ?? [])),
    )
    return `| ${each.label} | ${cells.join(' | ')} |`
  })
  return [
    '## Workloads',
    '',
    'CPU per request, and requests per second.',
    '',
    `| | ${columns.map(({ label }) => label).join(' | ')} |`,
    `|---|${columns.map(() => '---|').join('')}`,
    ...rows,
  ]
}

function cell(summary: Summary | null): string {
  return summary === null ? '' : `${summary.cpu.toFixed(1)} µs, ${grouped(summary.rate)}/s`
}

export function floodTable({ floods, peers }: Measured): string[] {
  if (floods.length === 0) return []
  const rows = floods.map(({ peer, alone, flooded, bad }) => {
    const label = labelOf(peers, peer)
    const times = [alone.p50, alone.p99, flooded.p50, flooded.p99].map(milliseconds)
    return `| ${[label, grouped(bad), grouped(flooded.requests), ...times].join(' | ')} |`
  })
  return [
    '## A flood of bad tokens',
    '',
    `${GOOD_RATE} good requests per second, and beside them as many with bad tokens as 64 connections bring.`,
    '',
    '| | bad ones/s | good ones answered | p50 without | p99 without | p50 with | p99 with |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ]
}

export function neighbourTable({ neighbours }: Pick<Measured, 'neighbours'>): string[] {
  if (neighbours.length === 0) return []
  const rows = neighbours.map(({ label, calm, attacked, count, memory }) => {
    const times = [calm.p50, calm.p99, attacked.p50, attacked.p99].map(milliseconds)
    const lost = attacked.refused + attacked.failed
    const done = `${grouped(count.done)} (${grouped(count.refused)})`
    return `| ${[label, ...times, lost, done, ...memory.map(mebibytes)].join(' | ')} |`
  })
  return [
    '## A neighbour',
    '',
    `${HONEST_RATE} requests per second of one tenant, alone and while another one does its worst; a fresh gateway each time.`,
    '',
    '| the other tenant has | p50 calm | p99 calm | p50 | p99 | lost | asked (refused) | memory calm | memory |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ]
}

function labelOf(peers: readonly Peer[], name: string): string {
  return peers.find((each) => each.name === name)?.label ?? name
}

export function stageTable({ stages }: Pick<Measured, 'stages'>): string[] {
  if (stages.length === 0) return []
  const rows = stages.map(({ label, nanoseconds }) => `| ${label} | ${grouped(nanoseconds)} ns |`)
  return ['## Stages', '', '| of one request, in process | |', '|---|---|', ...rows]
}

export function curveLines({ curves, memory }: Curves): string[] {
  const bytes = memory.map(
    ({ label, bytes: each }) => `| ${label} | ${Math.round(each).toLocaleString('en')} bytes |`,
  )
  return [
    '## Cost against size',
    '',
    'A decision in process, token and Seat known; and what memory each thing takes.',
    '',
    '![cost of a decision against routes, Seats, tenants, tokens and entries](curves.svg)',
    '',
    '| | |',
    '|---|---|',
    ...curves.map(curveLine),
    ...bytes,
  ]
}

function curveLine({ label, points }: Curve): string {
  const sizes = points.map(({ size }) => size.toLocaleString('en')).join(' / ')
  const costs = points.map(({ nanoseconds }) => nanoseconds.toFixed(0)).join(' / ')
  return `| ${label}: ${sizes} | ${costs} ns |`
}

function milliseconds(value: number): string {
  return `${value.toFixed(2)} ms`
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en')
}
