/** Whom a question about access is about: a tenant of the store, or a file with Seats. */

import type { Grant, ListedSeat, Store } from '../../seats-admin/index.ts'
import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import type { Holders } from '../access/permission-holders.ts'
import type { Config, TenantConfig } from '../config/config.ts'
import type { RouteTable } from '../decision/router/table.ts'
import { type Terminal, tenantOf } from './command.ts'
import { withStoreOrEmpty } from './existing-store.ts'
import { loadWithTables } from './load-tables.ts'
import { readSeatsOf } from './seat-source.ts'

interface HolderOptions {
  readonly config: string
  readonly tenant: string | undefined
  /** A file. */
  readonly seats: string | undefined
}

export interface OpenHolders {
  readonly config: Config
  readonly table: RouteTable
  readonly tenant: TenantConfig
  readonly lists: Holders
  /** The Seats: a store, or those of the file. */
  readonly source: Store | readonly SeatInput[]
}

/** A file with Seats needs neither variables nor a store. Where there is no store yet, a note says so. */
export async function withHolders<R>(
  { config: configFile, tenant: named, seats: file }: HolderOptions,
  terminal: Terminal,
  work: (holders: OpenHolders) => Promise<R>,
): Promise<R> {
  const { env } = terminal
  const { config, table } = await loadWithTables(configFile, file === undefined ? env : null)
  if (file !== undefined) {
    const { tenant, seats } = await readSeatsOf(named, file, env)
    return work({ config, table, tenant: tenantOf(config, tenant), lists: listsOf(seats), source: seats })
  }
  const tenant = tenantOf(config, named)
  return withStoreOrEmpty(config, terminal, (store) =>
    work({ config, table, tenant, lists: store, source: store }),
  )
}

/** A file has no position in a feed of changes. */
const NOWHERE = { seq: 0, mark: 0 }
const NONE = { data: [], hasMore: false, next: null }

/** In one page: a file is in memory anyway. */
function listsOf(seats: readonly SeatInput[]): Holders {
  return {
    async listSeats(tenant, { after, grant }) {
      const found = after === null ? seats.filter((seat) => grants(seat, grant)) : []
      return {
        data: found.map((seat) => listed(seat, tenant, grant?.permission ?? null)),
        hasMore: false,
        next: null,
      }
    },
    listApiKeys: async () => NONE,
    listUsers: async () => NONE,
    blocks: async () => ({ ...NOWHERE, value: { now: 0, blocks: [] } }),
    userBlock: async () => ({ ...NOWHERE, value: { now: 0, block: null } }),
  }
}

function grants({ spaces, permissions }: SeatInput, grant: Grant | null | undefined): boolean {
  if (grant == null) return true
  const inSpace = grant.space === null ? spaces.length > 0 : spaces.includes(grant.space)
  return inSpace && (permissions.includes(EVERY_PERMISSION) || permissions.includes(grant.permission))
}

/** A Seat of a file has no id. */
function listed({ name, spaces, permissions }: SeatInput, tenant: string, asked: string | null): ListedSeat {
  const every = permissions.includes(EVERY_PERMISSION)
  return {
    id: '',
    tenant,
    name,
    version: 1,
    spaces,
    permissions: asked === null ? permissions : [every ? EVERY_PERMISSION : asked],
    createdBy: '',
    createdAt: 0,
    updatedBy: null,
    updatedAt: null,
    memberCount: 0,
  }
}
