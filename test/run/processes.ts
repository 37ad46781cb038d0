/** Processes of test files. Each leads a group, so that what it has started ends with it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import module from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Compiled modules are kept from one process to the next: half of the time that a gateway takes to load. */
const COMPILE_CACHE = join(process.cwd(), 'node_modules', '.cache', 'compile')

const PRELOADED = ['--import', new URL('./preload.ts', import.meta.url).href]

/** The folder that the processes of this run share. */
const FOLDER = mkdtempSync(join(tmpdir(), 'seatgate-test-run-'))
process.on('exit', () => rmSync(FOLDER, { recursive: true }))

const running = new Set<ChildProcess>()
let started = 0

/**
 * Writes TAP to standard output.
 *
 * @param timeout in seconds, after which tap ends the file's tests
 * @param env variables more
 */
export function startTest(file: string, timeout: number, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const stripped = join(FOLDER, `${++started}.js`)
  const variables = writeStripped(file, stripped) ? { SEATGATE_TEST_STRIPPED: stripped } : {}
  const child = spawn(process.execPath, [...PRELOADED, file], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...process.env,
      ...env,
      ...variables,
      SEATGATE_TEST_RUN: FOLDER,
      TAP_TIMEOUT: String(timeout),
    },
  })
  running.add(child)
  child.on('close', () => running.delete(child))
  return child
}

/** Sends a signal to the process and to what it has started. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group has ended.
  }
}

export function endAll(): void {
  for (const child of running) signalGroup(child, 'SIGKILL')
}

/**
 * The test file without its types; lines and columns stay. Its process would otherwise load what strips
 * types, 80 ms of CPU time, for one file alone: earlier processes have put all others into the compile cache.
 *
 * @param path of a new file
 * @returns false if the file is no TypeScript; its own process then says why
 */
function writeStripped(file: string, path: string): boolean {
  const { emitWarning } = process
  // The function warns that it is experimental.
  process.emitWarning = () => {}
  try {
    writeFileSync(path, module.stripTypeScriptTypes(readFileSync(file, 'utf8')))
    return true
  } catch {
    return false
  } finally {
    process.emitWarning = emitWarning
  }
}
