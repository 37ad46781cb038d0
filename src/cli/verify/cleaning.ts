/** `seatgate verify --clean`: deletes what earlier runs left. */

import { parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { printable } from '../../telemetry/readable.ts'
import type { Terminal } from '../command.ts'
import { Pace, RunEnded } from './change-writer.ts'
import { findMade, type NotRemoved, removeAll } from './made-objects.ts'
import { managedPlaces, managingSpace, type Reached } from './managed-places.ts'
import { leftInWords } from './verification.ts'

/** ms between two deletions. */
const CLEANING = 1000
/** ms without success after which the rest is left. */
const PATIENCE = 10_000

/** @param reached with the signal that ends it @returns the exit code */
export async function clean(
  reached: Reached & { readonly shared: { readonly signal: AbortSignal } },
  terminal: Terminal,
  json: boolean,
): Promise<number> {
  const { shared } = reached
  const places = managedPlaces(reached, await managingSpace(reached))
  try {
    const [first] = places
    if (first === undefined) throw new Error('there is no place')
    const { objects, unlisted } = await findMade(first, {
      caller: parseApiKey(shared.key)?.id ?? null,
      run: null,
    })
    const waiting = new Map(objects.map((object) => [object.id, object]))
    const left = await removeAll(objects, {
      places,
      pace: new Pace(CLEANING),
      signal: shared.signal,
      patience: PATIENCE,
      made: waiting,
    }).catch((cause: unknown): NotRemoved[] => {
      if (!(cause instanceof RunEnded)) throw cause
      return [...waiting.values()].map((object) => ({ ...object, why: 'the command was interrupted' }))
    })
    const deleted = objects.filter(({ id }) => !waiting.has(id))
    const lines = deleted.map(({ kind, id, name }) => `deleted ${kind} ${name} ${id}`)
    await terminal.print(
      json
        ? JSON.stringify({ deleted, left }, null, 2)
        : [...lines, `deleted: ${deleted.length}, left: ${left.length}`].map(printable).join('\n'),
    )
    for (const [kind, why] of unlisted)
      terminal.printError(`note: each ${kind} that is left stays, as it cannot be listed: ${why}`)
    if (left.length > 0) terminal.printError(leftInWords(left))
    return left.length === 0 ? 0 : 1
  } finally {
    await Promise.all(places.map((place) => place.close()))
  }
}
