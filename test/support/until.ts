/** Waits with a limit for a state that no event announces. */

import { setTimeout as sleep } from 'node:timers/promises'

export interface Patience {
  /** Milliseconds between two looks. */
  readonly pause?: number
  /** Milliseconds until the wait fails; by default half a minute. */
  readonly patience?: number
}

type Looked<V> = V | false | null | undefined
type What = string | (() => string)

/**
 * Resolves once the condition holds, or with the value once there is one.
 *
 * @param what did not come: the message of the rejection at the end of the patience
 */
export function until(look: () => boolean | Promise<boolean>, what: What, patience?: Patience): Promise<void>
export function until<V>(
  look: () => Looked<V> | Promise<Looked<V>>,
  what: What,
  patience?: Patience,
): Promise<V>
export async function until<V>(
  look: () => Looked<V> | Promise<Looked<V>>,
  what: What,
  { pause = 10, patience = 30_000 }: Patience = {},
): Promise<V> {
  const end = Date.now() + patience
  for (;;) {
    const value = await look()
    if (value !== false && value !== null && value !== undefined) return value
    if (Date.now() > end) throw new Error(typeof what === 'string' ? `did not come: ${what}` : what())
    await sleep(pause)
  }
}
