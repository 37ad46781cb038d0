/** Another program holds the write lock of the file. */

import { join } from 'node:path'
import t from 'tap'
import { locked } from '../locked.ts'
import { open, otherProgram, temporaryFolder } from './support.ts'

locked(t, async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  return {
    open: (timeout) => open(t, { path, timeout }),
    lock: async () => {
      await (await open(t, { path })).close()
      return otherProgram(t, path, 'BEGIN IMMEDIATE')
    },
    // The writer's thread receives its call before the reader's thread responds.
    waiting: async (store) => void (await store.changesSince(null)),
  }
})
