/** The options and positional arguments of commands: their parser, and the options that commands share. */

import { parseArgs } from 'node:util'
import { didYouMean, InvalidValue, type ValueParser } from '../config/invalid-value.ts'

interface Argument {
  readonly description: string
  readonly default?: string
  /** The only values that are accepted. */
  readonly choices?: readonly string[]
  readonly completes?: Completion
}

export interface Option extends Argument {
  /** The name of the value in usage and help, such as `FILE`; an option without one is a flag. */
  readonly value?: string
  readonly required?: boolean
  /** Whether it takes several values, after one name or several: `--seat A --seat B`, `--seat A B`. */
  readonly multiple?: boolean
}

export type Options = Readonly<Record<string, Option>>

export interface Positional extends Argument {
  readonly name: string
  /** Whether it may be omitted, together with the positionals after it. */
  readonly optional?: boolean
  /** Whether it takes all further values; only the last positional may. */
  readonly multiple?: boolean
}

/** What a shell offers for a value: paths, or these words. */
export type Completion = 'file' | 'folder' | readonly string[]

/** The command line is wrong: exit 2. */
export class UsageError extends Error {}

type Value<P extends Option> = P extends { value: string }
  ? P extends { multiple: true }
    ? readonly string[]
    : P extends { choices: readonly (infer C extends string)[] }
      ? C
      : string
  : boolean

/** The values by option. An option that is neither required nor has a default may be undefined. */
export interface Arguments<O extends Options> {
  readonly values: {
    readonly [K in keyof O]: O[K] extends { required: true } | { default: string }
      ? Value<O[K]>
      : Value<O[K]> | undefined
  }
  readonly positionals: readonly string[]
}

export interface Accepted<O extends Options = Options> {
  readonly options: O
  readonly positionals?: readonly Positional[]
  /** Groups of options that exclude each other. The first option of a group is required for the others. */
  readonly alternatives?: readonly (readonly string[])[]
}

/**
 * The arguments of a command.
 *
 * @throws UsageError for an unknown option, a missing value, a repeated option with a single value, or a
 *   wrong number of positionals
 */
export function readArguments<const O extends Options>(args: string[], accepted: Accepted<O>): Arguments<O> {
  const { options, positionals = [], alternatives = [] } = accepted
  const config = parserOptions(options)
  const { tokens } = parseArgs({ args, options: config, strict: false, tokens: true })
  refuseUnknown(tokens, options)
  const parsed = parse(withOptionNames(args, tokens, options, positionals.length), config)
  refuseRepeated(tokens, options)
  const values: Record<string, unknown> = parsed.values
  for (const [name, { required }] of Object.entries<Option>(options))
    if (required && (values[name] ?? '') === '') throw new UsageError(`--${name} is required`)
  for (const [name, { choices }] of Object.entries<Option>(options))
    if (choices !== undefined && values[name] !== undefined) chosen(`--${name}`, `${values[name]}`, choices)
  refuseMixed(values, alternatives)
  return {
    values: parsed.values as Arguments<O>['values'],
    positionals: completed(parsed.positionals, positionals),
  }
}

type ParserOptions = Record<string, Option & { readonly type: 'string' | 'boolean' }>

function parserOptions(options: Options): ParserOptions {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { ...option, type: option.value === undefined ? 'boolean' : 'string' },
    ]),
  )
}

function parse(args: string[], options: ParserOptions) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

type Tokens = ReturnType<typeof parseArgs<{ options: ParserOptions; strict: false; tokens: true }>>['tokens']

function refuseUnknown(tokens: Tokens, options: Options): void {
  const names = [...Object.keys(options), 'help'].map((name) => `--${name}`)
  for (const token of tokens)
    if (token.kind === 'option' && !Object.hasOwn(options, token.name))
      throw new UsageError(`unknown option ${token.rawName}${didYouMean(token.rawName, names)}`)
}

function refuseRepeated(tokens: Tokens, options: Options): void {
  const seen = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option' || options[token.name]?.multiple) continue
    if (seen.has(token.name)) throw new UsageError(`--${token.name} is given twice`)
    seen.add(token.name)
  }
}

function refuseMixed(values: Record<string, unknown>, alternatives: readonly (readonly string[])[]): void {
  const leaders = alternatives.flatMap(([leader]) => leader ?? [])
  if (leaders.filter((name) => values[name] !== undefined).length > 1)
    throw new UsageError(`${listed(leaders.map((name) => `--${name}`))} exclude each other`)
  for (const [leader = '', ...others] of alternatives)
    for (const name of others)
      if (values[name] !== undefined && values[leader] === undefined)
        throw new UsageError(`--${name} goes with --${leader}`)
}

function chosen(name: string, value: string, choices: readonly string[]): string {
  if (choices.includes(value)) return value
  throw new UsageError(`${name} "${value}" is not ${listed(choices, 'or')}${didYouMean(value, choices)}`)
}

/** The values of the positionals, with defaults. An empty value is refused: it may be an unset variable. */
function completed(words: readonly string[], positionals: readonly Positional[]): string[] {
  const empty = words.indexOf('')
  if (empty >= 0)
    throw new UsageError(`${(positionals[empty] ?? positionals.at(-1))?.name ?? 'an argument'} is empty`)
  const further = words.slice(positionals.length)
  if (further.length > 0 && positionals.at(-1)?.multiple !== true)
    throw new UsageError(`unexpected argument "${further[0]}"`)
  const values = positionals.flatMap(({ name, default: fallback, optional, choices }, index) => {
    const value = words[index] ?? fallback
    if (value === undefined && optional) return []
    if (value === undefined) throw new UsageError(`${name} is missing`)
    return choices === undefined ? value : chosen(name, value, choices)
  })
  return [...values, ...further]
}

/**
 * Puts the name of an option with several values before each further value that follows it. This happens only
 * if exactly these values are too many positionals: otherwise it would be unclear which value is which.
 */
function withOptionNames(args: string[], tokens: Tokens, options: Options, positionals: number): string[] {
  /** The option of each value, by the index of the argument. */
  const values = new Map<number, string>()
  let list: string | null = null
  for (const token of tokens) {
    if (token.kind !== 'positional')
      list = token.kind === 'option' && options[token.name]?.multiple ? token.name : null
    else if (list !== null) values.set(token.index, list)
  }
  const surplus = tokens.filter(({ kind }) => kind === 'positional').length - positionals
  if (values.size !== surplus) return args
  return args.map((arg, index) => (values.has(index) ? `--${values.get(index)}=${arg}` : arg))
}

/** The value of an option, by a parser of the configuration. @throws UsageError with its fault */
export function parsedOption<T>(name: string, text: string, parse: ValueParser<T>): T {
  const value = parse(text)
  if (value instanceof InvalidValue) throw new UsageError(`--${name} "${text}" ${value.message}`)
  return value
}

/** The number of a version of the route tables. @param name of the argument @throws UsageError */
export function versionNumber(name: string, text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`${name} is not the number of a version`)
}

/** A list in words: `a, b and c`. */
function listed(names: readonly string[], word = 'and'): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`
}

export const CONFIG = {
  value: 'FILE',
  description: 'the configuration file',
  default: 'gateway.config.yaml',
  completes: 'file',
} as const satisfies Option

export const JSON_OUTPUT = { description: 'prints JSON for programs' } as const satisfies Option

/** The option `--format`; the first format is the default. */
export function formatOption<const F extends string>(formats: readonly [F, ...F[]]) {
  return {
    value: 'FORMAT',
    description: `output format: ${formats.join(', ')}`,
    default: formats[0],
    choices: formats,
    completes: formats,
  } as const satisfies Option
}

/** The option for Seats of a file, which replace those of the store. */
export const SEATS_FILE = {
  value: 'FILE',
  description: 'a file with Seats, used instead of those in the store',
  completes: 'file',
} as const satisfies Option

export const TENANT = {
  value: 'T',
  description: 'id of a tenant in the configuration; may be omitted if there is only one',
} as const satisfies Option

/** The option of a command that works on all tenants by default. */
export const TENANTS = {
  ...TENANT,
  description: 'id of a tenant; by default, all tenants',
} as const satisfies Option

export const HOST = {
  value: 'H',
  description: 'the host of the request, if route tables list hosts',
} as const satisfies Option

/** The note if the tables list hosts and the request has none. */
export const HOST_IS_MISSING = 'note: route tables name hosts, and this request none: --host names one'

/** The methods that completion offers. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
