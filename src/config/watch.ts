/** Detects changes of the configuration's files. */

import { listFiles, signatureOf } from './file-patterns.ts'

/** Poll interval in ms. */
const POLL = 1000
/** Poll interval in ms while a change is pending. */
const SETTLE = 100

/**
 * Polls, because file notifications miss renames and symbolic links; Kubernetes updates a mounted ConfigMap by swapping a
 * link. A change counts when two successive polls see the same state, so that a half-written set of files is not loaded.
 *
 * @param files absolute paths and globs: `files` of the last load, faulty or not
 * @param since `signature` of the running configuration: changes since it was read count too
 */
export function watchConfig(
  files: () => readonly string[],
  onChange: () => void,
  since: string | null = null,
): { close(): void } {
  let current = since
  let pending: string | null = null
  let closed = false
  let timer: NodeJS.Timeout

  const poll = async () => {
    const now = await signatureOf(await listFiles('/', files()))
    if (closed) return
    current ??= now
    if (now === current) pending = null
    else if (now !== pending) pending = now
    else {
      current = now
      pending = null
      onChange()
    }
    schedule(pending === null ? POLL : SETTLE)
  }
  const schedule = (delay: number) => {
    timer = setTimeout(() => poll().catch(() => schedule(POLL)), delay).unref()
  }
  schedule(0)
  return {
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
