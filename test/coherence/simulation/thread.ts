/**
 * Runs the simulation in a separate thread, for the tests: tap tracks every promise of its thread, and there are millions
 * of them. This file has both ends.
 */

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { Test } from 'tap'
import { type Search, search, type SearchResult } from './search.ts'

/** Searches one after another. */
export function searchInThread(...searches: readonly Search[]): Promise<readonly SearchResult[]> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: searches, execArgv: [], env: {} })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the thread ended without results')))
  })
}

/**
 * Once a write has been acknowledged, no request is decided on the state before it.
 * @param from the first seed
 * @param least number of each event
 */
export async function holds(t: Test, from: number, schedules: number, least: number): Promise<void> {
  const [result] = await searchInThread({ variant: null, from, schedules, shrinks: true })
  if (result === undefined) throw new Error('no result')
  const { found, figures, shrunk } = result
  if (found !== null) t.comment(`seed ${found.schedule.seed}: ${found.violation.what}\n${shrunk?.trace}`)
  t.equal(found, null)
  t.equal(figures.schedules, schedules)
  t.comment(JSON.stringify(figures))
  // A simulation without faults proves nothing.
  for (const [name, count] of Object.entries(figures)) t.ok(count >= least, `${count} ${name}`)
}

if (!isMainThread && workerData !== null) {
  const results: SearchResult[] = []
  for (const wanted of workerData) results.push(await search(wanted))
  parentPort?.postMessage(results)
}
