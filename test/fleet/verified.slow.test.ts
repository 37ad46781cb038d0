/** `seatgate verify` finds nothing in a correct fleet, whatever fails meanwhile. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startFleet } from './fleet.ts'
import { verifyFleet } from './verifying.ts'

const fleet = await startFleet(t)

t.test('a gateway is frozen, and Redis is killed', async (t) => {
  const verified = verifyFleet(t, fleet, '--duration', '30s')
  await sleep(8000)
  await fleet.at(1).freeze()
  await sleep(4000)
  fleet.at(1).thaw()
  await sleep(2000)
  await fleet.redis.kill()
  await sleep(4000)
  await fleet.redis.restart({ empty: true })
  const { code, report } = await verified
  t.same(report.violations, [])
  t.same(report.left, [])
  t.equal(code, 0, `${report.why}`)
  t.ok(report.reads > 500, `reads: ${report.reads}`)
  t.ok(report.writes >= 8, `writes: ${report.writes}`)
  for (const { place, reads } of report.places) t.ok(reads > 100, `${place}: ${reads}`)
})

t.test('nothing is left in the store', async (t) => {
  const { json } = await fleet.admin(fleet.first, 'GET', '/v1/seats?limit=100')
  t.same(
    json.data.filter(({ name }: { name: string }) => name.startsWith('seatgate-verify-')),
    [],
  )
})
