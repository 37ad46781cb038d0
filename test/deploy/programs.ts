/** Programs of the machine that check files of `deploy/`, run with their output. */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from '../docs/pages.ts'

export const deploy = join(root, 'deploy')

/** False, or why a test that needs these programs is skipped. */
export function missing(...programs: readonly string[]): string | false {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const absent = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))))
  return absent.length > 0 ? `not on this machine: ${absent.join(', ')}` : false
}

/** @returns what the program wrote, and its exit code */
export function run(program: string, ...args: readonly string[]): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return { code: status, output: stdout + stderr }
}
