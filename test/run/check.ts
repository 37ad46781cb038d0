/**
 * What `npm test` does before the tests, at once, since none of it takes all cores: types, lint and format
 * are checked, and the servers that tests start are found or fetched. Prints the output of each when it has
 * ended.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

const COMMANDS = [
  ['tsc'],
  ['tsc', '-p', 'seats-admin/console'],
  ['oxlint'],
  ['oxfmt', '--check'],
  ['node', 'test/support/servers/prepare.ts'],
] as const

/** @returns whether it succeeded */
async function check([command, ...args]: (typeof COMMANDS)[number]): Promise<boolean> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const output = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await ended) as [number | null]
  console.log(`${[command, ...args].join(' ')}: ${code === 0 ? 'done' : 'FAILED'}\n${output.join('')}`)
  return code === 0
}

const succeeded = await Promise.all(COMMANDS.map(check))
process.exitCode = succeeded.every(Boolean) ? 0 : 1
