/** Moments on the command line. */

import { parseDateTime } from '../../../seats-admin/index.ts'
import { InvalidValue } from '../../config/invalid-value.ts'
import { duration } from '../../config/units.ts'
import { UsageError } from '../arguments.ts'

/**
 * A moment in the future.
 *
 * @param text a duration from now on, or a date-time
 * @returns RFC 3339, UTC
 * @throws UsageError
 */
export function momentOf(name: string, text: string): string {
  const moment = anyMoment(name, text)
  if (Date.parse(moment) <= Date.now()) throw new UsageError(`${name} is in the past`)
  return moment
}

/**
 * A moment, also in the past.
 *
 * @param text a duration from now on, or a date-time
 * @returns RFC 3339, UTC
 * @throws UsageError
 */
export function anyMoment(name: string, text: string): string {
  const after = duration(text)
  const time = after instanceof InvalidValue ? dateTime(name, text, '90d') : Date.now() + after
  if (time > LATEST) throw new UsageError(`${name} is after the year 9999`)
  return new Date(time).toISOString()
}

/**
 * A moment in the past.
 *
 * @param text a duration before now, or a date-time
 * @returns ms since the epoch
 * @throws UsageError
 */
export function pastMoment(name: string, text: string): number {
  const ago = duration(text)
  return ago instanceof InvalidValue ? dateTime(name, text, '10m') : Math.max(0, Date.now() - ago)
}

function dateTime(name: string, text: string, example: string): number {
  const time = parseDateTime(text)
  if (time !== null) return time
  throw new UsageError(
    `${name} is neither a duration such as ${example} nor a date-time with an offset, such as 2026-11-21T11:00:00Z`,
  )
}

const LATEST = Date.UTC(9999, 11, 31)
