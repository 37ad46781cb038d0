/** Faults of the machine: a wrong clock, too few open files, no room for the log, an older Node.js. */

import { missingInternals } from '../../lib/node-internals.ts'
import type { Config, SettingSource } from '../../config/config.ts'
import { describeFault, settingOf, SurroundingsFault } from './fault.ts'

/**
 * The release of Node.js 22.19, the oldest that Seatgate runs on: no clock that is right shows an earlier
 * time.
 */
const EARLIEST = Date.UTC(2025, 7, 28)

/**
 * With a clock in the past, tokens that have expired would be accepted: their times can't be judged.
 *
 * @param now ms since the epoch
 * @throws SurroundingsFault
 */
export function refuseWrongClock({ sources }: Pick<Config, 'sources'>, now: number): void {
  if (now >= EARLIEST) return
  throw new SurroundingsFault(sources.tenants, {
    cause: `the clock of this machine shows ${new Date(now).toISOString()}, before this program was made, so that no token or API key can be judged`,
    advice: 'Set the clock ("timedatectl set-ntp true"), then start again',
  })
}

/**
 * The message about fewer open files than the connections may need. The gateway goes on.
 *
 * @param source of `limits.connections`
 */
export function fileShortage(source: SettingSource, allowed: number, needed: number): string {
  return describeFault(source, {
    cause: `connections of clients and upstreams may need ${needed} open files per process, but the limit is ${allowed}`,
    advice: `Raise the limit ("ulimit -n ${needed}", or LimitNOFILE=${needed} in the systemd unit), or lower ${settingOf(source)}`,
  })
}

/**
 * The message about standard output, where the log goes, that can't be written. The gateway goes on: a full
 * disk must not end it.
 *
 * @param code of the operating system's error
 */
export function lostLog(code: string): string {
  return (
    `standard output, where the log goes, cannot be written (${code}): lines are lost, and counted in ` +
    'seatgate_log_lines_dropped. Free some space on its disk, or redirect the output elsewhere.'
  )
}

/** What this version of Node.js lacks that Seatgate uses to take less CPU time; null if it lacks nothing. */
export function nodeShortage(): { readonly missing: readonly string[]; readonly message: string } | null {
  const missing = missingInternals()
  if (missing.length === 0) return null
  const message = `Node.js ${process.version} has no ${missing.join(' and no ')}: requests take more CPU time`
  return { missing, message }
}
