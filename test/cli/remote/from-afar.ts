/** Commands that talk to a gateway, as an administrator runs them elsewhere: without its configuration and its store. */

import type { Test } from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import type { Terminal } from '../../../src/cli/command.ts'
import type { World } from '../../support/world.ts'
import { folderWith } from '../command-line.ts'
import { seatgateAt } from '../in-process.ts'

export function afar(
  t: Test,
  world: { readonly port: number },
  key: string,
  files: Record<string, string> = {},
) {
  const folder = folderWith(t, files)
  const base = { SEATGATE_URL: `http://127.0.0.1:${world.port}`, SEATGATE_API_KEY: key }
  /** @param terminal with a person, an input or a width of its own */
  const run = (
    args: readonly string[],
    env: Readonly<Record<string, string | undefined>> = {},
    terminal: Partial<Terminal> = {},
  ) => seatgateAt(terminal, folder, args, { ...base, ...env })
  /** Succeeds. @returns what it prints */
  const done = async (...args: string[]) => {
    const { code, out, err } = await run(args)
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`)
    return out
  }
  return { folder, run, done }
}

/** As sign-ins make them known. @param users email addresses by `sub` */
export async function signedIn(
  world: World,
  users: Readonly<Record<string, string>>,
  seatIds: readonly string[],
): Promise<void> {
  const store = await openStore(world.config.store)
  for (const [sub, email] of Object.entries(users))
    await store.recordSignIn('acme', { sub, email, name: null, at: Date.UTC(2026, 10, 1) }, seatIds)
  await store.close()
}
