/** Durations and sizes: a whole number and a unit, nothing else. Used where the configuration is built. */

import { InvalidValue, type Read } from './invalid-value.ts'

const MILLISECONDS = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

const BYTES = new Map([
  ['B', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
  ['TiB', 1024 ** 4],
])

/** More than this, and a timer of Node would go off at once. */
export const LONGEST_TIMER = 24 * 86_400_000

/** Milliseconds. */
export function duration(text: string): number | InvalidValue {
  return (
    quantity(text, MILLISECONDS) ?? new InvalidValue('is not a duration such as 250ms, 30s, 5m, 1h or 7d')
  )
}

/** Bytes. */
export function size(text: string): number | InvalidValue {
  const decimal = /^\d+ ?([KMGT])i?B?$/i.exec(text)?.[1]?.toUpperCase()
  const read = quantity(text, BYTES)
  if (read === null && decimal !== undefined)
    return new InvalidValue(`is not a size: write ${decimal}iB, as in 64KiB or 10MiB`)
  return read ?? new InvalidValue('is not a size such as 512B, 64KiB, 10MiB or 1GiB')
}

/** A duration in a range, both ends included. */
export function durationWithin(least: string, most: string): Read<number> {
  return within(duration, least, most, ['short', 'long'])
}

/** A size in a range, both ends included. */
export function sizeWithin(least: string, most: string): Read<number> {
  return within(size, least, most, ['small', 'large'])
}

/** Bytes that the body of a request may have. */
export const maxBody: Read<number> = (text) => (text === 'unlimited' ? Number.POSITIVE_INFINITY : size(text))

function within(read: Read<number>, least: string, most: string, words: [string, string]): Read<number> {
  const [low, high] = [read(least), read(most)]
  if (low instanceof InvalidValue || high instanceof InvalidValue) throw new Error(`${least}, ${most}`)
  return (text) => {
    const value = read(text)
    if (value instanceof InvalidValue) return value
    if (value < low) return new InvalidValue(`is too ${words[0]}: ${least} is the least`)
    return value > high ? new InvalidValue(`is too ${words[1]}: ${most} is the most`) : value
  }
}

function quantity(text: string, units: ReadonlyMap<string, number>): number | InvalidValue | null {
  const parts = /^(0|[1-9][0-9]*)([A-Za-z]*)$/.exec(text)
  if (parts === null) return null
  const [, digits = '', unit = ''] = parts
  if (unit === '') return new InvalidValue(`has no unit: one of ${[...units.keys()].join(', ')}`)
  const factor = units.get(unit)
  if (factor === undefined) return null
  const product = Number(digits) * factor
  return Number.isSafeInteger(product) ? product : new InvalidValue('is too large a number')
}
