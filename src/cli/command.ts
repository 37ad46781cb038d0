/** The interface of a command, and the parsing of its arguments. */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Config, TenantConfig } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'

export interface Command {
  /** The command line after `seatgate`. */
  readonly usage: string
  readonly summary: string
  /** Throws UsageError, ConfigError, or an error whose message tells the user what failed. */
  run(args: string[], terminal: Terminal): Promise<void>
}

/** Data goes to standard output, errors to standard error. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv
  /** Resolves once the text is written; rejects with OutputFailed. */
  print(text: string): Promise<void>
  printError(text: string): void
  /** Discards output that standard output has not taken by the end of the command, so that the process ends. */
  abandonOutput(): void
}

/** The command line is wrong: exit 2. */
export class UsageError extends Error {}

/** The command could not do its work: exit 1. */
export class CommandFailed extends Error {}

/** Standard output can't be written: exit 1. `gone`: its reader has closed it (EPIPE), which is no fault: exit 0. */
export class OutputFailed extends Error {
  readonly gone: boolean

  constructor(cause: NodeJS.ErrnoException) {
    super(`standard output can't be written: ${cause.message}`)
    this.gone = cause.code === 'EPIPE'
  }
}

export const DEFAULT_CONFIG = 'gateway.config.yaml'

type Options = NonNullable<ParseArgsConfig['options']>

interface ArgumentShape {
  /** Number of positional arguments; none when left out. */
  readonly positionals?: number
  /** An option with several values, with or without its name before each: `--seat A --seat B`, `--seat A B`. */
  readonly list?: string
}

/**
 * Strict: unknown options, missing values, repeated options with a single value, and a wrong number of positionals are
 * bad usage.
 */
export function readArguments<const O extends Options>(
  args: string[],
  options: O,
  { positionals = 0, list }: ArgumentShape = {},
) {
  try {
    const named = list === undefined ? args : withOptionNames(args, options, list, positionals)
    const parsed = parseArgs({
      args: named,
      options,
      strict: true,
      allowPositionals: positionals > 0,
      tokens: true,
    })
    const seen = new Set<string>()
    for (const token of parsed.tokens) {
      if (token.kind !== 'option' || options[token.name]?.multiple) continue
      if (seen.has(token.name)) throw new UsageError(`--${token.name} is given twice`)
      seen.add(token.name)
    }
    if (parsed.positionals.length !== positionals) {
      throw new UsageError(
        `takes ${positionals} arguments besides its options, not ${parsed.positionals.length}`,
      )
    }
    return parsed
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Puts the option's name before each further value of the list. Only where exactly those are one too many positionals:
 * otherwise it would be unclear which of them is which.
 */
function withOptionNames(args: string[], options: Options, list: string, positionals: number): string[] {
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true })
  const values = new Set<number>()
  let behind = false
  for (const token of tokens) {
    if (token.kind !== 'positional') behind = token.kind === 'option' && token.name === list
    else if (behind) values.add(token.index)
  }
  const surplus = tokens.filter(({ kind }) => kind === 'positional').length - positionals
  if (values.size !== surplus) return args
  return args.map((arg, index) => (values.has(index) ? `--${list}=${arg}` : arg))
}

export function configOf(values: { config?: string | undefined }, terminal: Terminal): Promise<Config> {
  return loadConfig(values.config ?? DEFAULT_CONFIG, terminal.env)
}

export function tenantOf(config: Config, id: string): TenantConfig {
  const tenant = config.tenants.get(id)
  if (tenant !== undefined) return tenant
  throw new CommandFailed(
    `${config.file} has no tenant "${id}" (it has ${[...config.tenants.keys()].join(', ')})`,
  )
}

export function required(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new UsageError(`${option} is required`)
  return value
}
