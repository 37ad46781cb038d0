/** Runs `seatgate` in this process, for what is not about the process itself. */

import { chdir, cwd as folder, env } from 'node:process'
import { OutputFailed, type Terminal } from '../../src/cli/command.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { defaults } from '../../seats-admin/store/sqlite/store.ts'
import { type Ran, SECRET, type seatgate } from './command-line.ts'

defaults.timeout = 60_000

/** A process has one current folder: a command begins when the one before it has ended. */
let last: Promise<unknown> = Promise.resolve()

/** As `seatgate` of `command-line.ts`. Standard input is empty, and no person is at the terminal. */
export const seatgateHere: typeof seatgate = (cwd, args, more) => next(cwd, args, more, () => {})

/** Into a pipe whose reader is gone. */
export const seatgateUnread: typeof seatgate = (cwd, args, more) =>
  next(cwd, args, more, () => {
    throw new OutputFailed(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  })

function next(cwd: string, args: readonly string[], more: NodeJS.ProcessEnv = {}, written: () => void) {
  const ran = last.then(() => run(cwd, args, { ...env, ACME_SECRET: SECRET, ...more }, written))
  last = ran.catch(() => {})
  return ran
}

async function run(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  written: () => void,
): Promise<Ran> {
  const before = folder()
  let out = ''
  let err = ''
  const terminal: Terminal = {
    env,
    print: async (line) => {
      written()
      out += `${line}\n`
    },
    printError: (line) => void (err += `${line}\n`),
    readInput: async () => '',
    ask: async () => null,
    abandonOutput: () => {},
  }
  chdir(cwd)
  try {
    return { code: await runCommandLine([...args], terminal), out, err }
  } finally {
    chdir(before)
  }
}
