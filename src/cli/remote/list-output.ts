/** Lists as tables or as JSON, page by page. */

import { printable } from '../../telemetry/readable.ts'
import type { Terminal } from '../command.ts'

export interface Column<V> {
  readonly name: string
  /** The least width for a long cell. The sum of all, with two blanks between columns, is at most 80. */
  readonly width: number
  /** The cell. Of a list, as many texts are shown as have room. */
  readonly of: (item: V) => string | readonly string[]
}

interface Listed<V> {
  readonly columns: readonly Column<V>[]
  readonly json: boolean | undefined
  /** The text if the list is empty. */
  readonly none: string
}

/** Prints a list of any length. The first page decides the widths. */
export async function printList<V>(
  pages: AsyncIterable<readonly V[]>,
  { columns, json = false, none }: Listed<V>,
  terminal: Terminal,
): Promise<void> {
  if (json) return printJson(pages, ['{"data":[', ']}'], terminal)
  const linesOf = tableLines(columns, terminal.columns)
  let isEmpty = true
  for await (const page of pages) {
    if (page.length === 0) continue
    isEmpty = false
    await terminal.print(linesOf(page).join('\n'))
  }
  if (isEmpty) await terminal.print(none)
}

/** Prints a JSON array with one item a line. @param brackets the lines before and after the items */
export async function printJson(
  pages: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>,
  [open, close]: readonly [string, string],
  terminal: Terminal,
): Promise<void> {
  let separator = ' '
  await terminal.print(open)
  for await (const page of pages) {
    if (page.length === 0) continue
    const lines = page.map((item) => JSON.stringify(item)).join('\n,')
    await terminal.print(`${separator}${lines}`)
    separator = ','
  }
  await terminal.print(close)
}

/** Makes the lines of items, with the heading before the first ones. @param room characters of a line */
export function tableLines<V>(
  columns: readonly Column<V>[],
  room: number,
): (items: readonly V[]) => readonly string[] {
  let line: ((item: V) => string) | null = null
  return (items) => {
    if (line !== null) return items.map(line)
    const table = tableOf(columns, items, room)
    line = table.line
    return [table.heading, ...items.map(line)]
  }
}

/**
 * The heading and the lines of a table.
 *
 * @param first the items whose cells decide the widths
 * @param room characters of a line
 */
export function tableOf<V>(
  columns: readonly Column<V>[],
  first: readonly V[],
  room: number,
): { readonly heading: string; line(item: V): string } {
  const wanted = columns.map(({ name, of }) =>
    first.reduce((most, item) => Math.max(most, lengthOf(textOf(of(item)))), name.length),
  )
  const least = columns.map(({ width }, at) => Math.min(width, wanted[at] ?? 0))
  const widths = widened(least, wanted, room - 2 * (columns.length - 1))
  const join = (cell: (column: Column<V>, width: number) => string) =>
    columns
      .map((column, at) => cell(column, widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return {
    heading: join(({ name }, width) => fitted(name, width)),
    line: (item) => join(({ of }, width) => fitted(of(item), width)),
  }
}

/** Distributes the remaining room among the columns that need more, the narrowest first. */
function widened(least: readonly number[], wanted: readonly number[], room: number): number[] {
  const widths = [...least]
  for (let left = room - least.reduce((sum, each) => sum + each, 0); left > 0; left--) {
    let narrowest = -1
    for (const [at, width] of widths.entries())
      if (width < (wanted[at] ?? 0) && width < (widths[narrowest] ?? Infinity)) narrowest = at
    if (narrowest < 0) break
    widths[narrowest] = (widths[narrowest] ?? 0) + 1
  }
  return widths
}

function textOf(cell: string | readonly string[]): string {
  return printable(typeof cell === 'string' ? cell : cell.join(', '))
}

function lengthOf(text: string): number {
  return [...text].length
}

function fitted(cell: string | readonly string[], width: number): string {
  const characters = [...(typeof cell === 'string' ? printable(cell) : namesWithin(cell, width))]
  return characters.length > width
    ? `${characters.slice(0, width - 1).join('')}…`
    : characters.join('') + ' '.repeat(width - characters.length)
}

/** All texts, or as many as have room, but at least one: `main, dev and 3 more`. */
function namesWithin(all: readonly string[], width: number): string {
  if (lengthOf(textOf(all)) <= width) return textOf(all)
  let most = 1
  while (most < all.length && lengthOf(printable(names(all, most + 1))) <= width) most++
  return printable(names(all, most))
}

/** The first texts: `main, dev and 3 more`. @param most the number of texts */
export function names(all: readonly string[], most = 3): string {
  const more = all.length - most
  return more > 0 ? `${all.slice(0, most).join(', ')} and ${more} more` : all.join(', ')
}

/** A date-time without its milliseconds. */
export function shortTime(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}
