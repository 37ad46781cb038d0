/** The clock that both sides of the store's threads go by. */

/** Milliseconds of a clock that never steps and is the same in all threads of the process. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
