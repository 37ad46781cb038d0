/** Builds the rate limits, and the lists by which tables and routes name them. */

import { type RateLimit, type RateLimitBy, WINDOWS } from '../model/rate-limit.ts'
import { didYouMeanOneOf, InvalidValue, quote, type ValueParser } from './invalid-value.ts'
import type { Section } from './section.ts'
import { list, optional, type Setting } from './setting.ts'

const MAX_LIMIT = 1_000_000_000
const MAX_LIMITS = 64
/** It becomes a label of metrics and a String of structured fields. */
const NAME = /^[a-z][a-z0-9_-]{0,31}$/

export function buildRateLimits(root: Section): ReadonlyMap<string, RateLimit> {
  const limits = root.section('rate_limits')
  for (const name of limits.keys().filter((each) => !NAME.test(each)))
    limits.faultAtKey(
      name,
      `${quote(name)} is not a name: 1 to 32 lower-case letters, digits, - and _, beginning with a letter`,
    )
  if (limits.keys().length > MAX_LIMITS)
    root.fault('rate_limits', `rate_limits: has ${limits.keys().length} limits: the maximum is ${MAX_LIMITS}`)
  return new Map(limits.keys().map((name) => [name, buildRateLimit(name, limits.section(name))]))
}

function buildRateLimit(name: string, section: Section): RateLimit {
  // A fault gives the strictest limit, which is never served.
  const perWindow = section.text('limit', readPerWindow) ?? { limit: 1, window: 3_600_000 }
  const burst = section.number('burst') ?? perWindow.limit
  return Object.freeze({ name, ...perWindow, burst, per: section.choice<RateLimitBy>('per') })
}

/** `1000/h`. */
function readPerWindow(text: string) {
  const [, digits, unit = ''] = /^([1-9][0-9]*)\/(.*)$/.exec(text) ?? []
  const window = WINDOWS.get(unit)
  if (digits === undefined || window === undefined)
    return new InvalidValue(
      'is not a number of requests, from 1 on, in a second, minute or hour: such as 10/s, 600/m or 1000/h',
    )
  const limit = Number(digits)
  return limit > MAX_LIMIT
    ? new InvalidValue(`is too large: the maximum is ${MAX_LIMIT} requests`)
    : { limit, window }
}

/** The limits that a table or a route names. Empty: it has none. */
export function namedRateLimits(
  description: string,
  limits: ReadonlyMap<string, RateLimit>,
): Setting<readonly RateLimit[] | null> {
  const read: ValueParser<RateLimit> = (text) =>
    limits.get(text) ??
    new InvalidValue(`is not one of the rate_limits${didYouMeanOneOf(text, limits.keys())}`)
  const examples = ['writes']
  return optional(list(description, read, { distinct: true, examples: [examples], items: { examples } }))
}
