/**
 * Runs the simulation in a separate thread, for the tests: tap tracks every promise of its thread, and there are millions
 * of them. This file has both ends.
 */

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Search, search, type SearchResult } from './search.ts'
import { fromMacrotask } from './microtasks.ts'
import { type Shrunk, shrunk } from './shrink.ts'
import { partsOf } from './variants.ts'

export interface Order extends Omit<Search, 'parts'> {
  /** Null: the real protocol. */
  readonly variant: string | null
  /** Whether to shrink a failing schedule. */
  readonly shrinks: boolean
}

export interface Report extends SearchResult {
  readonly shrunk: Shrunk | null
}

/** Carries out the orders one after another. */
export function searchInThread(...orders: readonly Order[]): Promise<readonly Report[]> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: orders, execArgv: [], env: {} })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the thread ended without reports')))
  })
}

async function runOrder({ variant, shrinks, ...order }: Order): Promise<Report> {
  const parts = partsOf(variant)
  const { found, figures } = await search({ ...order, parts })
  const smaller = found !== null && shrinks ? await fromMacrotask(() => shrunk(found, parts)) : null
  return { found, figures, shrunk: smaller }
}

if (!isMainThread && workerData !== null) {
  const reports: Report[] = []
  for (const order of workerData) reports.push(await runOrder(order))
  parentPort?.postMessage(reports)
}
