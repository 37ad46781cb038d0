/** Parses durations and sizes: a whole number followed by a unit. */

import { InvalidValue, type ValueParser } from './invalid-value.ts'

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

/** @returns milliseconds */
export function duration(text: string): number | InvalidValue {
  return (
    quantity(text, MILLISECONDS) ?? new InvalidValue('is not a duration such as 250ms, 30s, 5m, 1h or 7d')
  )
}

/** @returns bytes */
export function size(text: string): number | InvalidValue {
  const decimal = /^\d+ ?([KMGT])i?B?$/i.exec(text)?.[1]?.toUpperCase()
  const bytes = quantity(text, BYTES)
  if (bytes === null && decimal !== undefined)
    return new InvalidValue(`is not a size: write ${decimal}iB, as in 64KiB or 10MiB`)
  return bytes ?? new InvalidValue('is not a size such as 512B, 64KiB, 10MiB or 1GiB')
}

/**
 * A duration in ms within a range, both ends included. For a timer at most 24d: Node.js' timers fire at once
 * for delays of 2^31 ms (24.8 days) or more.
 */
export function durationWithin(min: string, max: string): ValueParser<number> {
  return within(duration, min, max, ['short', 'long'])
}

/** A size in bytes within a range, both ends included. */
export function sizeWithin(min: string, max: string): ValueParser<number> {
  return within(size, min, max, ['small', 'large'])
}

/** A body limit in bytes; Infinity for `unlimited`. */
export const maxBody: ValueParser<number> = (text) =>
  text === 'unlimited' ? Number.POSITIVE_INFINITY : size(text)

function within(
  read: ValueParser<number>,
  min: string,
  max: string,
  adjectives: [string, string],
): ValueParser<number> {
  const [low, high] = [read(min), read(max)]
  if (low instanceof InvalidValue || high instanceof InvalidValue) throw new Error(`${min}, ${max}`)
  return (text) => {
    const value = read(text)
    if (value instanceof InvalidValue) return value
    if (value < low) return new InvalidValue(`is too ${adjectives[0]}: the minimum is ${min}`)
    return value > high ? new InvalidValue(`is too ${adjectives[1]}: the maximum is ${max}`) : value
  }
}

function quantity(text: string, units: ReadonlyMap<string, number>): number | InvalidValue | null {
  const parts = /^(0|[1-9][0-9]*)([A-Za-z]*)$/.exec(text)
  if (parts === null) return null
  const [, digits = '', unit = ''] = parts
  if (unit === '') return new InvalidValue(`has no unit: use one of ${[...units.keys()].join(', ')}`)
  const factor = units.get(unit)
  if (factor === undefined) return null
  const product = Number(digits) * factor
  return Number.isSafeInteger(product) ? product : new InvalidValue('is too large a number')
}
