/** Whether a process may decide by its configuration: under a lease, or right after its files were read. */

import t from 'tap'
import { CurrentFiles, FILES_VALID } from '../../src/coherence/current-files.ts'
import { ManualClock, settled } from './support.ts'

function setUp() {
  const clock = new ManualClock()
  const lease = { isLive: false, live: () => lease.isLive }
  const readings: PromiseWithResolvers<void>[] = []
  const reader = {
    checkFiles: () => {
      const reading = Promise.withResolvers<void>()
      readings.push(reading)
      return reading.promise
    },
  }
  return { clock, lease, readings, files: new CurrentFiles(lease, reader, clock) }
}

t.test('a lease is enough; without one, the files count for a moment after they were read', async (t) => {
  const { clock, lease, readings, files } = setUp()
  t.notOk(files.areCurrent())
  lease.isLive = true
  t.ok(files.areCurrent())
  lease.isLive = false
  t.notOk(files.areCurrent())
  const check = files.check()
  clock.jump(10)
  readings[0]?.resolve()
  await check
  t.ok(files.areCurrent())
  clock.jump(FILES_VALID - 11)
  t.ok(files.areCurrent(), 'from the beginning of the reading on')
  clock.jump(1)
  t.notOk(files.areCurrent())
})

t.test('a machine that slept has read nothing lately', async (t) => {
  const { clock, readings, files } = setUp()
  const check = files.check()
  readings[0]?.resolve()
  await check
  clock.stepWall(FILES_VALID)
  t.notOk(files.areCurrent())
})

t.test('a reading that began before the request does not serve it; one serves all that wait', async (t) => {
  const { clock, readings, files } = setUp()
  const done: string[] = []
  const ask = (name: string) => void files.check().then(() => done.push(name))
  ask('first')
  clock.jump(5000)
  for (const name of ['second', 'third']) ask(name)
  t.equal(readings.length, 1)
  readings[0]?.resolve()
  await settled()
  t.same(done, ['first'])
  t.equal(readings.length, 2)
  readings[1]?.resolve()
  await settled()
  t.same(done, ['first', 'second', 'third'])
  t.equal(readings.length, 2)
})

t.test('files that cannot be read are not current', async (t) => {
  const { readings, files } = setUp()
  const check = files.check()
  readings[0]?.reject(new Error('the primary does not respond'))
  await t.rejects(check, { message: 'the primary does not respond' })
  t.notOk(files.areCurrent())
  void files.check()
  t.equal(readings.length, 2)
})
