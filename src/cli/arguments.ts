/** The options and positional arguments of a command, and their parsing. */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../config/invalid-value.ts'

export interface Option {
  readonly type: 'string' | 'boolean'
  readonly description: string
  /** Stands for the value in usage and help: `FILE`. */
  readonly value?: string
  readonly default?: string
  readonly required?: boolean
  /** No other value is accepted. */
  readonly choices?: readonly string[]
  /** Takes several values, with or without its name before each: `--seat A --seat B`, `--seat A B`. */
  readonly multiple?: boolean
  readonly completes?: Completion
}

export type Options = Readonly<Record<string, Option>>

export interface Positional {
  readonly name: string
  readonly description: string
  readonly default?: string
  /** It may be left out, with those behind it. */
  readonly optional?: boolean
  /** No other value is accepted. */
  readonly choices?: readonly string[]
  /** Takes all further values; only the last one may. */
  readonly multiple?: boolean
  readonly completes?: Completion
}

/** What a shell offers for a value. */
export type Completion = 'file' | 'folder' | readonly string[]

/** The command line is wrong: exit 2. */
export class UsageError extends Error {}

type Value<P extends Option> = P extends { type: 'boolean' }
  ? boolean
  : P extends { multiple: true }
    ? readonly string[]
    : P extends { choices: readonly (infer C extends string)[] }
      ? C
      : string

/** A value that is neither required nor has a default may be undefined. */
export interface Given<O extends Options> {
  readonly values: {
    readonly [K in keyof O]: O[K] extends { required: true } | { default: string }
      ? Value<O[K]>
      : Value<O[K]> | undefined
  }
  readonly positionals: readonly string[]
}

interface Accepted<O extends Options> {
  readonly options: O
  readonly positionals?: readonly Positional[]
  readonly alternatives?: readonly (readonly string[])[]
}

/**
 * Strict: unknown options, missing values, repeated options with a single value, and a wrong number of positionals are
 * bad usage.
 */
export function readArguments<const O extends Options>(args: string[], accepted: Accepted<O>): Given<O> {
  const { options, positionals = [], alternatives = [] } = accepted
  refuseUnknown(args, options)
  const parsed = parse(withOptionNames(args, options, positionals.length), options)
  refuseRepeated(parsed.tokens, options)
  const values: Record<string, unknown> = parsed.values
  for (const [name, { required }] of Object.entries<Option>(options))
    if (required && isEmpty(values[name])) throw new UsageError(`--${name} is required`)
  for (const [name, { choices }] of Object.entries<Option>(options))
    if (choices !== undefined && values[name] !== undefined) chosen(`--${name}`, `${values[name]}`, choices)
  refuseMixed(values, alternatives)
  return {
    values: parsed.values as Given<O>['values'],
    positionals: completed(parsed.positionals, positionals),
  }
}

function parse(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true, tokens: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function refuseUnknown(args: string[], options: Options): void {
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true })
  const known = [...Object.keys(options), 'help'].map((name) => `--${name}`)
  for (const token of tokens)
    if (token.kind === 'option' && !Object.hasOwn(options, token.name))
      throw new UsageError(`unknown option ${token.rawName}${didYouMean(token.rawName, known)}`)
}

type Tokens = NonNullable<ReturnType<typeof parseArgs<ParseArgsConfig & { tokens: true }>>['tokens']>

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
function completed(given: readonly string[], positionals: readonly Positional[]): string[] {
  const empty = given.indexOf('')
  if (empty >= 0)
    throw new UsageError(`${(positionals[empty] ?? positionals.at(-1))?.name ?? 'an argument'} is empty`)
  const further = given.slice(positionals.length)
  if (further.length > 0 && positionals.at(-1)?.multiple !== true)
    throw new UsageError(`unexpected argument "${further[0]}"`)
  const values = positionals.flatMap(({ name, default: fallback, optional, choices }, index) => {
    const value = given[index] ?? fallback
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
function withOptionNames(args: string[], options: Options, positionals: number): string[] {
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true })
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

function isEmpty(value: unknown): boolean {
  return value === undefined || value === ''
}

/** `a, b and c`. */
function listed(names: readonly string[], word = 'and'): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`
}
