/** A fleet without Redis. */

import t from 'tap'
import { bootstrapUnderLoad } from './bootstrapping.ts'
import { underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'

t.test('without Redis', async (t) => {
  const fleet = await startFleet(t, { redis: 'none' })
  await underLoad(t, 'no Redis', fleet, (load) => load.written(100))
  await bootstrapUnderLoad(t, 'bootstrap, no Redis', fleet)
})
