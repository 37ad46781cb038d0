/** The Seats that a question is about, from the store or a file, and everything else that a store lists. */

import {
  type Grant,
  type GrantPage,
  isRefusal,
  type ListedSeat,
  MAX_SCIM_PAGE,
  type ScimList,
  type ScimPage,
  type Listing,
  type Page,
  type Store,
  type StoredRevocation,
  type User,
} from '../../seats-admin/index.ts'
import type { ApiKey } from '../../seats-admin/model/api-key.ts'
import type { Block } from '../../seats-admin/model/block.ts'
import type { ListedGrant } from '../../seats-admin/model/grant.ts'
import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import type { ScimGroup, ScimUser } from '../../seats-admin/model/scim.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import type { GrantingSeat } from '../access/access-change.ts'
import type { Holders } from '../access/permission-holders.ts'
import type { Config, TenantConfig } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import { readSeatsFile, type SeatsFile } from '../config/seats-file.ts'
import type { RouteTable } from '../decision/router/table.ts'
import { printable } from '../telemetry/readable.ts'
import { CommandFailed, tenantOf, type Terminal } from './command.ts'
import { withStore, withStoreOrEmpty } from './existing-store.ts'
import { loadDecidingTables } from './deciding-tables.ts'

interface SeatOptions {
  readonly tenant: string | undefined
  /** The path of a file with Seats. */
  readonly seats: string | undefined
}

/**
 * The Seats of a tenant.
 *
 * @param configFile the configuration whose store has the Seats
 * @returns null if neither a tenant nor a file is named
 */
export async function grantingSeats(
  { tenant, seats: file }: SeatOptions,
  configFile: string,
  terminal: Terminal,
): Promise<GrantingSeat[] | null> {
  const { env } = terminal
  if (file !== undefined) {
    const { tenant: of, seats } = await readSeatsOf(tenant, file, env)
    return seats.map(grantingSeat(of))
  }
  if (tenant === undefined) return null
  const config = await loadConfig(configFile, env)
  const { id } = tenantOf(config, tenant)
  return withStore(config, terminal, (store) => Array.fromAsync(seatsOf(store, id), grantingSeat(id)))
}

/**
 * The Seats of a file.
 *
 * @param tenant the tenant that the user names besides the file
 * @throws ConfigError, or CommandFailed if the file has Seats of another tenant
 */
export async function readSeatsOf(
  tenant: string | undefined,
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<SeatsFile> {
  const seatsFile = await readSeatsFile(file, env)
  if (tenant !== undefined && tenant !== seatsFile.tenant)
    throw new CommandFailed(`${file} has the Seats of tenant "${seatsFile.tenant}", not of "${tenant}"`)
  return seatsFile
}

/** Makes Seats that share sets: many Seats of a tenant have the same permissions. */
function grantingSeat(tenant: string): (seat: SeatInput) => GrantingSeat {
  const shared = new Map<string, ReadonlySet<string>>()
  return ({ name, permissions }) => {
    const key = JSON.stringify(permissions)
    const set = shared.get(key) ?? new Set(permissions)
    shared.set(key, set)
    return { tenant, name, permissions: set }
  }
}

const PAGE = 1000
export const EVERYTHING = { space: '', admin: true, all: true, permissions: [] }

/** All Seats of the tenant, in order of creation. */
export function seatsOf(store: Pick<Store, 'listSeats'>, tenant: string): AsyncGenerator<ListedSeat> {
  return every((page) => store.listSeats(tenant, page))
}

/** All API keys of the tenant, revoked ones included, in order of creation. */
export function keysOf(store: Store, tenant: string): AsyncGenerator<ApiKey> {
  return every((page) => store.listApiKeys(tenant, page))
}

/** All users of the tenant, by `sub`. */
export function everyUser(store: Pick<Store, 'listUsers'>, tenant: string): AsyncGenerator<User> {
  return every((page) => store.listUsers(tenant, page))
}

/** All blocks of the tenant in force, in order of creation. */
export function blocksOf(store: Store, tenant: string): AsyncGenerator<Block> {
  return every(async (page) => {
    const { data, hasMore } = await store.listBlocks(tenant, page)
    return { data, hasMore, next: hasMore ? (data.at(-1)?.id ?? null) : null }
  })
}

/** All grants of the tenant that have not ended, in order of creation. @throws CommandFailed */
export function grantsOf(
  store: Store,
  tenant: string,
  filter: Partial<Pick<GrantPage, 'user' | 'seat' | 'endingBefore'>> = {},
): AsyncGenerator<ListedGrant> {
  return every(async (page) => {
    const list = await store.listGrants(tenant, {
      ...{ user: null, seat: null, endingBefore: null },
      ...filter,
      ...page,
    })
    if (isRefusal(list)) throw new CommandFailed(printable(list.faults?.[0]?.message ?? list.detail))
    return { ...list, next: list.hasMore ? (list.data.at(-1)?.id ?? null) : null }
  })
}

/** All groups of SCIM, in order of creation. */
export function groupsOf(store: Store, tenant: string): AsyncGenerator<ScimGroup> {
  return everyOfScim((page) => store.listScimGroups(tenant, page))
}

/** All users of SCIM, in order of creation. */
export function scimUsersOf(store: Store, tenant: string): AsyncGenerator<ScimUser> {
  return everyOfScim((page) => store.listScimUsers(tenant, page))
}

/** The number of users who are members. */
export async function memberCountOf(store: Store, { tenant, id }: ScimGroup): Promise<number> {
  let count = 0
  for (let after: string | null = null; ;) {
    const { data, hasMore } = await store.listScimMembers(tenant, id, { limit: PAGE, after })
    count += data.length
    if (!hasMore) return count
    after = data.at(-1)?.id ?? null
  }
}

async function* everyOfScim<V>(list: (page: ScimPage<object>) => Promise<ScimList<V>>): AsyncGenerator<V> {
  for (let startIndex = 1; ;) {
    const { data, total }: ScimList<V> = await list({ filter: {}, startIndex, count: MAX_SCIM_PAGE })
    yield* data
    startIndex += data.length
    if (data.length === 0 || startIndex > total) return
  }
}

export function revocationsOf(store: Store, tenant: string): AsyncGenerator<StoredRevocation> {
  return every(async (page) => {
    const { data, hasMore } = await store.listRevocations(tenant, { ...page, subject: null })
    return { data, hasMore, next: hasMore ? (data.at(-1)?.id ?? null) : null }
  })
}

async function* every<V>(list: (page: Page) => Promise<Listing<V>>): AsyncGenerator<V> {
  for (let after: string | null = null; ;) {
    const { data, next }: Listing<V> = await list({ limit: PAGE, after, scope: EVERYTHING })
    yield* data
    if (next === null) return
    after = next
  }
}

/** The subject of a question about access: a tenant of the store, or a file with Seats. */
export interface OpenHolders {
  readonly config: Config
  readonly table: RouteTable
  readonly tenant: TenantConfig
  readonly lists: Holders
  /** The Seats: a store, or the Seats of the file. */
  readonly source: Store | readonly SeatInput[]
}

/** Opens the subject of a question. A file needs no variables. If a store is missing, a note says so. */
export async function withHolders<R>(
  { config: configFile, tenant: named, seats: file }: SeatOptions & { readonly config: string },
  terminal: Terminal,
  work: (holders: OpenHolders) => Promise<R>,
): Promise<R> {
  const { env } = terminal
  const { config, table } = await loadDecidingTables(
    configFile,
    terminal,
    file === undefined ? {} : { env: null },
  )
  if (file !== undefined) {
    const { tenant, seats } = await readSeatsOf(named, file, env)
    return work({ config, table, tenant: tenantOf(config, tenant), lists: listsOf(seats), source: seats })
  }
  const tenant = tenantOf(config, named)
  return withStoreOrEmpty(config, terminal, (store) =>
    work({ config, table, tenant, lists: store, source: store }),
  )
}

/** A file has no position in the feed of changes. */
const NOWHERE = { seq: 0, mark: 0 }
const NONE = { data: [], hasMore: false, next: null }

/** The lists of a file, in one page: the file is in memory anyway. */
function listsOf(seats: readonly SeatInput[]): Holders {
  return {
    async listSeats(tenant, { after, grant }) {
      const data = after === null ? seats.filter((seat) => grants(seat, grant)) : []
      return { ...NONE, data: data.map((seat) => listed(seat, tenant, grant?.permission ?? null)) }
    },
    listApiKeys: async () => NONE,
    listUsers: async () => NONE,
    restrictions: async () => ({ ...NOWHERE, value: { now: 0, users: [], issuers: {}, tenant: null } }),
    userRestriction: async () => ({ ...NOWHERE, value: { now: 0, restriction: null } }),
  }
}

function grants({ spaces, permissions }: SeatInput, grant: Grant | null | undefined): boolean {
  if (grant == null) return true
  const inSpace = grant.space === null ? spaces.length > 0 : spaces.includes(grant.space)
  return inSpace && (permissions.includes(EVERY_PERMISSION) || permissions.includes(grant.permission))
}

/** A Seat of a file, which has no id. */
function listed(
  { name, spaces, permissions }: SeatInput,
  tenant: string,
  permission: string | null,
): ListedSeat {
  const every = permissions.includes(EVERY_PERMISSION)
  return {
    id: '',
    tenant,
    name,
    version: 1,
    spaces,
    permissions: permission === null ? permissions : [every ? EVERY_PERMISSION : permission],
    createdBy: '',
    createdAt: 0,
    updatedBy: null,
    updatedAt: null,
    memberCount: 0,
  }
}
