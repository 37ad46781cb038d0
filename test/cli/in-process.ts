/** Runs `seatgate` in this process, for what is not about the process itself. */

import { OutputFailed, type Terminal } from '../../src/cli/command.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { type Ran, SECRET, type seatgate } from './command-line.ts'

const { chdir, cwd: folder, env } = process

/** A process has one current folder: a command begins when the one before it has ended. */
let last: Promise<unknown> = Promise.resolve()

/** As `seatgate` of `command-line.ts`. Standard input is empty, and no person is at the terminal. */
export const seatgateHere: typeof seatgate = (...asked) => seatgateAt({}, ...asked)

/** Into a pipe whose reader is gone. */
export const seatgateUnread: typeof seatgate = (...asked) => {
  const gone = new OutputFailed(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
  return seatgateAt({ print: () => Promise.reject(gone) }, ...asked)
}

/** As `seatgateHere`, at a terminal with a person, an input or a width of its own. */
export function seatgateAt(
  at: Partial<Terminal>,
  ...[cwd, args, more]: Parameters<typeof seatgate>
): Promise<Ran> {
  const ran = last.then(async () => {
    let out = ''
    let err = ''
    const terminal: Terminal = {
      ...NO_TERMINAL,
      env: { ...env, ACME_SECRET: SECRET, ...more },
      print: async (line) => void (out += `${line}\n`),
      printError: (line) => void (err += `${line}\n`),
      ...at,
    }
    const before = folder()
    chdir(cwd)
    try {
      return { code: await runCommandLine([...args], terminal), out, err }
    } finally {
      chdir(before)
    }
  })
  last = ran.catch(() => {})
  return ran
}

/** It takes what is printed, and has no input and no person. */
export const NO_TERMINAL: Terminal = {
  env: {},
  // For busy machines.
  storeTimeout: 60_000,
  columns: 80,
  print: async () => {},
  printError: () => {},
  readInput: async () => Buffer.alloc(0),
  ask: async () => null,
  abandonOutput: () => {},
}
