/** `seatgate verify` interrupted: what it made is deleted, and a drill is not left half done. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../support/until.ts'
import { outcomeOf } from '../command-line.ts'
import { startGate } from './gate.ts'

const { names, start, folder } = await startGate(t)
const before = await names()

t.test('Ctrl-C during a drill: the command runs to its end', async (t) => {
  const child = start('--duration', '20s', '--during', 'touch begun; sleep 3; touch ended')
  const ran = outcomeOf(child)
  await until(() => existsSync(join(folder, 'begun')), 'the drill begins')
  child.kill('SIGINT')
  const { code, err } = await ran
  t.equal(code, 1)
  t.match(err, /waiting for the command of --during/)
  t.ok(existsSync(join(folder, 'ended')))
  t.same(await names(), before)
})

t.test('Ctrl-C: what was made is deleted, and the report says so', async (t) => {
  const child = start('--duration', '10m')
  const ran = outcomeOf(child)
  await until(async () => (await names()).length >= before.length + 3, 'a Seat and a key are made')
  child.kill('SIGINT')
  const { code, out, err } = await ran
  t.equal(code, 1)
  t.match(out, /it was interrupted/)
  t.match(err, /deleting what it made; a second Ctrl-C leaves it/)
  t.same(await names(), before)
})
