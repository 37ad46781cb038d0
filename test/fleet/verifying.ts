/** `seatgate verify` against a fleet. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { RunReport } from '../../src/cli/verify/run-record.ts'
import type { VerifyReport } from '../../src/cli/verify/verify-report.ts'
import { seatgate } from '../cli/command-line.ts'
import { type RunHere, verifyHere } from '../cli/verify/verify-here.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { type Fleet, SPACE } from './fleet.ts'

export interface Verified {
  readonly code: number | null
  readonly report: VerifyReport
}

/** Asks every gateway, in a process of its own: the load of the test does not delay its readers. Resolves once it has ended. */
export async function verifyFleet(t: Test, fleet: Fleet, ...args: string[]): Promise<Verified> {
  const folder = serverFolder(t, 'verify')
  const secret = join(folder, 'secret')
  writeFileSync(secret, fleet.env['ACME_SECRET'] ?? '', { mode: 0o600 })
  const urls = fleet.gateways.flatMap(({ port }) => ['--url', `http://127.0.0.1:${port}`])
  const all = ['verify', ...urls, '--space', SPACE, '--token-secret-file', secret, '--json', ...args]
  const { code, out, err } = await seatgate(folder, all, { SEATGATE_API_KEY: fleet.key })
  if (out === '') throw new Error(`verify ended with ${code}: ${err}`)
  const report: VerifyReport = JSON.parse(out)
  comment(t, report, err.trim() || 'no message')
  return { code, report }
}

/** Asks every gateway until the run has shown what the test waits for, in this process. Resolves once it has ended. */
export async function verifyUntil(
  t: Test,
  fleet: Fleet,
  isDone: RunHere['isDone'],
  settings: Partial<RunHere> = {},
): Promise<RunReport> {
  const { report } = await verifyHere({
    urls: fleet.gateways.map(({ port }) => `http://127.0.0.1:${port}`),
    key: fleet.key,
    space: SPACE,
    tokenSecret: new TextEncoder().encode(fleet.env['ACME_SECRET'] ?? ''),
    isDone,
    ...settings,
  })
  comment(t, report, 'ended once it was done')
  return report
}

function comment(t: Test, report: RunReport, message: string): void {
  const { reads, writes, violations_total: total, write_ms: write, seen_ms: seen } = report
  t.comment(`${reads} reads, ${writes} writes, ${total} violations, ${message}`)
  t.comment(`write until 2xx ${write.p50} / ${write.max} ms, seen ${seen.p50} / ${seen.max} ms`)
}
