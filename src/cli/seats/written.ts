/** What a write has done, and warnings: these on standard error, where they are in the way of no program. */

import { printable } from '../../telemetry/readable.ts'
import type { Terminal } from '../command.ts'
import { placeInWords } from '../remote/problem-text.ts'
import type { SeatView, Warning } from '../remote/endpoint-answers.ts'
import { fold } from '../screen.ts'

export function warn(warnings: readonly Warning[] | undefined, terminal: Terminal): void {
  for (const each of warnings ?? []) terminal.printError(warningText(each))
}

export function warningText({ path, code, message }: Warning): string {
  const place = placeInWords(path)
  const where = place === '' ? '' : `${place}: `
  return fold(printable(`warning: ${where}${message} (${code})`), '', '  ')
}

export function writtenText(verb: string, { name, id }: Pick<SeatView, 'name' | 'id'>): string {
  return fold(printable(`${verb} ${name} ${id}`), '', '  ')
}
