/** Rate limits, and the lists by which tables and routes name them. */

import { type RateLimit, WINDOWS } from '../model/rate-limit.ts'
import { frozenMap } from './frozen.ts'
import { didYouMeanOneOf, InvalidValue, quote, type ValueParser } from './invalid-value.ts'
import type { Section } from './section.ts'
import { choice, count, list, map, mapOf, optional, required, type Setting, text } from './setting.ts'

const MAX_LIMIT = 1_000_000_000
const MAX_LIMITS = 64
/** The syntax of a name, which is a label of metrics and a String of structured fields (RFC 9651). */
const NAME = /^[a-z][a-z0-9_-]{0,31}$/
/** Takes the place of a faulty limit, and is never served. */
const STRICTEST = { limit: 1, window: 3_600_000 }

const rateLimit = map('A token bucket.', {
  limit: required(
    text('Number of requests that a key gets per second, minute or hour.', readPerWindow, {
      placeholder: STRICTEST,
      pattern: '^[1-9][0-9]*/[smh]$',
      examples: ['1000/h'],
    }),
  ),
  burst: count(
    'Number of requests that a key may make at once after a pause. Default: the number in limit.',
    { minimum: 1, maximum: 1000000000, examples: [50] },
  ),
  per: choice(
    'What has its own budget: caller (tenant and user, or API key), tenant, address (IPv4 address or IPv6 /64 network) or route. On a public route, caller and tenant mean the address.',
    ['caller', 'tenant', 'address', 'route'],
    { default: 'caller', examples: ['address'] },
  ),
})

export const rateLimits = mapOf(
  rateLimit,
  'Rate limits by name. Tables and routes refer to these names in rate_limit. At most burst + limit × time requests pass per key; further ones get 429. Gateways with redis share the limits.',
  { propertyNames: { pattern: NAME.source } },
  (name) =>
    NAME.test(name)
      ? null
      : `${quote(name)} is not a name: 1 to 32 lower-case letters, digits, - and _, beginning with a letter`,
)

export function buildRateLimits(
  values: ReturnType<typeof rateLimits.read>,
  root: Section,
): ReadonlyMap<string, RateLimit> {
  if (values.size > MAX_LIMITS)
    root.fault('rate_limits', `rate_limits: has ${values.size} limits: the maximum is ${MAX_LIMITS}`)
  return frozenMap(
    new Map(
      [...values].map(([name, { limit, burst, per }]) => [
        name,
        Object.freeze({ name, ...limit, burst: burst ?? limit.limit, per }),
      ]),
    ),
  )
}

/** Reads a limit such as `1000/h`. */
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

/** The limits that a table or a route names; null: it names none; empty: it has no limit. */
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
