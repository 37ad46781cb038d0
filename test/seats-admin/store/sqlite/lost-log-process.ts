/**
 * Writes Seats, deletes the log of the open store once, and prints each acknowledged write at once. Then it waits to be
 * killed.
 */

import { rmSync, writeSync } from 'node:fs'
import { openSqliteStore } from '../../../../seats-admin/index.ts'
import { writer } from '../conformance.ts'

const [, , path = ''] = process.argv
const store = await openSqliteStore({ path, timeout: 60_000 })
for (let count = 0; count < 20; count++) {
  if (count === 10) for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
  const name = `s${count}`
  const made = store.createSeat(writer(), { name, spaces: [], permissions: [] })
  writeSync(
    1,
    `${await made.then(
      () => name,
      (cause: Error) => cause.message,
    )}\n`,
  )
}
writeSync(1, 'end\n')
setInterval(() => {}, 1000)
