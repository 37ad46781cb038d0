/** The file of a new API key, for its owner alone. */

import { open, rm } from 'node:fs/promises'
import type { Option } from './arguments.ts'
import { CommandFailed } from './command.ts'

const PRIVATE = 0o600

/** The option that names the file. */
export const KEY_FILE = {
  value: 'FILE',
  description: 'writes the key to this new file, which only its owner may read, and does not print it',
  completes: 'file',
} as const satisfies Option

/**
 * Creates the file before the key: a key that cannot be written would be lost. The file is removed if no key
 * was written.
 *
 * @param path undefined: the key is printed
 * @param work gets a function that writes the key and a line end, and waits for the disk
 * @throws CommandFailed if the path exists, as it may be the only copy of another key
 */
export async function withKeyFile<R>(
  path: string | undefined,
  work: (write: ((key: string) => Promise<void>) | null) => Promise<R>,
): Promise<R> {
  if (path === undefined) return work(null)
  const file = await open(path, 'wx', PRIVATE).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandFailed(
      cause.code === 'EEXIST'
        ? `no key is created, because ${path} is there already: give --out another name`
        : `no key is created, because ${path} can't be written: ${cause.message}`,
    )
  })
  let isWritten = false
  try {
    return await work(async (key) => {
      await file.writeFile(`${key}\n`)
      await file.sync()
      isWritten = true
    })
  } finally {
    await file.close()
    if (!isWritten) await rm(path, { force: true })
  }
}
