/** `seatgate verify --tables` finds nothing in a correct fleet, and leaves the tables as they were. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Pusher, tableOf } from '../tables/pushing.ts'
import { startFleet } from './fleet.ts'
import { verifyFleet } from './verifying.ts'

const FILES = { 'main.yaml': tableOf('a:read') }

const fleet = await startFleet(t, { tablesFrom: 'store' })
const pusher = new Pusher(fleet.first.port, fleet.key)
t.teardown(() => pusher.close())
const pushed = await pusher.push(FILES)
t.equal(pushed.status, 200, pushed.body)

t.test('tables are pushed while a gateway is frozen', async (t) => {
  const verified = verifyFleet(t, fleet, '--duration', '30s', '--tables')
  await sleep(8000)
  await fleet.at(1).freeze()
  await sleep(4000)
  fleet.at(1).thaw()
  const { code, report } = await verified
  t.same(report.violations, [])
  t.same(report.left, [])
  t.equal(code, 0, `${report.why}`)
  for (const operation of ['deny in tables', 'allow in tables']) {
    t.ok((report.operations[operation] ?? 0) > 0, JSON.stringify(report.operations))
    // The place of the frozen gateway may be named without the others.
    t.notOk(
      report.not_tested.some(({ what }) => what === operation),
      JSON.stringify(report.not_tested),
    )
  }
  t.same((await pusher.read()).json.files, FILES)
})
