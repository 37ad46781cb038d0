/** Waiting for what no event announces, with an end. */

import { setTimeout as sleep } from 'node:timers/promises'

export interface Patience {
  /** ms between two looks */
  readonly pause?: number
  /** ms; half a minute where a test doesn't say */
  readonly patience?: number
}

type Looked<V> = V | false | null | undefined
type What = string | (() => string)

/**
 * Resolves once it holds, or with what was looked for once it is there.
 * @param what says what did not come: the message of the rejection, at the end of the patience
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
