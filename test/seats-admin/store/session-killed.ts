/** Sessions of a killed process, and checks of them afterwards. For the tests of the drivers. */

import { createHash } from 'node:crypto'
import type { Store, StoredSession } from '../../../seats-admin/index.ts'
import { family, fedSessions } from './session-records.ts'

const ORDER = ['created', 'rotated', 'ended']

/** A family with secrets derived from its id, large enough to fill several pages. */
export function sessionNamed(id: string): StoredSession {
  return family({
    id,
    familyHash: digest(id, 'family'),
    handleHash: digest(id, 'first'),
    sealed: id.repeat(3000),
  })
}

export function nextHandle(id: string): Uint8Array {
  return digest(id, 'next')
}

/** Acknowledged steps that the store lacks. */
export async function lostSessionSteps(store: Store, acknowledged: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const announced = new Set(await fedSessions(store))
  const last = new Map(acknowledged.map((line) => line.split(' ').toReversed() as [string, string]))
  for (const [id, verb] of last) {
    const session = await store.sessions.sessionById('acme', id)
    const here = stateOf(session)
    // The write after the last acknowledged one may have been committed too.
    const ahead = ORDER.indexOf(here) - ORDER.indexOf(verb)
    if (ahead < 0 || ahead > 1) found.push(`${id} was ${verb}, is ${here}`)
    if (session?.sealed !== (here === 'ended' ? '' : id.repeat(3000)))
      found.push(`${id}: of its tokens a part`)
    if (announced.has(id) !== (here === 'ended')) found.push(`${id}: is ${here}, unlike in the feed`)
  }
  return found
}

function stateOf(session: StoredSession | null): string {
  if (session === null) return 'lost'
  if (session.endedAt !== null) return 'ended'
  return Buffer.compare(session.handleHash ?? Buffer.of(), nextHandle(session.id)) === 0
    ? 'rotated'
    : 'created'
}

function digest(id: string, what: string): Uint8Array {
  return createHash('sha256').update(`${id} ${what}`).digest()
}
