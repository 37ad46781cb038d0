/** `seatgate verify` must find a broken fleet, as a check that never fails proves nothing. */

import t from 'tap'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { verifyFleet } from './verifying.ts'

const fleet = await startFleet(t, BREAKABLE)

interface Broken {
  readonly duration: string
  /** The kinds of violation that it must show, one of them at least. */
  readonly kinds: readonly string[]
  readonly during?: () => void
}

const VARIANTS: Readonly<Record<string, Broken>> = {
  'forgets-no-seat': { duration: '10s', kinds: ['stale'] },
  'waits-for-no-acknowledgement': {
    duration: '10s',
    kinds: ['stale'],
    // Messages between the gateways arrive late.
    during: () => fleet.gateways.forEach(({ toRedis }) => toRedis?.delay(150)),
  },
  'clock-jumps': { duration: '10s', kinds: ['grant_lost'] },
}

for (const [variant, { duration, kinds, during }] of Object.entries(VARIANTS))
  t.test(variant, async (t) => {
    const verified = verifyFleet(t, fleet, '--duration', duration)
    const gateways = variant === 'clock-jumps' ? [fleet.at(1)] : fleet.gateways
    // A jump that lasts from before the run would be no jump to the keys that it makes.
    if (variant === 'clock-jumps') await new Promise((resolve) => setTimeout(resolve, 5000))
    during?.()
    await Promise.all(gateways.map((gateway) => applyVariant(variant, gateway)))
    const { code, report } = await verified
    t.equal(code, 3)
    t.ok(
      report.violations.some(({ kind }) => kinds.includes(kind)),
      `first: ${JSON.stringify(report.violations[0])}`,
    )
    for (const { request_id: id, write } of report.violations) t.ok(id !== '' && write.request_id !== '')
    await Promise.all(fleet.gateways.map((gateway) => gateway.toRedis?.heal()))
    await Promise.all(fleet.gateways.map((gateway) => applyVariant('intact', gateway)))
  })
