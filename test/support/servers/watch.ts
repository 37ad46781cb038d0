/**
 * Sees to it that no server outlives the test process that started it, however that ends. One watcher stands beside
 * each test process; its standard input closes when the test process is gone, also by `kill -9`, and it then kills and
 * removes what is still on its list.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./watcher-process.ts', import.meta.url))

let watcher: ChildProcess | null = null

/** From now on the process dies, with its descendants, and the folder goes, at the latest with this process. */
export function watch(pid: number, folder: string): void {
  tell(`+ ${pid} ${folder}`)
}

/** The process has ended, so its number may soon be another's. */
export function unwatch(pid: number): void {
  tell(`- ${pid}`)
}

function tell(line: string): void {
  watcher ??= start()
  watcher.stdin?.write(`${line}\n`)
}

/** With an empty environment, so that no coverage is taken of it; in a session of its own, so that no ^C reaches it. */
function start(): ChildProcess {
  const child = spawn('env', ['-i', process.execPath, script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // It goes last: neither it nor the pipe to it may keep this process.
  child.unref()
  ;(child.stdin as Socket).unref()
  return child
}
