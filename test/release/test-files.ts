/** A step that is a test file, run at a clone of HEAD. */

import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.ts'
import { NotRun } from './step.ts'
import { ROOT, type Workshop } from './workshop.ts'

/**
 * @param pattern of the files, as `npm run test:some` takes it
 * @param env tells the files what is under test
 * @throws a {@link NotRun} with the reason, if a test was skipped
 */
export async function testFiles(
  workshop: Workshop,
  pattern: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { clone } = await workshop.build(0)
  linkCache(clone)
  const command = [process.execPath, 'test/run/run.ts', pattern]
  const output = await run(clone, command, { ...env, SEATGATE_TEST_RUN: '' })
  const [, skipped] = /^skipped:\n((?: .*\n)+)/m.exec(output) ?? []
  if (skipped !== undefined) throw new NotRun(skipped.trim())
  const [sum = ''] = /^assertions: .*/m.exec(output) ?? []
  return `${pattern}: ${sum.replace('assertions: ', '')}`
}

/** Servers that tests have unpacked once are not downloaded again. */
function linkCache(clone: string): void {
  const [kept, own] = [ROOT, clone].map((folder) => join(folder, 'node_modules/.cache/servers'))
  if (kept !== undefined && own !== undefined && existsSync(kept) && !existsSync(own)) symlinkSync(kept, own)
}
