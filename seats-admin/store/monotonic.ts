/** The clock of call timeouts, in all drivers. */

/** Monotonic ms, the same in all threads of the process. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
