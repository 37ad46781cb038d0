/** Another program holds the write lock of the file. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { locked } from '../locked.ts'
import { open, temporaryFolder } from './support.ts'

const script = fileURLToPath(new URL('./lock-process.ts', import.meta.url))

async function lock(t: Test, path: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [script, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  await once(child.stdout, 'data')
  const exit = once(child, 'exit')
  return async () => {
    child.stdin.end()
    await exit
  }
}

locked(t, async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  return {
    open: (timeout) => open(t, { path, timeout }),
    lock: async () => {
      await (await open(t, { path })).close()
      return lock(t, path)
    },
    // The writer's thread receives its call before the reader's thread responds.
    waiting: async (store) => void (await store.changesSince(null)),
  }
})
