/** `seatgate verify` must find a broken fleet, as a check that never fails proves nothing. */

import t from 'tap'
import type { RunRecord } from '../../src/cli/verify/run-record.ts'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { hasMade } from '../cli/verify/verify-here.ts'
import { verifyUntil } from './verifying.ts'

const fleet = await startFleet(t, BREAKABLE)

interface Broken {
  /** The kind of violation that it must show. */
  readonly kind: string
  readonly during?: () => void
}

const VARIANTS: Readonly<Record<string, Broken>> = {
  'forgets-no-seat': { kind: 'stale' },
  'waits-for-no-acknowledgement': {
    kind: 'stale',
    // Messages between the gateways arrive late.
    during: () => fleet.gateways.forEach(({ toRedis }) => toRedis?.delay(150)),
  },
  'clock-jumps': { kind: 'grant_lost' },
}

for (const [variant, { kind, during }] of Object.entries(VARIANTS))
  t.test(variant, async (t) => {
    const gateways = variant === 'clock-jumps' ? [fleet.at(1)] : fleet.gateways
    const shows = (record: RunRecord) => record.report([]).violations.some((each) => each.kind === kind)
    let broken: Promise<unknown> | null = null
    const report = await verifyUntil(t, fleet, (record) => {
      // A jump that lasts from before the run would be no jump to the keys that it makes.
      if (!hasMade(record, 'make key')) return false
      if (broken === null) during?.()
      broken ??= Promise.all(gateways.map((gateway) => applyVariant(variant, gateway)))
      return shows(record)
    })
    await broken
    t.ok(
      report.violations.some((each) => each.kind === kind),
      `first: ${JSON.stringify(report.violations[0])}`,
    )
    for (const { request_id: id, write } of report.violations) t.ok(id !== '' && write.request_id !== '')
    await Promise.all(fleet.gateways.map((gateway) => gateway.toRedis?.heal()))
    await Promise.all(fleet.gateways.map((gateway) => applyVariant('intact', gateway)))
  })
