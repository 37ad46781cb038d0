/** When a grant begins and ends, as people say it. */

/** @type {readonly (readonly [Intl.RelativeTimeFormatUnit, number])[]} units in ms, the largest first */
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/**
 * @param {{ from: string, until: string }} grant
 * @param {number} now ms since the epoch
 * @param {string} [locale] left out: that of the browser
 * @returns {string} `ends in 2 hours`, `begins in 3 days` or `ended`
 */
export function termText({ from, until }, now, locale) {
  const [begin, end] = [Date.parse(from), Date.parse(until)]
  if (end <= now) return 'ended'
  return begin > now ? `begins ${distance(begin - now, locale)}` : `ends ${distance(end - now, locale)}`
}

/** Rounded down, so that no grant seems to last longer than it does. @param {number} ms @param {string} [locale] */
function distance(ms, locale) {
  const [unit, size] = UNITS.find(([, each]) => ms >= 2 * each) ?? ['second', 1000]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(Math.floor(ms / size), unit)
}
