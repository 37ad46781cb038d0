/** The results of writes, and warnings. These go to standard error, where no program reads them as data. */

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
