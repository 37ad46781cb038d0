/** The sections of `cli.md`: one a command, from what the commands declare. */

import type { Option } from '../../src/cli/arguments.ts'
import type { Command } from '../../src/cli/command.ts'
import { exitsOf, usageOf, withValue } from '../../src/cli/help.ts'
import { code, table } from './regions.ts'

export function commandSections(commands: readonly Command[]): string {
  return commands.map(section).join('\n\n')
}

function section(command: Command): string {
  const { name, summary, details, example } = command
  const rows = rowsOf(command)
  return [
    `### ${code(`seatgate ${name}`)}`,
    details === undefined ? summary : `${summary} ${details}`,
    code(`seatgate ${usageOf(command)}`),
    ...(rows.length === 0 ? [] : [table(['argument', 'meaning', 'default'], rows)]),
    `Exit codes: ${exitsOf(command)
      .map(([number, meaning]) => `${number} (${meaning})`)
      .join(', ')}.`,
    `Example: ${code(example)}`,
  ].join('\n\n')
}

function rowsOf({ positionals = [], options }: Command): string[][] {
  return [
    ...positionals.map(({ name, description, ...more }) => [code(name), description, defaultOf(more)]),
    ...Object.entries<Option>(options).map(([name, option]) => [
      code(withValue(name, option)),
      option.description,
      option.required ? 'required' : defaultOf(option),
    ]),
  ]
}

function defaultOf({ default: fallback }: { readonly default?: string | undefined }): string {
  return fallback === undefined ? '' : code(fallback)
}
