/** `seatgate verify` finds a fleet that revives names, and nothing once the fleet is whole again. */

import t from 'tap'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { hasMade } from '../cli/verify/verify-here.ts'
import { verifyUntil } from './verifying.ts'

const fleet = await startFleet(t, { ...BREAKABLE, gateways: 2 })

t.test('a name used again revives no older token', async (t) => {
  await Promise.all(fleet.gateways.map((gateway) => applyVariant('revives-names', gateway)))
  const broken = await verifyUntil(t, fleet, ({ violations }) => violations > 0)
  t.match(broken.violations[0], { answer: 'allow', subject: /^token/ })
  await Promise.all(fleet.gateways.map((gateway) => applyVariant('intact', gateway)))
  // By then, names were used again after renames and after a deletion.
  const whole = await verifyUntil(t, fleet, (record) => hasMade(record, 'revoke key'))
  t.match(whole, { violations: [], violations_total: 0 })
  // A write that a busy machine refuses with 503 ends a cycle, and the next one makes it again.
  t.ok((whole.operations['make again'] ?? 0) >= 1)
})
