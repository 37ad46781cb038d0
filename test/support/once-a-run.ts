/**
 * Values that are expensive to make and the same for all test files: the first process that needs one makes
 * it.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param name of a file in the folder of the run
 * @returns what `make` resolves with, as JSON preserves it; a file that runs alone makes its own
 */
export async function onceARun<V>(name: string, make: () => Promise<V>): Promise<V> {
  const { SEATGATE_TEST_RUN: folder } = process.env
  if (folder === undefined) return make()
  const path = join(folder, `${name}.json`)
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    const value = await make()
    // Another process may have written its own, which others may be reading. It is as good.
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, JSON.stringify(value))
    renameSync(draft, path)
    return value
  }
}
