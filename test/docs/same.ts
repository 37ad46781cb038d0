/** Whether a value is what the manual shows: the same, but for what is another each time. */

/** Kinds of text that are made anew: ids, times, keys, request ids, ids of sessions. */
const MADE = [
  /^[0-9A-HJKMNP-TV-Z]{26}$/,
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  /^sk_[0-9A-Za-z]{40,}$/,
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  /^[\w-]{22}$/,
]

/** Seconds since the epoch. */
const TIME = 1_000_000_000

/** What differs, by its place; empty when nothing does. `…` at the end of a text stands for any rest. */
export function differences(shown: unknown, actual: unknown, place = ''): string[] {
  if (isSame(shown, actual)) return []
  if (typeof shown !== 'object' || typeof actual !== 'object' || shown === null || actual === null)
    return [`${place}: ${JSON.stringify(shown)} is shown, ${JSON.stringify(actual)} comes`]
  const names = new Set([...Object.keys(shown), ...Object.keys(actual)])
  return [...names].flatMap((name) =>
    differences(memberOf(shown, name), memberOf(actual, name), `${place}/${name}`),
  )
}

/**
 * Where the values are others each time, such as in a list of what happened lately: the members that the shown value has and
 * the actual one lacks, or the other way round, or that are of another type. Each shown element of a list is compared with
 * the first one that came.
 */
export function formDifferences(shown: unknown, actual: unknown, place = ''): string[] {
  if (Array.isArray(shown) && Array.isArray(actual))
    return shown.flatMap((each, at) => formDifferences(each, actual[0], `${place}/${at}`))
  if (typeof shown !== 'object' || typeof actual !== 'object' || shown === null || actual === null)
    return typeof shown === typeof actual ? [] : differences(shown, actual, place)
  const names = new Set([...Object.keys(shown), ...Object.keys(actual)])
  return [...names].flatMap((name) =>
    formDifferences(memberOf(shown, name), memberOf(actual, name), `${place}/${name}`),
  )
}

/** Text of the manual → text that came, where both are of the same kind. */
export function pairs(shown: unknown, actual: unknown): [string, string][] {
  if (typeof shown === 'string' && typeof actual === 'string')
    return MADE[0]?.test(shown) ? [[shown, actual]] : []
  if (typeof shown !== 'object' || typeof actual !== 'object' || shown === null || actual === null) return []
  return Object.keys(shown).flatMap((name) => pairs(memberOf(shown, name), memberOf(actual, name)))
}

function isSame(shown: unknown, actual: unknown): boolean {
  if (typeof shown === 'string' && typeof actual === 'string') return isSameText(shown, actual)
  if (typeof shown === 'number' && typeof actual === 'number')
    return shown === actual || (shown > TIME && actual > TIME)
  return shown === actual
}

function isSameText(shown: string, actual: string): boolean {
  if (shown === actual) return true
  if (shown.endsWith('…')) return actual.startsWith(shown.slice(0, -1))
  return MADE.some((kind) => kind.test(shown) && kind.test(actual))
}

function memberOf(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value
}
