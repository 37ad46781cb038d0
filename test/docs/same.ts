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

type Members = Readonly<Record<string, unknown>>
type Compare = (shown: unknown, actual: unknown, place: string) => string[]

/** What differs, by its place; empty when nothing does. `…` at the end of a text stands for any rest. */
export function differences(shown: unknown, actual: unknown, place = ''): string[] {
  if (isSame(shown, actual)) return []
  if (hasMembers(shown) && hasMembers(actual)) return inMembers(differences, shown, actual, place)
  return [`${place}: ${JSON.stringify(shown)} is shown, ${JSON.stringify(actual)} comes`]
}

/**
 * Where the values are others each time, such as in a list of what happened lately: the members that the shown value has and
 * the actual one lacks, or the other way round, or that are of another type. Each shown element of a list is compared with
 * the first one that came.
 */
export function formDifferences(shown: unknown, actual: unknown, place = ''): string[] {
  if (Array.isArray(shown) && Array.isArray(actual))
    return shown.flatMap((each, at) => formDifferences(each, actual[0], `${place}/${at}`))
  if (hasMembers(shown) && hasMembers(actual)) return inMembers(formDifferences, shown, actual, place)
  return typeof shown === typeof actual ? [] : differences(shown, actual, place)
}

function inMembers(compare: Compare, shown: Members, actual: Members, place: string): string[] {
  const names = new Set([...Object.keys(shown), ...Object.keys(actual)])
  return [...names].flatMap((name) => compare(shown[name], actual[name], `${place}/${name}`))
}

/** Text of the manual → text that came, where both are of the same kind. */
export function pairs(shown: unknown, actual: unknown): [string, string][] {
  if (typeof shown === 'string' && typeof actual === 'string')
    return MADE[0]?.test(shown) ? [[shown, actual]] : []
  if (!hasMembers(shown) || !hasMembers(actual)) return []
  return Object.keys(shown).flatMap((name) => pairs(shown[name], actual[name]))
}

function isSame(shown: unknown, actual: unknown): boolean {
  if (shown === actual) return true
  if (typeof shown === 'number' && typeof actual === 'number') return shown > TIME && actual > TIME
  if (typeof shown !== 'string' || typeof actual !== 'string') return false
  if (shown.endsWith('…')) return actual.startsWith(shown.slice(0, -1))
  return MADE.some((kind) => kind.test(shown) && kind.test(actual))
}

function hasMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}
