/** Waiting for what no event announces, with an end. */

import { setTimeout as sleep } from 'node:timers/promises'

export interface Patience {
  /** ms between two looks */
  readonly pause?: number
  /** ms; half a minute where a test doesn't say */
  readonly patience?: number
}

/**
 * Resolves once it holds.
 * @param what says what did not come: the message of the rejection, at the end of the patience
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string),
  { pause = 10, patience = 30_000 }: Patience = {},
): Promise<void> {
  const end = Date.now() + patience
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(typeof what === 'string' ? `did not come: ${what}` : what())
    await sleep(pause)
  }
}
