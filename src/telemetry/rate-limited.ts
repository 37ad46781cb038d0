/** Log lines that an attack or an outage must not multiply. */

import type { Logger } from './logger.ts'

/** Milliseconds between two lines of one kind: an attack must not fill the disk. */
const BETWEEN_LINES = 10_000

/**
 * Writes the first line at once, counts the lines of the next interval, and adds their number to the line
 * after it.
 */
export function rateLimited(logger: Logger, message: string): (fields: object) => void {
  let next = 0
  let suppressed = 0
  return (fields) => {
    const now = performance.now()
    if (now < next) return void suppressed++
    logger.warn({ ...fields, ...(suppressed > 0 ? { more_before: suppressed } : {}) }, message)
    next = now + BETWEEN_LINES
    suppressed = 0
  }
}
