/** Warnings in answers of a gateway: on standard error, so that they are in the way of no program. */

import { printable } from '../../telemetry/readable.ts'
import type { Terminal } from '../command.ts'
import type { Warning } from '../remote/resources.ts'

export function warn(warnings: readonly Warning[] | undefined, terminal: Terminal): void {
  for (const { path, code, message } of warnings ?? [])
    terminal.printError(printable(`warning: ${path} ${message} (${code})`))
}
