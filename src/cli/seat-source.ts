/** The Seats that a question is about: those of a tenant in the store, or those of a file. */

import type { Store } from '../../seats-admin/index.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import type { GrantingSeat } from '../access/change.ts'
import { loadConfig } from '../config/load.ts'
import { readSeatsFile } from '../config/seats-file.ts'
import { type Terminal, tenantOf } from './command.ts'
import { openExistingStore } from './existing-store.ts'

interface SeatOptions {
  readonly tenant: string | undefined
  /** A file. */
  readonly seats: string | undefined
}

/** @param configFile whose store has the Seats @returns null where neither a tenant nor a file is given */
export async function grantingSeats(
  { tenant, seats: file }: SeatOptions,
  configFile: string,
  { env }: Terminal,
): Promise<GrantingSeat[] | null> {
  const granting = grantingSeat()
  if (file !== undefined) return (await readSeatsFile(file, env)).seats.map(granting)
  if (tenant === undefined) return null
  const config = await loadConfig(configFile, env)
  const { id } = tenantOf(config, tenant)
  const store = await openExistingStore(config)
  try {
    const found: GrantingSeat[] = []
    for await (const seat of seatsOf(store, id)) found.push(granting(seat))
    return found
  } finally {
    await store.close()
  }
}

/** As many Seats of a tenant have the same permissions, these share one set. */
function grantingSeat(): (seat: SeatInput) => GrantingSeat {
  const shared = new Map<string, ReadonlySet<string>>()
  return ({ name, permissions }) => {
    const key = JSON.stringify(permissions)
    const known = shared.get(key) ?? new Set(permissions)
    shared.set(key, known)
    return { name, permissions: known }
  }
}

const PAGE = 1000

/** All Seats of the tenant, in order of creation. */
export async function* seatsOf(store: Store, tenant: string) {
  const scope = { space: '', admin: true, all: true, permissions: [] }
  let after: string | null = null
  for (let more = true; more;) {
    const page: Awaited<ReturnType<Store['listSeats']>> = await store.listSeats(tenant, {
      limit: PAGE,
      after,
      scope,
    })
    yield* page.data
    after = page.data.at(-1)?.id ?? after
    more = page.hasMore && page.data.length > 0
  }
}
