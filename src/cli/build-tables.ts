/** Builds tables of the store: plain data in, plain data out, so that a thread can do it. */

import type { ActiveTables } from '../../seats-admin/index.ts'
import type { RouteEntry } from '../config/config.ts'
import { contentHash } from '../config/content-hash.ts'
import type { Fault } from '../config/faults.ts'
import type { LoadResult } from '../config/load.ts'
import { type BuiltTables, buildStored } from '../config/tables-of-store.ts'

/** What tables are built with, from a main file. */
export type TablesInput = LoadResult['tablesInput']

/** Tables without the checks of the router. With faults, they are for further checks only. */
export interface UncheckedTables extends BuiltTables {
  readonly faults: readonly Fault[]
}

export function buildTables(
  { context, upstreams, api, methods }: TablesInput,
  files: ActiveTables['files'],
): UncheckedTables {
  const { documents, comments, active, rateLimits } = buildStored({ files }, context)
  const entries = active.flatMap((table) => table.entries)
  const faults = [...documents, ...comments].flatMap((each) => each.faults)
  return { entries, rateLimits, faults, hash: contentHash(entries, { upstreams, methods, api }) }
}

/** Entries of one message, so that their receiver takes no long turn of its event loop. */
export const ENTRIES_A_MESSAGE = 500

/** A message of the thread: some entries, which it sends on request, and the rest after the last of them. */
export type ThreadMessage =
  | { readonly entries: readonly RouteEntry[] }
  | { readonly built: Omit<UncheckedTables, 'entries'> }
