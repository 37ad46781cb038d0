/** What is expensive to make and the same for all test files: made once in a run, by the first process that needs it. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param name of a file in the folder of the run
 * @returns what `make` resolves with, as JSON keeps it; a file that is run alone makes its own
 */
export async function onceARun<V>(name: string, make: () => Promise<V>): Promise<V> {
  const { SEATGATE_TEST_RUN: folder } = process.env
  if (folder === undefined) return make()
  const path = join(folder, `${name}.json`)
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    const value = await make()
    // Others may be reading what another process has made meanwhile, which is as good.
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, JSON.stringify(value))
    renameSync(draft, path)
    return value
  }
}
