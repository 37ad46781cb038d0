/** What the completion of every shell offers. */

import type { Completion, Option, Positional } from '../arguments.ts'
import type { Description } from '../command.ts'

export const GLOBAL_OPTIONS = {
  help: 'lists the commands',
  version: 'prints the version, the commit and the version of Node.js',
} as const

/** The options of a command, `--help` included. */
export function optionsOf({ options }: Description): [string, Option][] {
  return [...Object.entries<Option>(options), ['help', { description: 'prints help' }]]
}

/** What a user types first: commands of one word, and groups with their commands. */
export function firstWordsOf(commands: readonly Description[]): Map<string, Description[]> {
  return Map.groupBy(commands, ({ name }) => name.split(' ')[0] ?? '')
}

/** Groups: commands of two words. */
export function groupsOf(commands: readonly Description[]): [group: string, actions: Description[]][] {
  return [...firstWordsOf(commands)].filter(([, [first]]) => first?.name.includes(' '))
}

/** The second word of a command in a group. */
export function actionOf({ name }: Description): string {
  return name.split(' ')[1] ?? ''
}

/** What is offered for the first argument: the only one for which anything is. */
export function firstArgument({ positionals }: Description): (Positional & { completes: Completion }) | null {
  const first = positionals?.[0]
  const completes = first?.choices ?? first?.completes
  return first === undefined || completes === undefined ? null : { ...first, completes }
}

/** In single quotes, for bash and zsh. */
export function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
