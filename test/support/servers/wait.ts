/** Waiting for what nothing announces, with an end. */

import { setTimeout as sleep } from 'node:timers/promises'

const PATIENCE = 30_000

/** Resolves once it holds. Rejects, saying what did not come, after half a minute, or as many ms as `patience` says. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: () => string,
  pause = 10,
  patience = PATIENCE,
): Promise<void> {
  const end = Date.now() + patience
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(what())
    await sleep(pause)
  }
}
