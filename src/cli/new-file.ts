/** A new file, such as for an API key, which is given only once. */

import { open, rm } from 'node:fs/promises'
import { CommandFailed } from './command.ts'

interface NewFile {
  /** The option that names the file, such as `--out`. */
  readonly option: string
  /** What the command does not do if the file cannot be created, such as `no key is created`. */
  readonly refusal: string
  readonly mode: number
}

/**
 * Creates the file before the work, so that the work does not begin if there is no place for its text. The
 * file is removed if no text was written.
 *
 * @param path undefined: there is no file
 * @param work gets a function that writes the text and an end, by default a line end, and waits for the disk
 * @throws CommandFailed if the path exists, as it may be the only copy of something else
 */
export async function withNewFile<R>(
  path: string | undefined,
  { option, refusal, mode }: NewFile,
  work: (write: ((text: string, end?: string) => Promise<void>) | null) => Promise<R>,
): Promise<R> {
  if (path === undefined) return work(null)
  const file = await open(path, 'wx', mode).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandFailed(
      cause.code === 'EEXIST'
        ? `${refusal}, because ${path} is there already: give ${option} another name`
        : `${refusal}, because ${path} can't be written: ${cause.message}`,
    )
  })
  let isWritten = false
  try {
    return await work(async (text, end = '\n') => {
      await file.writeFile(`${text}${end}`)
      await file.sync()
      isWritten = true
    })
  } finally {
    await file.close()
    if (!isWritten) await rm(path, { force: true })
  }
}
