/** Commands of a release check. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** In bytes: of a command that fails, the last part of its output. */
const MOST = 4000

/** Runs a command to its end. @returns its output @throws an error with its last output, if the status is not 0 */
export async function run(
  cwd: string,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [program = '', ...args] = command
  // npm fails with the options that a test runner gives Node.js.
  const own = { ...process.env, NODE_OPTIONS: '', ...env }
  try {
    const { stdout } = await promisify(execFile)(program, args, { cwd, env: own, maxBuffer: 2 ** 26 })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    const output = `${stdout}${stderr}`.trim().slice(-MOST)
    throw new Error(`${command.join(' ')}: ${output || (error as Error).message}`)
  }
}
