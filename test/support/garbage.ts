/** The memory that is reachable after V8 has collected its garbage. */

import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

export const collect: () => void = runInNewContext('gc')

/** Collects several times, because finalizers and buffers release more memory. */
export async function collected(): Promise<NodeJS.MemoryUsage> {
  for (let turn = 0; turn < 3; turn++) {
    collect()
    await sleep(20)
  }
  return process.memoryUsage()
}
