/**
 * Bodies go by in buffers of 64 KiB, each of which is garbage when it is written. V8 lets 64 MiB of them become garbage
 * before it looks (twice its default young generation, whatever its real size), which is what a gateway would grow by.
 * A look after every few megabytes costs a millisecond. Called by whoever passes bodies on.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes that go by between two looks. */
const EVERY = 16 * 1024 * 1024

let since = 0
let collect: ((options: { readonly type: 'minor' }) => void) | null = null

/** So many bytes of bodies went by. */
export function passed(bytes: number): void {
  since += bytes
  if (since < EVERY) return
  since = 0
  collect ??= collector()
  collect({ type: 'minor' })
}

/** V8's own, which it shows to contexts that are made while it is told to. */
function collector(): (options: { readonly type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('globalThis.gc')
  setFlagsFromString('--no-expose-gc')
  // Another V8 may not show it: then it collects when it likes.
  return typeof gc === 'function' ? (gc as ReturnType<typeof collector>) : () => {}
}
