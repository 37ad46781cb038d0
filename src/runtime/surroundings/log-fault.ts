/** Standard output, where the log goes, can't be written. The gateway goes on: a full disk must not end it. */

/** @param code of the operating system's error */
export function lostLog(code: string): string {
  return (
    `standard output, where the log goes, cannot be written (${code}): lines are lost, and counted in ` +
    'seatgate_log_lines_dropped. Free some space on its disk, or redirect the output elsewhere.'
  )
}
