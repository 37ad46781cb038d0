/** The options and positional arguments of commands: their parsing, and those that several commands share. */

import { parseArgs } from 'node:util'
import { didYouMean, InvalidValue, type ValueParser } from '../config/invalid-value.ts'

interface Argument {
  readonly description: string
  readonly default?: string
  /** No other value is accepted. */
  readonly choices?: readonly string[]
  readonly completes?: Completion
}

export interface Option extends Argument {
  /** Stands for the value in usage and help: `FILE`. Left out: the option takes no value. */
  readonly value?: string
  readonly required?: boolean
  /** Takes several values, with or without its name before each: `--seat A --seat B`, `--seat A B`. */
  readonly multiple?: boolean
}

export type Options = Readonly<Record<string, Option>>

export interface Positional extends Argument {
  readonly name: string
  /** It may be left out, with those behind it. */
  readonly optional?: boolean
  /** Takes all further values; only the last one may. */
  readonly multiple?: boolean
}

/** What a shell offers for a value. */
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

/** A value that is neither required nor has a default may be undefined. */
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
  /** Groups of options that exclude each other. The first of a group leads it: the others go with it. */
  readonly alternatives?: readonly (readonly string[])[]
}

/**
 * Strict: unknown options, missing values, repeated options with a single value, and a wrong number of positionals are
 * bad usage.
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

/** With defaults in place of those that are left out. An empty one is no name: a script may have an unset variable there. */
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
 * Puts the name of an option with several values before each further value that stands behind it. Only where exactly those are too many
 * positionals: otherwise it would be unclear which of them is which.
 */
function withOptionNames(args: string[], tokens: Tokens, options: Options, positionals: number): string[] {
  /** Index of an argument → the option that it is a value of. */
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

/** `a, b and c`. */
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

/** The first format is the default. */
export function formatOption<const F extends string>(formats: readonly [F, ...F[]]) {
  return {
    value: 'FORMAT',
    description: `output format: ${formats.join(', ')}`,
    default: formats[0],
    choices: formats,
    completes: formats,
  } as const satisfies Option
}

/** Seats in place of those of the store. */
export const SEATS_FILE = {
  value: 'FILE',
  description: 'a file with Seats, used instead of those in the store',
  completes: 'file',
} as const satisfies Option

export const TENANT = {
  value: 'T',
  description: 'id of a tenant in the configuration; may be omitted if there is only one',
} as const satisfies Option

/** Of a command that is about all of them. */
export const TENANTS = {
  ...TENANT,
  description: 'id of a tenant; by default, all tenants',
} as const satisfies Option

export const HOST = {
  value: 'H',
  description: 'the host of the request, if route tables list hosts',
} as const satisfies Option

/** A note about the tables in use. */
export const HOST_IS_MISSING = 'note: route tables name hosts, and this request none: --host names one'

/** For completion. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
