/** The texts of `--help`, from what the commands declare. */

import type { Option, Positional } from './arguments.ts'
import type { Command, Description } from './command.ts'
import { fold, foldWords } from './screen.ts'

/** The usage after `seatgate`, on one line. */
export function usageOf(command: Description): string {
  return usageWords(command).join(' ')
}

/** The usage as lines of 80 columns. */
export function usageAsText(command: Description): string {
  return foldWords(['usage: seatgate', ...usageWords(command)], '', '       ')
}

/** The words of the usage; an option and its value are one word. */
function usageWords({ name, positionals = [], options, alternatives = [] }: Description): string[] {
  const written = Object.keys(options).flatMap((option) => {
    const within = alternatives.some((group) => group.includes(option))
    if (!within) return [usageOfOption(option, options[option])]
    if (option !== alternatives[0]?.[0]) return []
    const groups = alternatives.map((group) => group.map((each) => withValue(each, options[each])).join(' '))
    return [`[${groups.join(' | ')}]`]
  })
  return [name, ...positionals.map(usageOfPositional), ...written]
}

function usageOfPositional({ name, default: fallback, optional, choices, multiple }: Positional): string {
  const shown = `${choices?.join('|') ?? name}${multiple === true ? '…' : ''}`
  return fallback === undefined && !optional ? shown : `[${shown}]`
}

function usageOfOption(name: string, option: Option | undefined): string {
  return option?.required ? withValue(name, option) : `[${withValue(name, option)}]`
}

/** An option as in usage: `--seat NAME…`. */
export function withValue(name: string, option: Option | undefined): string {
  const value = option?.value === undefined ? '' : ` ${option.value}${option.multiple ? '…' : ''}`
  return `--${name}${value}`
}

/** The meaning of an option or argument, with its default. */
export function meaningOf({
  description,
  default: fallback,
  required,
}: Option & Partial<Positional>): string {
  if (required) return `${description} (required)`
  return fallback === undefined ? description : `${description} (default: ${fallback})`
}

export function exitsOf({ exits }: Description): [string, string][] {
  return Object.entries({ ...exits, 2: 'the command line is invalid' })
}

export function helpOf(command: Description): string {
  const { summary, details, positionals = [], options, example } = command
  const flags = Object.entries<Option>(options).map(([name, option]) => [
    withValue(name, option),
    meaningOf(option),
  ])
  const named = positionals.map((each) => [each.name, meaningOf(each)])
  return [
    usageAsText(command),
    fold(details === undefined ? summary : `${summary} ${details}`),
    ...(named.length === 0 ? [] : [section('arguments', named)]),
    section('options', [...flags, ['--help', 'prints this text']]),
    section('exit codes', exitsOf(command)),
    `example:\n  ${example}`,
  ].join('\n\n')
}

type Row = readonly [word: string, meaning: string]

/** The rows for what follows `seatgate`. @param groups a group has one row, like its first command */
export function commandRows(commands: readonly Command[], groups: Readonly<Record<string, string>>): Row[] {
  const rows = commands.map(({ name, summary }): Row => {
    const [first = ''] = name.split(' ')
    return [first, groups[first] ?? summary]
  })
  return [...new Map(rows)]
}

/** The rows for what follows the name of a group. A command without an action begins with its first option. */
export function actionRows(group: string, commands: readonly Command[]): Row[] {
  const own = commands.filter(({ name }) => name === group || name.startsWith(`${group} `))
  return own.map(({ name, summary, options }) => [
    name === group ? `--${Object.keys(options)[0]}` : name.slice(group.length + 1),
    summary,
  ])
}

export function overviewOf(commands: readonly Command[], groups: Readonly<Record<string, string>>): string {
  return [
    'usage: seatgate COMMAND [options]',
    section('commands', commandRows(commands, groups)),
    section('options', [
      ['COMMAND --help', 'shows what a command does, its options and exit codes, and an example'],
      ['--version', 'prints the version, the commit and the version of Node.js'],
    ]),
  ].join('\n\n')
}

export function groupOverviewOf(group: string, summary: string, commands: readonly Command[]): string {
  return [
    `usage: seatgate ${group} ACTION [options]`,
    summary,
    section('actions', actionRows(group, commands)),
    section('options', [
      ['ACTION --help', 'shows what an action does, its options and exit codes, and an example'],
    ]),
  ].join('\n\n')
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left = '']) => left.length))
  const indent = ' '.repeat(width + 4)
  const lines = rows.map(([left = '', right = '']) => fold(right, `  ${left.padEnd(width)}  `, indent))
  return [`${title}:`, ...lines].join('\n')
}
