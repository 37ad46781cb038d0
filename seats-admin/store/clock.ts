/** The clock that a call's time is measured by, in all drivers. */

/** Milliseconds of a clock that never steps and is the same in all threads of the process. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
