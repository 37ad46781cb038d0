/** Completion in fish. */

import type { Completion, Option } from '../arguments.ts'
import type { Command } from '../command.ts'
import { actionOf, firstArgument, firstWordsOf, GLOBAL_OPTIONS, groupsOf, optionsOf } from './words.ts'

/** Condition: no command is typed yet. */
const FIRST = '__fish_use_subcommand'

/** @param groups what each group of commands does */
export function fishScript(commands: readonly Command[], groups: Readonly<Record<string, string>>): string {
  return [
    '# Completion of seatgate in fish: seatgate completion fish > ~/.config/fish/completions/seatgate.fish',
    '',
    'complete -c seatgate -f',
    ...Object.entries(GLOBAL_OPTIONS).map(([name, meaning]) => line(FIRST, `-l ${name}`, meaning)),
    ...[...firstWordsOf(commands)].map(([name, [first]]) =>
      line(FIRST, `-a ${name}`, first?.name === name ? first.summary : (groups[name] ?? '')),
    ),
    ...groupsOf(commands).flatMap(([group, actions]) => {
      const open = `__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${actions.map(actionOf).join(' ')}`
      return actions.map((each) => line(open, `-a ${actionOf(each)}`, each.summary))
    }),
    ...commands.flatMap(linesOf),
  ].join('\n')
}

function linesOf(command: Command): string[] {
  const within = command.name
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ')
  const argument = firstArgument(command)
  const options = optionsOf(command).map(([name, option]) =>
    line(within, flag(name, option), option.description),
  )
  if (argument === null) return options
  return [...options, line(within, `-a ${candidates(argument.completes)}`, argument.description)]
}

/** `-r`: takes a value; `-F`: of which files are offered. */
function flag(name: string, { value, completes }: Option): string {
  if (value === undefined) return `-l ${name}`
  if (completes === undefined) return `-l ${name} -r`
  return completes === 'file' ? `-l ${name} -r -F` : `-l ${name} -r -a ${candidates(completes)}`
}

function candidates(completes: Completion): string {
  if (completes === 'file') return quoted('(__fish_complete_path)')
  return quoted(completes === 'folder' ? '(__fish_complete_directories)' : completes.join(' '))
}

function line(condition: string, what: string, meaning: string): string {
  return `complete -c seatgate -n ${quoted(condition)} ${what} -d ${quoted(meaning)}`
}

/** In single quotes, in which fish reads `\'` and `\\`. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`
}
