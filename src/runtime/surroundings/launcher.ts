/**
 * The npm that started this process, as `npx seatgate start` or `npm start`. npm does not pass every signal on: SIGTERM ends
 * npm and its shell, SIGHUP and SIGKILL end npm alone, and each leaves the gateway running without a parent.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A process, as the system shows it. */
interface Shown {
  readonly pid: number
  readonly parent: number
  /** Its command line; npm writes what it runs, such as `npm exec seatgate`. */
  readonly command: string
}

/** Milliseconds between two looks. */
const LOOK_EVERY = 250
/** npm, its shell, and `seatgate.js` on an older Node.js. */
const MAX_GENERATIONS = 3

/** Looks at processes: an own one in tests. */
export interface Processes {
  /** The parent of this process. */
  parent(): number
  /** Null where it cannot be seen. */
  show(pid: number): Shown | null
}

const system: Processes = { parent: () => process.ppid, show }

/**
 * Calls `ended` once, when npm, its shell or `seatgate.js` is no longer there; never where npm did not start this process.
 *
 * @param env of this process; `SEATGATE_LAUNCHER` is the process id of `seatgate.js` that handed over
 * @returns ends the watch
 */
export function watchLauncher(env: NodeJS.ProcessEnv, ended: () => void, processes = system): () => void {
  const line = lineOf(env, processes)
  if (line === null) return () => {}
  const timer = setInterval(look, LOOK_EVERY)
  timer.unref()
  function look(): void {
    if (isWhole(line ?? [], processes)) return
    clearInterval(timer)
    ended()
  }
  look()
  return () => clearInterval(timer)
}

/** From the parent up to npm; null: nothing to watch. An empty line: npm has ended already. */
function lineOf(env: NodeJS.ProcessEnv, processes: Processes): number[] | null {
  const handedOver = Number(env['SEATGATE_LAUNCHER'])
  const line: number[] = []
  let pid = processes.parent()
  if (handedOver > 0 && pid !== handedOver) return []
  for (let generation = 0; generation < MAX_GENERATIONS; generation++) {
    const shown = processes.show(pid)
    if (shown === null) break
    line.push(pid)
    if (isNpm(shown)) return line
    if (pid !== handedOver && !isShell(shown)) break
    pid = shown.parent
  }
  // npm ended while this process was starting, or what it runs starts this process in a way of its own.
  if (line.length > 0 && isOfNpx(env)) return []
  return handedOver > 0 ? [handedOver] : null
}

function isWhole(line: readonly number[], processes: Processes): boolean {
  if (line.length === 0) return false
  let parent: number | undefined = processes.parent()
  for (const pid of line) {
    if (parent !== pid) return false
    parent = pid === line.at(-1) ? undefined : processes.show(pid)?.parent
  }
  return true
}

function isNpm({ command }: Shown): boolean {
  return /^np[mx](?: |$)/.test(command)
}

function isShell({ command }: Shown): boolean {
  return /^(?:\S*\/)?(?:sh|ash|bash|dash|ksh|zsh|busybox sh) (?:-\w+ )*-c /.test(command)
}

/** Whether `npx seatgate` runs this command itself. Programs below it inherit all but the script. */
function isOfNpx(env: NodeJS.ProcessEnv): boolean {
  return env['npm_command'] === 'exec' && /^'?seatgate'?(?: |$)/.test(env['npm_lifecycle_script'] ?? '')
}

function show(pid: number): Shown | null {
  try {
    return process.platform === 'linux' ? showOnLinux(pid) : showElsewhere(pid)
  } catch {
    return null
  }
}

function showOnLinux(pid: number): Shown {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  // proc(5): the name of the program stands in parentheses, and may hold some; the state and the parent follow.
  const parent = Number(/^.*\) \S (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  return { pid, parent, command }
}

function showElsewhere(pid: number): Shown | null {
  const text = execFileSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], { encoding: 'utf8' })
  const [, parent, command = ''] = /^\s*(\d+)\s+(.*)/.exec(text) ?? []
  return parent === undefined ? null : { pid, parent: Number(parent), command }
}
