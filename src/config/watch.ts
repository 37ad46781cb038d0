/** Notices that a file of the configuration changed. Used by `seatgate start`, which then loads again. */

import { listFiles, signatureOf } from './files.ts'

const POLL = 1000
/** Between two looks at something that is being changed. */
const SETTLE = 100

/**
 * Polls, as notifications lose renames and symbolic links (a mounted ConfigMap is changed by swapping one).
 * A change counts once two looks agree on it, so that a file half written, or half of several files, is not loaded.
 *
 * @param files absolute paths and globs: `files` of the configuration that was loaded last, faulty or not
 * @param since `signature` of the configuration that runs: changes made since it was read count as well
 */
export function watchConfig(
  files: () => readonly string[],
  onChange: () => void,
  since: string | null = null,
): { close(): void } {
  let seen = since
  let pending: string | null = null
  let closed = false
  let timer: NodeJS.Timeout

  const look = async () => {
    const now = await signatureOf(await listFiles('/', files()))
    if (closed) return
    seen ??= now
    if (now === seen) pending = null
    else if (now !== pending) pending = now
    else {
      seen = now
      pending = null
      onChange()
    }
    schedule(pending === null ? POLL : SETTLE)
  }
  const schedule = (delay: number) => {
    timer = setTimeout(() => look().catch(() => schedule(POLL)), delay).unref()
  }
  schedule(0)
  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
