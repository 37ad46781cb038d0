/** `seatgate verify --each-instance`: an instance that is not asked on its own is reported as not tested. */

import t from 'tap'
import { startFleet } from './fleet.ts'
import { verifyFleet } from './verifying.ts'

let shared: string | null = null
const fleet = await startFleet(t, {
  gateways: 2,
  linesOf: (port) => [`advertise: ${(shared ??= `http://localhost:${port}`)}`],
})

async function instances(): Promise<string[]> {
  const { json } = await fleet.admin(fleet.first, 'GET', '/v1/fleet')
  return json.data.map(({ id }: { id: string }) => `instance ${id}`)
}

t.test('instances that advertise the same address', async (t) => {
  const { report } = await verifyFleet(t, fleet, '--duration', '4s', '--each-instance')
  const named = report.not_tested.filter(({ what }) => what.startsWith('instance '))
  t.same(named.map(({ what }) => what).toSorted(), (await instances()).toSorted())
  for (const { why } of named) t.match(why, `2 instances advertise ${shared}, so that it is unknown which`)
  t.match(report.places, [{}, {}, { place: shared }], 'the address is asked all the same')
})
