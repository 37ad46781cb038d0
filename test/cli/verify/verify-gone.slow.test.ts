/** `seatgate verify` and a gateway that goes away for good: it gives up the deletion, says what is left, and how to delete it. */

import t from 'tap'
import { leftInWords } from '../../../src/cli/verify/made-objects.ts'
import { until } from '../../support/until.ts'
import { outcomeOf } from '../command-line.ts'
import { SPACE, startGate } from './gate.ts'
import { hasMade, verifyHere } from './verify-here.ts'

const LEFT =
  /not deleted: \d+. Delete them with seatgate users unblock, keys revoke and seats delete\n[^]* {2}api-key seatgate-verify-/
const [gate, other] = await Promise.all([startGate(t), startGate(t)])
t.jobs = 2

t.test('the gateway goes away for good', async (t) => {
  let gone: Promise<unknown> | null = null
  const { left } = await verifyHere({
    urls: [gate.gateway.origin],
    key: gate.key,
    space: SPACE,
    patience: 2000,
    isDone: (record) => {
      if (hasMade(record, 'make key')) gone ??= gate.gateway.kill()
      return gone !== null
    },
  })
  await gone
  t.match(leftInWords(left), LEFT)
  for (const { why } of left) t.match(why, /ECONNREFUSED/)
})

t.test('a second Ctrl-C leaves the rest at once', async (t) => {
  const before = (await other.names()).length
  const child = other.start('--duration', '10m', '--timeout', '1s')
  const ran = outcomeOf(child)
  await until(async () => (await other.names()).length >= before + 3, 'a Seat and a key are made')
  await other.gateway.kill()
  let err = ''
  child.stderr?.on('data', (text: Buffer) => (err += text.toString()))
  child.kill('SIGINT')
  await until(() => err.includes('a second Ctrl-C leaves it'), 'it begins to delete')
  child.kill('SIGINT')
  const { code, err: all } = await ran
  t.equal(code, 1)
  t.match(all, LEFT)
  t.match(all, /the command was interrupted a second time/)
})
