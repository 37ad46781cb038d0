/** A full disk: writes fail, reads continue, no acknowledged write is lost, and the store recovers once there is space. */

import { fileURLToPath } from 'node:url'
import t from 'tap'
import { canMount, onSmallDisk, temporaryFolder } from './support.ts'

t.test('a full disk', async (t) => {
  const folder = temporaryFolder(t)
  if (!canMount(folder)) {
    t.pass({ skip: 'this machine does not allow mounting a disk' })
    return
  }
  const script = fileURLToPath(new URL('./disk-full-process.ts', import.meta.url))
  const { status, stdout, stderr } = onSmallDisk(folder, process.execPath, script, folder)
  t.equal(status, 0, stderr)
  const seen = JSON.parse(stdout)
  t.ok(seen.acknowledged.length > 10)
  t.match(seen.refusal, /database or disk is full|disk I\/O error/)
  t.match(seen.whileFull.again, /database or disk is full|disk I\/O error/)
  t.same(seen.whileFull.names, seen.acknowledged)
  t.match(seen.nothingStored, { refused: { refused: 'seat_name_taken' }, pruned: 0 })
  t.match(seen.nothingStored.fault, /disk_full|io_error/, 'writes that store nothing end no fault')
  t.equal(seen.healed, 'done')
  t.equal(seen.fault, null)
  t.same(seen.afterwards, [...seen.acknowledged, 'healed'])
  t.same(seen.audit, { names: seen.afterwards, faults: [] }, 'an entry for each change, and no other')
})
