/** The Seats that a question is about: those of a tenant in the store, or those of a file. */

import type { Store, User } from '../../seats-admin/index.ts'
import type { ApiKey } from '../../seats-admin/model/api-key.ts'
import type { ListedSeat, SeatInput } from '../../seats-admin/model/seat.ts'
import type { GrantingSeat } from '../access/access-change.ts'
import { loadConfig } from '../config/load.ts'
import { readSeatsFile, type SeatsFile } from '../config/seats-file.ts'
import { CommandFailed, type Terminal, tenantOf } from './command.ts'
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
  if (file !== undefined) {
    const { tenant: of, seats } = await readSeatsOf(tenant, file, env)
    return seats.map(grantingSeat(of))
  }
  if (tenant === undefined) return null
  const config = await loadConfig(configFile, env)
  const { id } = tenantOf(config, tenant)
  const store = await openExistingStore(config)
  try {
    const granting = grantingSeat(id)
    const found: GrantingSeat[] = []
    for await (const seat of seatsOf(store, id)) found.push(granting(seat))
    return found
  } finally {
    await store.close()
  }
}

/** @param tenant that is named beside the file; undefined: none @throws ConfigError, CommandFailed where it is another one */
export async function readSeatsOf(
  tenant: string | undefined,
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<SeatsFile> {
  const found = await readSeatsFile(file, env)
  if (tenant !== undefined && tenant !== found.tenant)
    throw new CommandFailed(`${file} has the Seats of tenant "${found.tenant}", not of "${tenant}"`)
  return found
}

/** As many Seats of a tenant have the same permissions, these share one set. */
function grantingSeat(tenant: string): (seat: SeatInput) => GrantingSeat {
  const shared = new Map<string, ReadonlySet<string>>()
  return ({ name, permissions }) => {
    const key = JSON.stringify(permissions)
    const known = shared.get(key) ?? new Set(permissions)
    shared.set(key, known)
    return { tenant, name, permissions: known }
  }
}

const PAGE = 1000
const EVERYTHING = { space: '', admin: true, all: true, permissions: [] }

/** All Seats of the tenant, in order of creation. */
export function seatsOf(store: Pick<Store, 'listSeats'>, tenant: string): AsyncGenerator<ListedSeat> {
  return every((page) => store.listSeats(tenant, page))
}

/** All API keys of the tenant, revoked ones included, in order of creation. */
export function keysOf(store: Store, tenant: string): AsyncGenerator<ApiKey> {
  return every((page) => store.listApiKeys(tenant, page))
}

/** All users of the tenant, by `sub`. */
export async function* everyUser(store: Pick<Store, 'listUsers'>, tenant: string): AsyncGenerator<User> {
  for (let after: string | null = null, more = true; more;) {
    const page: Awaited<ReturnType<Store['listUsers']>> = await store.listUsers(tenant, {
      limit: PAGE,
      after,
      scope: EVERYTHING,
    })
    yield* page.data
    after = page.next
    more = after !== null
  }
}

async function* every<V extends { readonly id: string }>(
  list: (page: Page) => Promise<{ data: V[]; hasMore: boolean }>,
): AsyncGenerator<V> {
  let after: string | null = null
  for (let more = true; more;) {
    const page: { data: V[]; hasMore: boolean } = await list({ limit: PAGE, after, scope: EVERYTHING })
    yield* page.data
    after = page.data.at(-1)?.id ?? after
    more = page.hasMore && page.data.length > 0
  }
}

type Page = Parameters<Store['listSeats']>[1]
