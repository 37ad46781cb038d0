/**
 * Writers: each changes its own Seats or API keys through random gateways, one write at a time. The outcome of a write
 * without a 2xx is unknown, so the writer continues with new Seats and keys.
 */

import type { LoadState } from './load-state.ts'
import { SCRIPTS } from './scripts.ts'
import { Unanswered, Writing } from './writing.ts'

let made = 0

/** Writes until `ended`, by the script at `turn`. */
export async function write(load: LoadState, turn: number, ended: () => boolean): Promise<void> {
  const script = SCRIPTS[turn % SCRIPTS.length]
  while (script !== undefined && !ended()) {
    const writing = new Writing(load)
    try {
      for await (const _ of script(writing, `${script.name}-${++made}`)) if (ended()) return
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      writing.end()
    }
  }
}
