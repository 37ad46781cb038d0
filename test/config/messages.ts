/**
 * The messages that the tests of one file cause, each once. When the tests have ended, they are compared with the test
 * file's own file in `messages/`. The tests assert places only, so that another wording changes that file and no test.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { argv, cwd, env } from 'node:process'
import tap from 'tap'

const TEST = argv[1] ?? ''
const FILE = join(dirname(TEST), 'messages', basename(TEST).replace('.test.ts', '.txt'))
const HEAD = `# ${basename(TEST)} causes these messages. SEATGATE_WRITE_MESSAGES=1 writes the file anew.\n`
/** Characters of a cause that are shown. */
const MOST_OF_CAUSE = 100
/** Lines of a difference that are shown. */
const MOST_LINES = 12

interface Entry {
  /** As it was seen first. */
  readonly message: string
  readonly causes: Set<string>
}

const entries = new Map<string, Entry>()

export interface Cause {
  /** `line:column`, after the name of a file that is not the main one; '' where a value alone was parsed. */
  readonly place: string
  /** The file, or the value. */
  readonly text: string
  readonly env?: NodeJS.ProcessEnv
}

/** Messages are one where they differ only in the string that they quote first, and that stands in their cause. */
export function record(message: string, cause: Cause): void {
  const shown = message.replace(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?/g, '<date>')
  const key = shown.replace(/"((?:[^"\\]|\\.)*)"/, (quoted, inner: string) =>
    cause.text.includes(inner) || cause.text.includes(JSON.parse(quoted)) ? '""' : quoted,
  )
  const entry = entries.get(key) ?? { message: visible(shown), causes: new Set() }
  entries.set(key, entry)
  entry.causes.add(`  ${describe(cause)}`.trimEnd())
}

function describe({ place, text, env = {} }: Cause): string {
  if (place === '') return shortened(JSON.stringify(text), 0)
  const [line = 0, column = 0] = place.split(':').slice(-2).map(Number)
  const variables = Object.entries(env).map(
    ([name, value]) => `  ${name}=${shortened(visible(value ?? ''), 0)}`,
  )
  return `${place.padEnd(5)} ${shortened(visible(text.split('\n')[line - 1] ?? ''), column)}${variables.join('')}`
}

/** The part around a column. */
function shortened(text: string, column: number): string {
  if (text.length <= MOST_OF_CAUSE) return text
  const start = Math.max(0, Math.min(column - MOST_OF_CAUSE / 2, text.length - MOST_OF_CAUSE))
  const end = start + MOST_OF_CAUSE
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}

function visible(text: string): string {
  return text.replace(/[\p{C}\p{Z}]/gu, (each) =>
    each === ' ' ? each : `\\u{${each.codePointAt(0)?.toString(16)}}`,
  )
}

function whole(): string {
  const parts = [...entries.values()].map(({ message, causes }) => [message, ...causes].join('\n'))
  return [HEAD, ...parts.map((part) => `${part}\n`)].join('\n')
}

/** `-`: a line of the file that the tests do not cause; `+`: one that the file has not. */
function difference(file: string, tests: string): string {
  const [before, after] = [file.split('\n'), tests.split('\n')]
  const gone = before.filter((line) => !after.includes(line)).map((line) => `- ${line}`)
  const added = after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`)
  const lines = [...gone.slice(0, MOST_LINES / 2), ...added.slice(0, MOST_LINES / 2)]
  return lines.length === 0 ? 'the order of lines' : lines.join('\n')
}

function compare(): void {
  // A test that has failed may have ended before it caused all of its messages.
  if (!tap.passing() || (entries.size === 0 && !existsSync(FILE))) return
  const [file, tests] = [existsSync(FILE) ? readFileSync(FILE, 'utf8') : '', whole()]
  if (file === tests) return
  if (env['SEATGATE_WRITE_MESSAGES'] === '1') writeFileSync(FILE, tests)
  else
    throw new Error(
      `${relative(cwd(), FILE)} differs; SEATGATE_WRITE_MESSAGES=1 writes it.\n${difference(file, tests)}`,
    )
}

tap.teardown(compare)
