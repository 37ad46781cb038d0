/** A strict parser of RFC 3339 date-times. */

/**
 * Section 5.6. The groups: year, month, day, hour, minute, second, fraction, sign, offset hours, offset
 * minutes.
 */
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/i

/** The last instant with a four-digit year in UTC, as RFC 3339 requires. */
const MAX = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * @returns ms since the epoch, finer fractions truncated; null for invalid text and for years before 100.
 *   Leap seconds are refused, because future ones are unknown.
 */
export function parseDateTime(text: string): number | null {
  const match = DATE_TIME.exec(text)
  if (match === null) return null
  const group = (at: number) => Number(match[at] ?? 0)
  const [year, month, day] = [group(1), group(2), group(3)]
  const [hour, minute, second] = [group(4), group(5), group(6)]
  const [offsetHours, offsetMinutes] = [group(9), group(10)]
  if (year < 100 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null
  if (hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59) return null
  const millisecond = Number(`${match[7] ?? ''}000`.slice(0, 3))
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000 * (match[8] === '-' ? -1 : 1)
  const time = Date.UTC(year, month - 1, day, hour, minute, second, millisecond) - offset
  return time > MAX ? null : time
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}
