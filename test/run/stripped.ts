/**
 * Test files without their types, for their processes. Each of them would otherwise load what strips types, 80 ms of CPU
 * time, for one file alone: earlier processes have put all others into the compile cache.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import module from 'node:module'

/**
 * Lines and columns stay.
 * @param path of a new file
 * @returns false where the file is no TypeScript: its own process is to say why
 */
export function writeStripped(file: string, path: string): boolean {
  const { emitWarning } = process
  // The function warns that it is experimental.
  process.emitWarning = () => {}
  try {
    writeFileSync(path, module.stripTypeScriptTypes(readFileSync(file, 'utf8')))
    return true
  } catch {
    return false
  } finally {
    process.emitWarning = emitWarning
  }
}
