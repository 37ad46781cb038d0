/** Runs the command that a command line names. Exit codes: 0 done, 1 the command failed, 2 bad usage. */

import { ConfigError } from '../config/faults.ts'
import { didYouMean, quote } from '../config/invalid-value.ts'
import { packageRoot } from '../config/package-version.ts'
import { UsageError } from './arguments.ts'
import { candidatesFor } from './completion-candidates.ts'
import { type Command, messageOf, OutputFailed, type Terminal } from './command.ts'
import { actionsOf, commands, everyCommand, firstWords, groups } from './commands.ts'
import { groupOverviewOf, helpOf, overviewOf, usageAsText } from './help.ts'
import { versionLine } from './version.ts'

/**
 * Runs a command line.
 *
 * @param args without the program's name
 * @returns the exit code
 */
export async function runCommandLine([name, ...rest]: string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(name, rest, terminal)
  } catch (error) {
    if (!(error instanceof OutputFailed)) throw error
    // `| head`: the reader has closed the pipe after the lines that it wanted.
    if (error.gone) return 0
    terminal.printError(`seatgate: ${error.message}`)
    return 1
  }
}

async function dispatch(name: string | undefined, rest: string[], terminal: Terminal): Promise<number> {
  if (name === '__complete') {
    for (const line of await candidatesFor(rest)) await terminal.print(line)
    return 0
  }
  if (name === '--version') return printed(versionLine(packageRoot()), terminal)
  if (name === '--help' || name === '-h' || (name === 'help' && rest.length === 0))
    return printed(overviewOf(await everyCommand(), groups), terminal)
  if (name === 'help') return dispatch(rest[0], [...rest.slice(1), '--help'], terminal)
  if (name === undefined) {
    terminal.printError(`seatgate: a command is missing\n${overviewOf(await everyCommand(), groups)}`)
    return 2
  }
  if (Object.hasOwn(groups, name)) return dispatchAction(name, rest, terminal)
  return dispatchCommand(name, rest, terminal)
}

/** Runs a command of a group. */
async function dispatchAction(
  group: string,
  [action, ...rest]: string[],
  terminal: Terminal,
): Promise<number> {
  if (action !== undefined && Object.hasOwn(commands, `${group} ${action}`))
    return dispatchCommand(`${group} ${action}`, rest, terminal)
  const isHelp = action === '--help' || action === '-h'
  // `revoke --from` is the command of a group without an action.
  if (action?.startsWith('-') === true && !isHelp && Object.hasOwn(commands, group))
    return dispatchCommand(group, [action, ...rest], terminal)
  const overview = groupOverviewOf(group, groups[group] ?? '', await everyCommand())
  if (isHelp) return printed(overview, terminal)
  const fault =
    action === undefined
      ? 'an action is missing'
      : `unknown action ${quote(action)}${didYouMean(action, actionsOf(group))}`
  terminal.printError(`seatgate ${group}: ${fault}\n${overview}`)
  return 2
}

async function dispatchCommand(name: string, rest: string[], terminal: Terminal): Promise<number> {
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load === undefined) return unknown(name, terminal)
  const command = await load()
  if (asksForHelp(rest)) return printed(helpOf(command), terminal)
  return run(command, rest, terminal)
}

async function printed(output: string, terminal: Terminal): Promise<number> {
  await terminal.print(output)
  return 0
}

/** Whether `--help` is among the arguments. After `--`, everything is data. */
function asksForHelp(args: string[]): boolean {
  const end = args.indexOf('--')
  const before = end < 0 ? args : args.slice(0, end)
  return before.includes('--help') || before.includes('-h')
}

function unknown(name: string, terminal: Terminal): number {
  const words = [...firstWords(), '--help', '--version']
  const what = name.startsWith('-') ? 'option' : 'command'
  terminal.printError(
    `seatgate: unknown ${what} ${quote(name)}${didYouMean(name, words)}\nusage: seatgate COMMAND [options]; "seatgate --help" lists the commands`,
  )
  return 2
}

async function run(command: Command, args: string[], terminal: Terminal): Promise<number> {
  const title = `seatgate ${command.name}`
  try {
    return await command.run(args, terminal)
  } catch (error) {
    if (error instanceof OutputFailed) throw error
    if (error instanceof UsageError) {
      terminal.printError(`${title}: ${error.message}\n${usageAsText(command)}`)
      return 2
    }
    // The faults of a configuration name their places.
    if (error instanceof ConfigError) terminal.printError(error.message)
    else terminal.printError(`${title}: ${messageOf(error)}`)
    return 1
  }
}
