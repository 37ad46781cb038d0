/** The commands by name. Exit codes: 0 done, 1 the command failed, 2 bad usage. */

import { argv, env, exit } from 'node:process'
import { ConfigError } from '../config/faults.ts'
import { type Command, OutputFailed, type Terminal, UsageError } from './command.ts'

/** Loaded on demand: a command does not load the code of another. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.ts')).start,
  check: async () => (await import('./check.ts')).check,
  routes: async () => (await import('./routes.ts')).routes,
  explain: async () => (await import('./explain.ts')).explain,
  fleet: async () => (await import('./fleet.ts')).fleet,
  bootstrap: async () => (await import('./bootstrap.ts')).bootstrap,
  token: async () => (await import('./token.ts')).token,
}

let abandoned = false

const terminal: Terminal = {
  env,
  print: (text) => written(process.stdout, text),
  printError: (text) => void written(process.stderr, text).catch(() => {}),
  abandonOutput: () => {
    abandoned = true
  },
}

process.exitCode = await main(argv.slice(2))
if (abandoned) exit()

function ignore(): void {}

function written(stream: NodeJS.WriteStream, text: string): Promise<void> {
  // The callback of each write gets its failure. Without a listener, the event would end the process with a stack.
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore)
  return new Promise((resolve, reject) => {
    stream.write(`${text}\n`, (error) => (error ? reject(new OutputFailed(error)) : resolve()))
  })
}

async function main([name, ...rest]: string[]): Promise<number> {
  try {
    return await dispatch(name, rest)
  } catch (error) {
    if (!(error instanceof OutputFailed)) throw error
    // `| head`: the reader has closed the pipe after the lines that it wanted.
    if (error.gone) return 0
    terminal.printError(`seatgate: ${error.message}`)
    return 1
  }
}

async function dispatch(name: string | undefined, rest: string[]): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') {
    await terminal.print(await overview())
    return 0
  }
  const load = Object.hasOwn(commands, name ?? '') ? commands[name ?? ''] : undefined
  if (load === undefined) {
    terminal.printError(
      name === undefined ? 'seatgate: a command is missing' : `seatgate: unknown command "${name}"`,
    )
    terminal.printError(await overview())
    return 2
  }
  const command = await load()
  if (rest.includes('--help') || rest.includes('-h')) {
    await terminal.print(`usage: seatgate ${command.usage}\n\n${command.summary}`)
    return 0
  }
  return run(`seatgate ${name}`, command, rest)
}

async function run(title: string, command: Command, args: string[]): Promise<number> {
  try {
    await command.run(args, terminal)
    return 0
  } catch (error) {
    if (error instanceof OutputFailed) throw error
    if (error instanceof UsageError) {
      terminal.printError(`${title}: ${error.message}\nusage: seatgate ${command.usage}`)
      return 2
    }
    // The faults of a configuration name their places.
    if (error instanceof ConfigError) terminal.printError(error.message)
    else terminal.printError(`${title}: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}

async function overview(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()))
  return `usage:\n${all.map(({ usage, summary }) => `  seatgate ${usage}\n      ${summary}`).join('\n')}`
}
