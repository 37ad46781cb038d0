/** A clock that is certainly wrong. */

import type { Config } from '../../config/config.ts'
import { SurroundingsFault } from './fault.ts'

/** The release of Node.js 22.19, the oldest that Seatgate runs on: no clock that is right shows an earlier time. */
const EARLIEST = Date.UTC(2025, 7, 28)

/**
 * With a clock in the past, tokens that have expired would be accepted: their times can't be judged.
 *
 * @param now ms since the epoch @throws SurroundingsFault
 */
export function refuseWrongClock({ sources }: Pick<Config, 'sources'>, now: number): void {
  if (now >= EARLIEST) return
  throw new SurroundingsFault(sources.tenants, {
    cause: `the clock of this machine shows ${new Date(now).toISOString()}, before this program was made, so that no token or API key can be judged`,
    advice: 'Set the clock ("timedatectl set-ntp true"), then start again',
  })
}
