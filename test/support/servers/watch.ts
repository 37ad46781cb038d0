/**
 * No server outlives the test process that started it, even if that is killed. Each test process has a
 * watcher, whose standard input closes when the test process ends, also by `kill -9`. The watcher then kills
 * and removes what is still on its list.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./watcher-process.ts', import.meta.url))

let watcher: ChildProcess | null = null

/** The process, with its descendants, and the folder end at the latest with this process. */
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

/**
 * Starts the watcher with an empty environment, so that no coverage is taken, and in a session that no ^C
 * reaches.
 */
function start(): ChildProcess {
  const child = spawn('env', ['-i', process.execPath, script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // It ends last: neither it nor the pipe to it may keep this process alive.
  child.unref()
  ;(child.stdin as Socket).unref()
  return child
}
