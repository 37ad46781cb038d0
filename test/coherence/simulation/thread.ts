/**
 * Runs the simulation in a separate thread, for the tests: tap tracks every promise of its thread, and there are millions
 * of them. This file has both ends.
 */

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { Test } from 'tap'
import { commandOf } from './seeds.ts'
import type { Figures } from './figures.ts'
import type { ModelTrace } from './model-trace.ts'
import type { Search, SearchResult, Told } from './search.ts'

/** What the thread does: searches one after another, and traces of the schedules of some seeds. */
interface Work {
  readonly searches: readonly Search[]
  readonly traced?: readonly number[]
  readonly told?: readonly Told[]
}

interface Results {
  readonly results: readonly SearchResult[]
  readonly traces: readonly (readonly string[])[]
  readonly told: readonly (readonly ModelTrace['events'][])[]
}

export function inThread(work: Work): Promise<Results> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: work, execArgv: [], env: {} })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the thread ended without results')))
  })
}

/** A search for a violation of the real protocol. */
export function searchFrom(from: number, schedules: number): Search {
  return { variant: null, from, schedules, shrinks: true }
}

/**
 * The protocol held in all schedules of the search.
 *
 * @param least the least number of each event
 * @param others the least numbers of those that are rarer
 */
export function holds(
  t: Test,
  result: SearchResult | undefined,
  schedules: number,
  least: number,
  others: Partial<Figures> = {},
): void {
  if (result === undefined) return void t.fail('no result')
  holdsAgain(t, result, 'no violation')
  const { figures } = result
  t.equal(figures.schedules, schedules)
  t.comment(JSON.stringify(figures))
  // A simulation without faults proves nothing.
  const rarer: Readonly<Record<string, number>> = others
  for (const [name, count] of Object.entries(figures))
    t.ok(count >= (rarer[name] ?? least), `${count} ${name}`)
}

/** @param reason why it did not hold before */
export function holdsAgain(t: Test, { found, shrunk }: SearchResult, reason: string): void {
  if (found === null) return void t.pass(reason)
  const { schedule, violation } = found
  const { seed } = schedule
  const diagnostics = { violation: violation.what, repeat: commandOf(seed), shrunk: shrunk?.trace }
  t.fail(`seed ${seed}: ${violation.kind} (add it to regressions.txt)`, diagnostics)
}

if (!isMainThread && workerData !== null) {
  // Only here: the test's own thread needs none of the product's files.
  const { search, tellForModel, traceOf } = await import('./search.ts')
  const { searches, traced = [], told: wantedTold = [] }: Work = workerData
  const results: SearchResult[] = []
  for (const wanted of searches) results.push(await search(wanted))
  const traces = await Promise.all(traced.map(traceOf))
  const told = await Promise.all(wantedTold.map(tellForModel))
  parentPort?.postMessage({ results, traces, told } satisfies Results)
}
