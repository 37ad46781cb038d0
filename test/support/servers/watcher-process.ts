/** The watcher of watch.ts: reads what to end, waits for the end of its input, and ends it. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { killFamily } from './processes.ts'
import { releaseMemory } from './shared-memory.ts'

const processes = new Set<number>()
const folders = new Set<string>()

for await (const line of createInterface(process.stdin)) {
  const [, sign, pid, folder] = /^([+-]) (\d+)(?: (.*))?$/.exec(line) ?? []
  if (sign === '-') processes.delete(Number(pid))
  else processes.add(Number(pid))
  if (folder !== undefined) folders.add(folder)
}
// A process that does not end must not keep the others alive.
await Promise.allSettled([...processes].map(killFamily))
for (const folder of folders) releaseMemory(join(folder, 'data'))
const options = { recursive: true, force: true, maxRetries: 5 }
await Promise.allSettled([...folders].map((folder) => rm(folder, options)))
