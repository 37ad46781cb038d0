/**
 * Explores `lease.pml` with Spin: the model becomes a C program, which visits every state that the model can reach. It stops at
 * the first state in which an assertion does not hold.
 */

import { execFile } from 'node:child_process'
import { copyFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { missing } from '../../deploy/programs.ts'
import { findProgram } from '../../support/servers/binaries.ts'
import { serverFolder } from '../../support/servers/folder.ts'

/** MiB that an exploration may take, and the longest path that it may follow. */
const MEMORY = 4000
const DEPTH = 1_000_000

/** Definitions of the preprocessor: the scope, and what is broken. */
export type Definitions = readonly string[]

export interface Exploration {
  /** Whether an assertion failed. */
  readonly fails: boolean
  readonly states: number
  readonly seconds: number
  /** Steps of the model that no path has taken. */
  readonly unreached: number
}

/** False, or why the model is not explored here. */
export async function withoutSpin(): Promise<string | false> {
  const compiler = missing('gcc')
  if (compiler !== false) return compiler
  return findProgram('spin').then(
    () => false as const,
    (cause: Error) => cause.message,
  )
}

const run = promisify(execFile)

/** @returns the folder of the compiled program, `pan` */
export async function compiled(
  t: Pick<Test, 'teardown'>,
  definitions: Definitions,
  flags: readonly string[],
): Promise<string> {
  const cwd = serverFolder(t, 'spin')
  const { path, env } = await findProgram('spin')
  for (const file of globSync('*.pml', { cwd: import.meta.dirname }))
    copyFileSync(join(import.meta.dirname, file), join(cwd, file))
  const defined = definitions.map((definition) => `-D${definition}`)
  await run(path, ['-a', ...defined, 'lease.pml'], { cwd, env: { ...process.env, ...env } })
  await run('gcc', ['-w', '-DSAFETY', '-DNOREDUCE', `-DMEMLIM=${MEMORY}`, ...flags, '-o', 'pan', 'pan.c'], {
    cwd,
  })
  return cwd
}

/** Rejects where not every state was visited. */
export async function explored(
  t: Pick<Test, 'teardown'>,
  definitions: Definitions,
  flags = ['-O2'],
): Promise<Exploration> {
  // It writes the path to a failed assertion there.
  const cwd = await compiled(t, definitions, flags)
  const { stdout } = await run('./pan', [`-m${DEPTH}`, '-w22'], { cwd, maxBuffer: Infinity })
  const number = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? Number.NaN)
  const fails = stdout.includes('assertion violated')
  // A failed assertion is the only reason to stop.
  if (!fails && (number(/errors: (\d+)/) !== 0 || /Search not completed|max search depth/.test(stdout)))
    throw new Error(`the model was not explored:\n${stdout}`)
  return {
    fails,
    states: number(/^\s*([\d.e+]+) states, stored$/m),
    seconds: number(/elapsed time ([\d.e+-]+) seconds/),
    // The end of the process is not one of them.
    unreached: number(/\((\d+) of \d+ states\)/) - 1,
  }
}
