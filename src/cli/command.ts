/** What a command declares. Its parser, usage, help, completion and entry of the manual follow from that. */

import type { Config, TenantConfig } from '../config/config.ts'
import { didYouMean, quote } from '../config/invalid-value.ts'
import { type Accepted, type Arguments, type Options, readArguments, UsageError } from './arguments.ts'

export interface Description extends Accepted {
  readonly name: string
  /** A description in one line. */
  readonly summary: string
  /** What a user needs to know besides the summary. */
  readonly details?: string
  /** The meanings of the exit codes; 2 is bad usage for every command. */
  readonly exits: Readonly<Record<number, string>>
  /** A command line, as an example. */
  readonly example: string
}

export interface Command extends Description {
  /**
   * Runs the command.
   *
   * @returns the exit code
   * @throws UsageError, ConfigError, or an error whose message tells the user what failed
   */
  run(args: string[], terminal: Terminal): Promise<number>
}

export function defineCommand<const O extends Options>(
  command: Description & {
    readonly options: O
    run(input: Arguments<O>, terminal: Terminal): Promise<number | void>
  },
): Command {
  return {
    ...command,
    run: async (args, terminal) => (await command.run(readArguments(args, command), terminal)) ?? 0,
  }
}

/** The terminal: data goes to standard output, errors to standard error. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv
  /** The time limit of each call of the store in ms; if absent, a gateway's limit. */
  readonly storeTimeout?: number
  /** The width of standard output in characters; 80 if it is no terminal. */
  readonly columns: number
  /** Prints a line to standard output. Resolves when the text is written. @throws OutputFailed */
  print(text: string): Promise<void>
  printError(text: string): void
  /** The whole standard input, which can be read once. */
  readInput(): Promise<Buffer>
  /** The answer of the person at the terminal, '' after Ctrl-C or Ctrl-D; null if there is no person. */
  ask(question: string): Promise<string | null>
  /** Discards output that standard output has not taken by the end of the command: the process then ends. */
  abandonOutput(): void
}

/** The command could not do its work: exit 1. */
export class CommandFailed extends Error {}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** Standard output cannot be written: exit 1, or 0 if its reader has closed it (EPIPE): `gone`. */
export class OutputFailed extends Error {
  readonly gone: boolean

  constructor(cause: NodeJS.ErrnoException) {
    super(`standard output cannot be written: ${cause.message}`)
    this.gone = cause.code === 'EPIPE'
  }
}

/**
 * A tenant of the configuration.
 *
 * @param id undefined: the only tenant
 * @throws CommandFailed that names the tenants
 */
export function tenantOf(config: Config, id: string | undefined): TenantConfig {
  if (id === '') throw new UsageError('--tenant is empty')
  const [first, ...others] = config.tenants.values()
  const tenant = id === undefined ? (others.length === 0 ? first : undefined) : config.tenants.get(id)
  if (tenant !== undefined) return tenant
  const ids = [...config.tenants.keys()]
  const shown = `${ids.slice(0, MOST_TENANTS).join(', ')}${ids.length > MOST_TENANTS ? ', …' : ''}`
  if (id === undefined)
    throw new CommandFailed(`${config.file} has several tenants: name one with --tenant (${shown})`)
  const near = ids.length > MOST_TENANTS ? didYouMean(id, ids) : ''
  throw new CommandFailed(`${config.file} has no tenant ${quote(id)}${near || ` (it has ${shown})`}`)
}

/** The ids of all tenants, or of the one that the user names. @throws CommandFailed if it is unknown */
export function tenantIdsOf(config: Config, id: string | undefined): string[] {
  return id === undefined ? [...config.tenants.keys()].sort() : [tenantOf(config, id).id]
}

/** The most tenants that a message names. */
const MOST_TENANTS = 20
