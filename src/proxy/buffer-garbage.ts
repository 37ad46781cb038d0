/**
 * Bounds the memory of body buffers. Bodies pass in buffers of 64 KiB, each of which is garbage once it is written. V8
 * lets 64 MiB of them accumulate before it collects: twice its default young generation, whatever its real size. A minor
 * collection takes about a millisecond.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of bodies between two collections. */
const EVERY = 16 * 1024 * 1024

let since = 0
let collect: ((options: { readonly type: 'minor' }) => void) | null = null

/** Counts bytes of bodies that were written. */
export function passed(bytes: number): void {
  since += bytes
  if (since < EVERY) return
  since = 0
  collect ??= collector()
  collect({ type: 'minor' })
}

/** V8's `gc`, which only contexts created under this flag have. */
function collector(): (options: { readonly type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  // Without it, V8 collects at its own time.
  return typeof gc === 'function' ? (gc as ReturnType<typeof collector>) : () => {}
}
