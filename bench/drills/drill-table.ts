/** The results of drills as tables in Markdown. */

import type { VerifyReport } from '../../src/cli/verify/verify-report.ts'
import type { Distribution } from '../../src/cli/verify/staleness.ts'
import type { DrillResult } from './drill-run.ts'

const HEAD = [
  'drill',
  'turns',
  'reads',
  'writes',
  'violations',
  'undecided through HAProxy / in all',
  'write until 2xx, ms',
  '2xx until seen, ms',
  'stream until cut, ms',
  'longest stretch without a read through HAProxy / anywhere, ms',
  "CPU of a gateway, ms/s: idle, and while verify runs (before the drill's first failure)",
]

export function drillTable(results: readonly DrillResult[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rows = results.map((result) => line(cellsOf(result)))
  return [line(HEAD), line(HEAD.map((_, at) => (at === 0 ? '---' : '--:'))), ...rows].join('\n')
}

function cellsOf({ drill, report, idle, verified, turns }: DrillResult): string[] {
  const [front] = report.places
  const through = Object.values(front?.undecided ?? {}).reduce((total, count) => total + count, 0)
  return [
    drill.label,
    String(turns),
    String(report.reads),
    String(report.writes),
    `${report.violations_total}${report.result === 'ok' ? '' : ` (${report.result}: ${report.why ?? ''})`}`,
    `${through} / ${report.undecided}`,
    times(report.write_ms),
    times(report.seen_ms),
    times(report.stream_cut_ms),
    `${Math.round(front?.longest_unread_ms ?? 0)} / ${Math.round(report.longest_unread_ms)}`,
    `${idle.toFixed(1)}, ${verified.toFixed(1)}`,
  ]
}

function times({ p50, p99, max }: Distribution): string {
  return [p50, p99, max].map((value) => (value === null ? '-' : value.toFixed(1))).join(' / ')
}

/**
 * What the runs left out, each once. Sessions that were not ended are not listed, because each run has more
 * than it can end.
 */
export function untestedOf(reports: readonly VerifyReport[]): string[] {
  const lines = reports.flatMap(({ not_tested: untested }) =>
    untested.flatMap(({ what, why }) => (what.startsWith('the end of session') ? [] : `- ${what}: ${why}`)),
  )
  return [...new Set(lines)]
}
