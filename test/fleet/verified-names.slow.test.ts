/** `seatgate verify` finds a fleet that revives names, and nothing once the fleet is whole again. */

import t from 'tap'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { verifyFleet } from './verifying.ts'

const fleet = await startFleet(t, { ...BREAKABLE, gateways: 2 })

t.test('a name used again revives no older token', async (t) => {
  await Promise.all(fleet.gateways.map((gateway) => applyVariant('revives-names', gateway)))
  const broken = await verifyFleet(t, fleet, '--duration', '18s')
  t.equal(broken.code, 3)
  t.match(broken.report.violations[0], { answer: 'allow', subject: /^token/ })
  await Promise.all(fleet.gateways.map((gateway) => applyVariant('intact', gateway)))
  const whole = await verifyFleet(t, fleet, '--duration', '18s')
  t.match(whole, { code: 0, report: { violations: [] } })
})
