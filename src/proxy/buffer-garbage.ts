/**
 * Bounds the memory of body buffers. Bodies pass in buffers of 64 KiB. Each buffer is garbage once it is
 * written. V8 lets 64 MiB of them accumulate before it collects: twice its default young generation, whatever
 * its real size. A minor collection takes about a millisecond.
 */

import { collectYoungGeneration } from '../lib/node-internals.ts'

/** Bytes of bodies between two collections. */
const EVERY = 16 * 1024 * 1024

let since = 0

/** Counts bytes of bodies that were written. */
export function passed(bytes: number): void {
  since += bytes
  if (since < EVERY) return
  since = 0
  collectYoungGeneration()
}
