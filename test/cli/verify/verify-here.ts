/** A run of `seatgate verify` in the test's process, which ends as soon as it has shown what the test waits for. */

import type { RunRecord } from '../../../src/cli/verify/run-record.ts'
import {
  type VerificationResult,
  type VerificationSettings,
  verify,
} from '../../../src/cli/verify/verification.ts'
import { NO_TERMINAL } from '../in-process.ts'

export interface RunHere extends Partial<VerificationSettings> {
  /** Of the gateways. */
  readonly urls: readonly string[]
  readonly key: string
  readonly space: string
  /** Whether the run may end now: it is asked again and again. */
  readonly isDone: (record: RunRecord) => boolean
}

/** Much longer than it takes until the run is done. */
const MOST = 50_000

/** @returns once all that it made is deleted, or given up */
export function verifyHere({ urls, key, space, isDone, ...settings }: RunHere): Promise<VerificationResult> {
  const ends = new AbortController()
  const places = urls.map((url) => ({ url: new URL(url), name: url }))
  return verify({
    places,
    shared: { key, space, ca: undefined, timeout: 5000 },
    adminSpace: 'admin',
    duration: MOST,
    interval: 1000,
    readers: 4,
    tokenSecret: null,
    sessions: [],
    during: null,
    tables: false,
    streams: true,
    blocks: true,
    revocations: true,
    writers: 1,
    terminal: NO_TERMINAL,
    interrupted: ends.signal,
    abandoned: new AbortController().signal,
    progress: (record) => {
      if (isDone(record)) ends.abort()
    },
    ...settings,
  })
}

/** A write of this operation was answered with 2xx. */
export function hasMade(record: RunRecord, operation: string): boolean {
  return record.timesOf(operation) > 0
}
