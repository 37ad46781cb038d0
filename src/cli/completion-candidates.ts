/** `seatgate __complete`, which the scripts of shells run: the words that may stand at the cursor. */

import type { Completion, Options } from './arguments.ts'
import type { Description } from './command.ts'
import { commands, everyCommand, groups } from './commands.ts'
import { actionRows, commandRows } from './help.ts'

const GLOBAL_OPTIONS = {
  help: { description: 'lists the commands' },
  version: { description: 'prints the version, the commit and the version of Node.js' },
} as const satisfies Options

/**
 * Lines for a completion script: a candidate, with a tab and its description if it has one; or `:file` or
 * `:folder` alone, which stand for paths. The shell leaves out what does not match the typed text.
 *
 * @param line the words after `seatgate` up to the cursor; the last one is completed, and may be empty
 */
export async function candidatesFor(line: readonly string[]): Promise<readonly string[]> {
  const words = line[0] === 'help' && line.length > 1 ? line.slice(1) : line
  const isHelp = words !== line
  const [first = ''] = words
  const group = words.length > 1 && Object.hasOwn(groups, first) ? first : null
  const isOwn = words[1]?.startsWith('-') === true && Object.hasOwn(commands, first)
  const length = group === null || isOwn ? 1 : 2
  if (words.length === length) {
    const every = await everyCommand()
    const rows = group === null ? commandRows(every, groups) : actionRows(group, every)
    return [
      ...rows.map((row) => row.join('\t')),
      ...(group !== null || isHelp ? [] : optionLines(GLOBAL_OPTIONS)),
    ]
  }
  const name = words.slice(0, length).join(' ')
  const load = !isHelp && Object.hasOwn(commands, name) ? commands[name] : undefined
  return load === undefined ? [] : argumentsOf(await load(), joined(words.slice(length)))
}

/** Joins what bash passes as several words: `--name=value`, `http://host:port`. */
function joined(words: readonly string[]): string[] {
  return words.reduce<string[]>((all, word, at) => {
    const isPart = at > 0 && (isBreak(word) || isBreak(words[at - 1]))
    return isPart ? [...all.slice(0, -1), `${all.at(-1)}${word}`] : [...all, word]
  }, [])
}

/** Whether bash ends a word there. */
function isBreak(word: string | undefined): boolean {
  return word === '=' || word === ':'
}

/** The candidates after the name of a command. @param words after that name */
function argumentsOf(
  { options, positionals = [] }: Description,
  words: readonly string[],
): readonly string[] {
  const used = new Set<string>()
  /** The option whose value is the next word. */
  let option: string | undefined
  let index = 0
  const last = words.at(-1) ?? ''
  for (const word of words.slice(0, -1)) {
    const [, name, value] = /^--([^=]+)(=?)/.exec(word) ?? []
    if (name === undefined && option === undefined) index++
    if (name !== undefined) used.add(name)
    option = value === '' && options[name ?? '']?.value !== undefined ? name : undefined
  }
  option = /^--([^=]+)=/.exec(last)?.[1] ?? option
  if (option !== undefined) return valueLines(options[option]?.completes)
  const positional = positionals[index] ?? positionals.findLast(({ multiple }) => multiple)
  const completes = positional?.choices ?? positional?.completes
  if (completes !== undefined && !last.startsWith('-')) return valueLines(completes)
  const free = Object.entries(options).filter(([name, { multiple }]) => multiple || !used.has(name))
  return optionLines({ ...Object.fromEntries(free), help: { description: 'prints help' } })
}

function optionLines(options: Options): string[] {
  return Object.entries(options).map(([name, { description }]) => `--${name}\t${description}`)
}

function valueLines(completes: Completion | undefined): readonly string[] {
  if (completes === undefined) return []
  return typeof completes === 'string' ? [`:${completes}`] : completes
}
