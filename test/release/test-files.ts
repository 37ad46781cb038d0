/** A step that is a test file, run at a clone of HEAD. */

import { run } from './command.ts'
import { NotRun } from './step.ts'
import type { Workshop } from './workshop.ts'

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
  const command = [process.execPath, 'test/run/run.ts', pattern]
  const output = await run(clone, command, env)
  const [, skipped] = /^skipped:\n((?: .*\n)+)/m.exec(output) ?? []
  if (skipped !== undefined) throw new NotRun(skipped.trim())
  const [sum = ''] = /^assertions: .*/m.exec(output) ?? []
  return `${pattern}: ${sum.replace('assertions: ', '')}`
}
