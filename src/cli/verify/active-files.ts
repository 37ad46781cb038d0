/** The active files of the route tables, to which a run adds one. */

import type { TableFiles } from '../../../seats-admin/model/tables-version.ts'
import { CommandFailed } from '../command.ts'
import type { ActiveTablesView } from '../remote/endpoint-answers.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import type { CycleRequest } from './cycle-request.ts'

const TABLES = '/v1/tables'

/** A push without an answer. It may still take effect, before this time and on this version alone. */
export interface PendingPush {
  readonly tag: string
  /** Monotonic ms. */
  readonly until: number
}

/** Milliseconds in which a gateway ends a push: 20 s for the answers of all instances, and the writes. */
const PUSH_LASTS = 25_000

/** A push that is sent now. */
export function pendingPush({ ifMatch = '' }: CycleRequest): PendingPush {
  return { tag: ifMatch, until: performance.now() + PUSH_LASTS }
}

/**
 * Removes the file from the active tables. Nothing happens if it is not there.
 *
 * @param pending the push that may still add it; null: there is none
 * @throws CommandFailed
 */
export async function removeFile(gateway: Gateway, file: string, pending: PendingPush | null): Promise<void> {
  const { files, tag } = await activeOf(gateway)
  if (!Object.hasOwn(files, file)) {
    if (pending !== null && pending.tag === tag && performance.now() < pending.until)
      throw new CommandFailed('a push of it was not answered, and may still take effect')
    return
  }
  const { [file]: _, ...others } = files
  const { path, at: _space, ...sent } = pushOf(others, tag)
  await gateway.send(path, sent)
}

export async function activeOf(
  gateway: Gateway,
): Promise<{ readonly files: TableFiles; readonly tag: string }> {
  const { value, tag } = await gateway.send<ActiveTablesView>(TABLES, { method: 'GET', query: { limit: 1 } })
  return { files: value.files, tag: tag ?? '' }
}

export function pushOf(files: TableFiles, ifMatch: string): CycleRequest {
  return { method: 'PUT', path: TABLES, at: 'admin', body: { files }, ifMatch }
}
