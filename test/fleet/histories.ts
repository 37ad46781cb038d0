/** Five administrators who change the same few Seats and keys through all gateways of a fleet, and callers who ask meanwhile. */

import type { Test } from 'tap'
import type { RunRecord, RunReport } from '../../src/cli/verify/run-record.ts'
import { until } from '../support/until.ts'
import { type Fleet, SPACE } from './fleet.ts'
import { verifyUntil } from './verifying.ts'

const WRITERS = 5
/** ms between two writes of one administrator. */
const INTERVAL = 20
/** ms that a request may take: a frozen gateway must not hold up a scene. */
const TIMEOUT = 2000

export interface Administrators {
  readonly record: RunRecord
  /** Resolves when this many more writes have been answered with 2xx. */
  written(more: number): Promise<void>
}

/** Until the scenario has ended. @returns the report, with what contradicts each other */
export async function manyAdministrators(
  t: Test,
  fleet: Fleet,
  during: (administrators: Administrators) => Promise<unknown>,
): Promise<RunReport> {
  let begun: ((record: RunRecord) => void) | null = null
  const first = new Promise<RunRecord>((resolve) => (begun = resolve))
  let isDone = false
  const look = (record: RunRecord) => {
    begun?.(record)
    return isDone
  }
  const shared = { key: fleet.key, space: SPACE, ca: undefined, timeout: TIMEOUT }
  const running = verifyUntil(t, fleet, look, { shared, writers: WRITERS, interval: INTERVAL, readers: 2 })
  const scenario = async () => {
    const record = await first
    const written = async (more: number) => {
      const goal = record.writes + more
      const isThere = () => record.writes >= goal
      await until(isThere, () => `only ${record.writes} of ${goal} writes`, { pause: 20, patience: 60_000 })
    }
    await during({ record, written })
  }
  try {
    await Promise.race([scenario(), running])
  } finally {
    isDone = true
  }
  const report = await running
  t.comment(JSON.stringify(report.histories))
  return report
}

/** What contradicts each other. */
export function textsOf({ violations }: Pick<RunReport, 'violations'>): string[] {
  return violations.map(({ operations = [] }) => operations.join('\n'))
}
