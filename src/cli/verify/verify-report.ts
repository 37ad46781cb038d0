/** The report of a run: as text, as JSON, and as JUnit's XML. */

import { printable } from '../../telemetry/readable.ts'
import { xml } from '../ci-output.ts'
import { columns, fold } from '../screen.ts'
import type { NotRemoved } from './made-objects.ts'
import type { HistoriesReport, RunReport, Untested, ViolationReport } from './run-record.ts'
import type { Distribution } from './staleness.ts'

export const VERIFY_FORMATS = ['text', 'json', 'junit'] as const

export interface VerifyReport extends RunReport {
  /** The id of the run, which follows `seatgate-verify-` in the names of all that it made. */
  readonly run: string
  /** The result; `failed` means that too little was checked. */
  readonly result: 'ok' | 'violations' | 'failed'
  /** Why it failed or ended early; null if it did neither. */
  readonly why: string | null
  /** The objects that could not be deleted. */
  readonly left: readonly NotRemoved[]
  /** The users of the run whose revocation stays. */
  readonly revoked: readonly string[]
}

/** The most violations in the text. */
const SHOWN = 10

export function verifyOutput(format: (typeof VERIFY_FORMATS)[number], report: VerifyReport): string {
  if (format === 'json') return JSON.stringify(report, null, 2)
  return format === 'junit' ? junit(report) : asText(report)
}

function asText(report: VerifyReport): string {
  const { violations, violations_total: total, not_tested: untested, during, histories } = report
  const shown = violations.slice(0, SHOWN)
  return [
    headline(report),
    '',
    ...violationLines(shown),
    ...(total > shown.length ? [`… and ${total - shown.length} more; --json has up to 1,000`, ''] : []),
    ...(report.longest_stale_ms === null
      ? []
      : [`the longest that a state was stale: ${report.longest_stale_ms} ms after the 2xx`, '']),
    columns([
      ['milliseconds', 'p50', 'p99', 'largest', 'count'],
      row('write until 2xx', report.write_ms),
      row('2xx until seen, anywhere', report.seen_ms),
      ...report.places.map(({ place, seen_ms: seen }) => row(`  at ${place}`, seen)),
      row('stream until cut', report.stream_cut_ms),
    ]),
    '',
    columns([
      ['place', 'reads', 'undecided', 'longest stretch without a read'],
      ...report.places.map(({ place, reads, undecided, longest_unread_ms: longest }) => [
        place,
        String(reads),
        reasons(undecided) || '0',
        `${longest} ms`,
      ]),
    ]),
    '',
    fold(`writes: ${reasons(report.operations) || 'none'}`),
    ...(histories === null ? [] : [fold(ordered(histories))]),
    ...(Object.keys(report.unanswered).length > 0
      ? [fold(`writes without a 2xx, of unknown outcome: ${reasons(report.unanswered)}`)]
      : []),
    ...(report.repeated_answers === 0 ? [] : [fold(cached(report.repeated_answers))]),
    ...(during === null ? [] : [drillText(during)]),
    ...untestedLines(untested),
  ].join('\n')
}

function headline({
  result,
  why,
  reads,
  writes,
  violations_total: total,
  duration_ms: ms,
}: VerifyReport): string {
  const what = `${total} violation${total === 1 ? '' : 's'} in ${reads} reads and ${writes} writes, ${Math.round(ms / 1000)} s`
  const end = why === null ? '' : `; ${printable(why)}`
  return fold(`${result === 'ok' ? 'nothing stale' : result}: ${what}${end}`)
}

/** A line for each reason. */
function untestedLines(untested: readonly Untested[]): string[] {
  const byReason = Map.groupBy(untested, ({ why }) => why)
  return [...byReason].map(([why, all]) =>
    fold(`not tested: ${all.map(({ what }) => what).join(', ')}: ${printable(why)}`, '', '  '),
  )
}

function violationLines(violations: readonly ViolationReport[]): string[] {
  return violations.flatMap((violation) => [
    fold(sentence(violation), '', '  '),
    ...(violation.operations ?? []).map((line) => `  ${printable(line)}`),
    `  ${violation.operations === undefined ? 'read ' : 'asked'}  ${violation.began_at} to ${violation.ended_at}, request ${violation.request_id || '-'}`,
    `  write  ${violation.write.answered_at} (2xx) at ${violation.write.place}, request ${violation.write.request_id || '-'}`,
    '',
  ])
}

const KINDS: Readonly<Record<ViolationReport['kind'], string>> = {
  stale: 'decided on a state from before the 2xx',
  grant_lost: 'the grant does not hold',
  unexpected: 'allowed, although never granted',
  no_order: 'no order of what the writers and readers did explains it',
  open_stream: 'the stream still delivered events more than 2 s after its right was taken',
}

/** The answers of a gateway that does not know the credential. */
const UNKNOWN: ReadonlySet<string> = new Set(['api_key_invalid', 'token_invalid'])
const OTHER_GATEWAY =
  'the credential is unknown there. Look whether this address also leads to gateways with another store or other secrets'

/** What happened, without the times. */
function sentence({ kind, subject, place, answer, expected, write }: ViolationReport): string {
  if (kind === 'no_order')
    return `${kind}: ${place} answered ${printable(answer)} to ${printable(subject)}: ${KINDS[kind]}; due was ${expected.map(printable).join(' or ') || 'nothing that fits'}`
  const what = UNKNOWN.has(answer) && kind === 'grant_lost' ? OTHER_GATEWAY : KINDS[kind]
  return `${kind}: ${place} answered ${printable(answer)} to ${subject} after "${write.operation}", where ${expected.join(' or ')} was due: ${what}`
}

function cached(repeated: number): string {
  return `one answer many times: ${repeated} reads had the answer of an earlier one (the same X-Request-Id). A cache is in between, or a proxy that repeats answers: let it store nothing of the gateway`
}

function ordered({ operations, unchecked, writers, scenes }: HistoriesReport): string {
  const rest = unchecked === 0 ? '' : `; ${unchecked} more were not checked`
  return `order: ${operations - unchecked} operations of ${writers} writers and all readers checked, in ${scenes} scenes${rest}`
}

function row(name: string, { p50, p99, max, count }: Distribution): string[] {
  return [name, ...[p50, p99, max].map((value) => (value === null ? '-' : value.toFixed(1))), String(count)]
}

function reasons(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([reason, count]) => `${count} ${printable(reason)}`)
    .join(', ')
}

function drillText({
  command,
  began_ms: began,
  ended_ms: ended,
  exit,
}: NonNullable<RunReport['during']>): string {
  const span = `from ${seconds(began)} to ${ended === null ? 'the end of the run, which ended it' : seconds(ended)}`
  return fold(`meanwhile, ${span}: ${printable(command)} (exit ${exit ?? 'by a signal'})`)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** A case for each place, and one for each operation that was not tested. */
function junit({
  places,
  violations,
  not_tested: untested,
  result,
  why,
  duration_ms: ms,
}: VerifyReport): string {
  const cases = places.map(({ place, reads, violations: total }) => {
    const own = violations.filter((violation) => violation.place === place)
    const open = `  <testcase classname="seatgate verify" name="${xml(place)}: ${reads} reads"`
    if (total === 0) return `${open}/>`
    const message = `${total} violations${own[0] === undefined ? '' : `, first: ${sentence(own[0])}`}`
    return `${open}><failure message="${xml(message)}">${xml(violationLines(own).join('\n'))}</failure></testcase>`
  })
  const skipped = untested.map(
    ({ what, why: reason }) =>
      `  <testcase classname="seatgate verify" name="${xml(what)}"><skipped message="${xml(reason)}"/></testcase>`,
  )
  const failed =
    result === 'failed'
      ? [`  <testcase classname="seatgate verify" name="run"><error message="${xml(why ?? '')}"/></testcase>`]
      : []
  const failures = cases.filter((each) => each.includes('<failure')).length
  const all = [...cases, ...skipped, ...failed]
  const counts = `tests="${all.length}" failures="${failures}" errors="${failed.length}" skipped="${skipped.length}"`
  const head = `<testsuite name="seatgate verify" ${counts} time="${(ms / 1000).toFixed(3)}">`
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...all, '</testsuite>'].join('\n')
}
