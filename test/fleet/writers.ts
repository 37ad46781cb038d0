/**
 * Writers: each changes Seats or API keys of its own through random gateways, one write after the other. A write that
 * is not answered 2xx leaves it unknown what became of it: then the writer begins anew with others.
 */

import type { Board } from './board.ts'
import { SCRIPTS } from './scripts.ts'
import { Unanswered, Writing } from './writing.ts'

let made = 0

/** Writes until `ended`, by the script whose turn it is. */
export async function write(board: Board, turn: number, ended: () => boolean): Promise<void> {
  const script = SCRIPTS[turn % SCRIPTS.length]
  while (script !== undefined && !ended()) {
    const writing = new Writing(board)
    try {
      for await (const _ of script(writing, `${script.name}-${++made}`)) if (ended()) return
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      writing.end()
    }
  }
}
