/** Tables of what a gateway lists, and the same as JSON, page by page. */

import { printable } from '../../telemetry/readable.ts'
import type { Terminal } from '../command.ts'

export interface Column<V> {
  readonly name: string
  /** Characters; a longer cell is cut. The last column may be as wide as its cells. */
  readonly width: number
  readonly of: (item: V) => string
}

interface Listed<V> {
  readonly columns: readonly Column<V>[]
  readonly json: boolean | undefined
  /** Printed where there is none. */
  readonly none: string
}

/** Of any length: the widths do not depend on the items. */
export async function printList<V>(
  pages: AsyncIterable<readonly V[]>,
  { columns, json = false, none }: Listed<V>,
  terminal: Terminal,
): Promise<void> {
  let printed = 0
  if (json) await terminal.print('{"data":[')
  for await (const page of pages) {
    const lines = page.map((item) =>
      json ? `${printed++ === 0 ? ' ' : ','}${JSON.stringify(item)}` : row(columns, item, printed++),
    )
    if (lines.length > 0) await terminal.print(lines.join('\n'))
  }
  if (json) await terminal.print(']}')
  else if (printed === 0) await terminal.print(none)
}

function row<V>(columns: readonly Column<V>[], item: V, at: number): string {
  const heading = cells(columns.map(({ name, width }) => [name, width]))
  const line = cells(columns.map(({ of, width }) => [of(item), width]))
  return at === 0 ? `${heading}\n${line}` : line
}

/** Two blanks between columns. */
export function cells(row: readonly (readonly [text: string, width: number])[]): string {
  return row
    .map(([text, width]) => fitted(printable(text), width))
    .join('  ')
    .trimEnd()
}

function fitted(text: string, width: number): string {
  const characters = [...text]
  return characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : text.padEnd(width)
}

/** `main, dev and 3 more`. @param most names */
export function names(all: readonly string[], most = 3): string {
  const more = all.length - most
  return more > 0 ? `${all.slice(0, most).join(', ')} and ${more} more` : all.join(', ')
}

/** Without milliseconds. */
export function shortTime(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}
