/** `seatgate verify` and a gateway that goes away for good: it gives up the deletion, says what is left, and how to delete it. */

import t from 'tap'
import { until } from '../../support/until.ts'
import { outcomeOf } from '../command-line.ts'
import { startGate } from './gate.ts'

t.test('the gateway goes away for good', async (t) => {
  const gate = await startGate(t)
  const before = (await gate.names()).length
  const child = gate.start('--duration', '6s', '--timeout', '1s')
  const ran = outcomeOf(child)
  await until(async () => (await gate.names()).length >= before + 3, 'a Seat and a key are made')
  await gate.gateway.kill()
  const { code, err } = await ran
  t.equal(code, 1)
  t.match(err, /not deleted: \d+. Delete them with seatgate verify --clean\n {2}api-key seatgate-verify-/)
})
