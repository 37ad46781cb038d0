/** Runs `seatgate` in this process, for what is not about the process itself. */

import { OutputFailed, type Terminal } from '../../src/cli/command.ts'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { defaults } from '../../seats-admin/store/sqlite/sqlite-store.ts'
import { type Ran, SECRET, type seatgate } from './command-line.ts'

const { chdir, cwd: folder, env } = process

defaults.timeout = 60_000

/** A process has one current folder: a command begins when the one before it has ended. */
let last: Promise<unknown> = Promise.resolve()

/** As `seatgate` of `command-line.ts`. Standard input is empty, and no person is at the terminal. */
export const seatgateHere: typeof seatgate = (cwd, args, more) => next(cwd, args, more)

/** As `seatgateHere`, at a terminal with a person, an input or a width of its own. */
export function seatgateAt(
  terminal: Partial<Terminal>,
  ...[cwd, args, more]: Parameters<typeof seatgate>
): Promise<Ran> {
  return next(cwd, args, more, terminal)
}

/** Into a pipe whose reader is gone. */
export const seatgateUnread: typeof seatgate = (cwd, args, more) =>
  next(cwd, args, more, {
    print: async () => {
      throw new OutputFailed(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    },
  })

function next(
  cwd: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
  at: Partial<Terminal> = {},
): Promise<Ran> {
  const ran = last.then(() => run(cwd, args, { ...env, ACME_SECRET: SECRET, ...more }, at))
  last = ran.catch(() => {})
  return ran
}

async function run(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  at: Partial<Terminal>,
): Promise<Ran> {
  const before = folder()
  let out = ''
  let err = ''
  const terminal: Terminal = {
    env,
    print: async (line) => {
      out += `${line}\n`
    },
    printError: (line) => void (err += `${line}\n`),
    readInput: async () => Buffer.alloc(0),
    ask: async () => null,
    abandonOutput: () => {},
    columns: 80,
    ...at,
  }
  chdir(cwd)
  try {
    return { code: await runCommandLine([...args], terminal), out, err }
  } finally {
    chdir(before)
  }
}
