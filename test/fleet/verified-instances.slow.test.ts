/** `seatgate verify --each-instance`: an instance that is not asked on its own is reported as not tested. */

import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
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

t.test('an instance that starts during the run', async (t) => {
  const before = await instances()
  const late = await fleet.another('c')
  late.configure(`advertise: http://localhost:${late.port}`)
  const start = join(dirname(late.file), 'start')
  const drill = `touch ${start}; until [ -e ${start}ed ]; do sleep 0.1; done`
  const [{ report }] = await Promise.all([
    verifyFleet(t, fleet, '--duration', '12s', '--each-instance', '--during', drill),
    startOnce(late, start),
  ])
  const [joined] = (await instances()).filter((id) => !before.includes(id))
  const named = report.not_tested.filter(({ why }) => why === 'it started during the run')
  t.same(
    named.map(({ what }) => what),
    [joined],
  )
})

/** Once the file is there; then there is another one. */
async function startOnce(gateway: FleetGateway, file: string): Promise<void> {
  await until(() => existsSync(file), 'the run has begun')
  await gateway.start()
  writeFileSync(`${file}ed`, '')
}
