/**
 * Runs a hunt in a thread of its own, for the tests: tap watches every promise of the thread it runs in, and there are
 * millions of them. Both ends are in this file.
 */

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Hunt, hunt, type Outcome } from './hunt.ts'
import { fromMacrotask } from './microtasks.ts'
import { type Shrunk, shrunk } from './shrink.ts'
import { partsOf } from './variants.ts'

export interface Order extends Omit<Hunt, 'parts'> {
  /** Null: the protocol as it is. */
  readonly variant: string | null
  /** Whether to make a run that went wrong smaller. */
  readonly shrinks: boolean
}

export interface Report extends Outcome {
  readonly shrunk: Shrunk | null
}

export function huntInThread(order: Order): Promise<Report> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: order, execArgv: [], env: {} })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('the thread has ended without a report')))
  })
}

async function carryOut({ variant, shrinks, ...order }: Order): Promise<Report> {
  const parts = partsOf(variant)
  const { found, figures } = await hunt({ ...order, parts })
  const smaller = found !== null && shrinks ? await fromMacrotask(() => shrunk(found, parts)) : null
  return { found, figures, shrunk: smaller }
}

if (!isMainThread && workerData !== null) parentPort?.postMessage(await carryOut(workerData))
