/**
 * Explores schedules from the command line. Stops at the first one that violates the protocol, and prints its seed, its trace
 * after shrinking, and the command that repeats it.
 *
 *   npm run test:soak -- --minutes M [--seed N] [--variant NAME]
 *   npm run test:soak -- --seed N [--schedules 1] [--variant NAME]
 *
 * `--seed`: the first seed, otherwise a random one. `--variant`: a broken variant of the protocol; `all`: after how many
 * schedules each of them is found. Exits with 1 after a violation, and with 2 for a wrong option.
 */

import { randomInt } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import type { Figures } from './figures.ts'
import type { SearchResult } from './search.ts'
import { commandOf, SEEDS } from './seeds.ts'

/** Milliseconds between two lines of progress. */
const PROGRESS_EVERY = process.stdout.isTTY ? 5000 : 60_000

function fail(message: string): never {
  console.error(`test:soak: ${message}`)
  process.exit(2)
}

function readOptions() {
  const text = { type: 'string' } as const
  try {
    return parseArgs({ options: { minutes: text, seed: text, schedules: text, variant: text } }).values
  } catch (cause) {
    return fail(cause instanceof Error ? cause.message : String(cause))
  }
}

function numberOf(name: string, value: string | undefined, isValid: (value: number) => boolean) {
  if (value === undefined) return null
  const number = value.trim() === '' ? NaN : Number(value)
  return isValid(number) ? number : fail(`--${name}: "${value}" is not a number that it takes`)
}

const options = readOptions()
const minutes = numberOf('minutes', options.minutes, (it) => it > 0 && it < Infinity)
const givenSeed = numberOf('seed', options.seed, (it) => Number.isInteger(it) && it >= 0 && it < SEEDS)
const schedules = numberOf('schedules', options.schedules, (it) => Number.isSafeInteger(it) && it > 0)
if (minutes === null && schedules === null && givenSeed === null)
  fail('takes --minutes M, to explore for so long, or --seed N, to repeat one schedule')
if (minutes !== null && schedules !== null) fail('takes --minutes or --schedules, not both')

// Only now: they take longer than the rest of a call with a wrong option.
const { search } = await import('./search.ts')
const { partsOf, VARIANTS } = await import('./variants.ts')
const isAll = options.variant === 'all'
const variants = isAll ? Object.keys(VARIANTS) : [options.variant ?? null]
for (const variant of variants)
  try {
    partsOf(variant)
  } catch (cause) {
    fail(`--variant: ${cause instanceof Error ? cause.message : String(cause)}`)
  }

const from = givenSeed ?? randomInt(SEEDS)
let isInterrupted = false
process.once('SIGINT', () => {
  isInterrupted = true
})
for (const variant of variants) await explore(variant)

async function explore(variant: string | null): Promise<void> {
  const begun = performance.now()
  const end = minutes === null ? Infinity : begun + minutes * 60_000
  let printed = begun
  const most = schedules ?? (minutes === null ? 1 : Infinity)
  const isOver = (figures: Figures) => {
    const now = performance.now()
    if (now - printed >= PROGRESS_EVERY) {
      printed = now
      console.log(`${lineOf(figures)}, next seed ${(from + figures.schedules) % SEEDS}`)
    }
    return now >= end || isInterrupted
  }
  const result = await search({ variant, from, schedules: most, shrinks: !isAll }, isOver)
  const hours = (performance.now() - begun) / 3_600_000
  if (isAll)
    return console.log(
      `${variant}: ${result.found === null ? 'NOT FOUND in' : 'found after'} ${result.figures.schedules} schedules`,
    )
  report(variant, result)
  const outcome = result.found === null ? 'no violation' : 'a violation'
  console.log(`${outcome} in ${lineOf(result.figures)}, from seed ${from}, in ${hours.toFixed(3)} hours`)
}

function report(variant: string | null, { found, figures, shrunk }: SearchResult): void {
  console.log(figures)
  if (found === null) return
  const { schedule, violation } = found
  console.log(`seed ${schedule.seed}: ${violation.kind}: ${violation.what}\n${shrunk?.trace}`)
  console.log(`to repeat: ${commandOf(schedule.seed, variant)}`)
  process.exitCode = 1
}

function lineOf({ schedules: done, requests, reevaluated, writes, events }: Figures): string {
  return `${done} schedules: ${requests + reevaluated} decisions, ${writes} writes, ${events} events`
}
