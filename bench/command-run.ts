/** A command as a process of its own: its output, time, CPU and memory. */

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

export interface Usage {
  /** CPU seconds, of all threads. */
  readonly cpu: number
  /** The most resident memory, MiB. */
  readonly memory: number
}

export interface Ran extends Usage {
  readonly seconds: number
  readonly code: number | null
  readonly out: string
}

/** Milliseconds between looks at a process. */
const LOOK_EVERY = 50

/** @param keep its standard output, which is read in any case */
export function runCommand(
  command: string,
  args: readonly string[],
  cwd: string,
  { keep = true, env = {} }: { readonly keep?: boolean; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return new Promise((done) => {
    const startedAt = performance.now()
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let usage: Usage = { cpu: 0, memory: 0 }
    const timer = setInterval(() => (usage = usageOf(child.pid) ?? usage), LOOK_EVERY)
    const parts: string[] = []
    child.stdout.on('data', (chunk) => {
      if (keep) parts.push(String(chunk))
    })
    child.on('close', (code) => {
      clearInterval(timer)
      done({ ...usage, seconds: (performance.now() - startedAt) / 1000, code, out: parts.join('') })
    })
  })
}

/** As Linux has it, in proc(5), with 100 ticks a second. Null: the process has ended. */
function usageOf(pid: number | undefined): Usage | null {
  try {
    const [, peak] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const ticks = Number(fields[11]) + Number(fields[12])
    return peak === undefined ? null : { cpu: ticks / 100, memory: Number(peak) / 1024 }
  } catch {
    return null
  }
}
