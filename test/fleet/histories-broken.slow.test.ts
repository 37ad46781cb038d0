/** The checker of orders must find a broken fleet, as a check that never fails proves nothing. */

import t from 'tap'
import { until } from '../support/until.ts'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { manyAdministrators, textsOf } from './histories.ts'

const fleet = await startFleet(t, { ...BREAKABLE, proxies: ['store', 'redis'] })

/** Variant → what happens besides. */
const VARIANTS: Readonly<Record<string, () => void>> = {
  'loses-writes': () => {},
  'forgets-no-seat': () => {},
  'revives-names': () => {},
  'waits-for-no-acknowledgement': () => fleet.gateways.forEach(({ toRedis }) => toRedis?.delay(150)),
}

for (const [variant, besides] of Object.entries(VARIANTS))
  t.test(variant, async (t) => {
    const report = await manyAdministrators(t, fleet, async ({ record }) => {
      await Promise.all(fleet.gateways.map((gateway) => applyVariant(variant, gateway)))
      besides()
      await until(() => record.violations > 0, 'a contradiction', { pause: 50, patience: 60_000 })
    })
    const [first] = textsOf(report)
    t.match(first, /^> \[[0-9.]+, [0-9.]+\] (?:caller|writer \d) at http:/m)
    await Promise.all(fleet.gateways.map(({ toRedis }) => toRedis?.heal()))
    await Promise.all(fleet.gateways.map((gateway) => applyVariant('intact', gateway)))
  })
