/** What a replay decides with: the tables of a configuration, and the Seats of its store or of a file. */

import { seatsByName } from '../../access/offline-engine.ts'
import type { ReplaySubject } from '../../access/replay/judge.ts'
import { tablesOf } from '../../access/tables.ts'
import { readSeatsFile } from '../../config/seats-file.ts'
import { SeatMemory } from '../../decision/seats/memory.ts'
import { directSource } from '../../decision/seats/record-sources.ts'
import { type Terminal, tenantOf } from '../command.ts'
import { withStore } from '../existing-store.ts'
import { loadDecidingTables } from '../deciding-tables.ts'

/**
 * Runs the work with the subject.
 *
 * @param seats a file of Seats; if absent, the Seats of the store count
 * @throws ConfigError, or CommandFailed if there is no store
 */
export async function withSubject<R>(
  { config: file, seats }: { readonly config: string; readonly seats?: string | undefined },
  terminal: Terminal,
  work: (subject: ReplaySubject) => Promise<R>,
): Promise<R> {
  const { env } = terminal
  const { config, table } = await loadDecidingTables(file, terminal, seats === undefined ? {} : { env: null })
  const { tenants, limits } = config
  const common = { tables: tablesOf(config, table), tenants, targetBytes: limits.targetBytes }
  if (seats !== undefined) {
    const read = await readSeatsFile(seats, env)
    const { id } = tenantOf(config, read.tenant)
    return work({ ...common, seats: seatsByName(read.seats), onlyTenant: id })
  }
  return withStore(config, terminal, (store) => {
    // The memory is bounded: an evicted Seat is read again.
    const memory = new SeatMemory(store, directSource(store), config.memory.seats)
    return work({ ...common, seats: memory, onlyTenant: null })
  })
}
