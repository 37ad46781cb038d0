/** Runs long work in slices, between which the event loop serves other work. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** The times of work that requests must not notice, in ms. */
export const BETWEEN_REQUESTS = { work: 5, pause: 1 }

/**
 * @param steps each `next` is one small step
 * @param times ms of work in a row, after which the step in progress is finished, and ms between two slices,
 *   so that the work takes a part of the process only
 * @returns what the generator returns
 * @throws the reason of the signal, between two slices
 */
export async function inSlices<R>(
  steps: Iterator<unknown, R>,
  times: { readonly work: number; readonly pause: number },
  signal?: AbortSignal,
): Promise<R> {
  for (;;) {
    // Not at once: the caller goes on first.
    await sleep(times.pause)
    signal?.throwIfAborted()
    const end = performance.now() + times.work
    do {
      const { done, value } = steps.next()
      if (done === true) return value
    } while (performance.now() < end)
  }
}
