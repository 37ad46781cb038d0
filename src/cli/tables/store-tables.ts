/**
 * Writes route tables straight into a store, from where gateways read them that start with `tables: store`. So a
 * fleet moves over without a moment in which an instance has no routes.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { isRefusal, type Store, storedTablesOf, tablesDigest, tablesTag } from '../../../seats-admin/index.ts'
import { changesOf } from '../../access/access-change.ts'
import { differences } from '../../access/difference.ts'
import { tablesOf } from '../../access/tables.ts'
import { LEASE, MARGIN } from '../../coherence/lease.ts'
import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/faults.ts'
import { CommandFailed, type Terminal } from '../command.ts'
import { changesAsText } from '../difference-output.ts'
import { openConfiguredStore } from '../existing-store.ts'
import { gatewayOf } from '../fleet.ts'
import { type Loaded, loadWithTables } from '../load-tables.ts'
import { confirm } from '../remote/administration-prompt.ts'
import { plural } from '../screen.ts'
import { isSame, type PushValues, type TableSet } from './push-tables.ts'

/** @param file the configuration with `tables: store` */
export async function storeTables(
  file: string,
  name: string,
  set: TableSet,
  values: PushValues,
  terminal: Terminal,
): Promise<void> {
  const loaded = await loadWithTables(file, terminal.env)
  const { tables } = loaded.config
  if (tables.from === 'files')
    throw new CommandFailed(
      `${file} has its route tables in files: give the configuration with tables: store`,
    )
  // Its faults come before a store is created.
  built(loaded, set, 1)
  await refuseRunning(loaded.config, tables.tenant)
  const store = await openConfiguredStore(loaded.config, terminal)
  try {
    await write(store, tables.tenant, { loaded, name, set }, values, terminal)
  } finally {
    await store.close()
  }
}

/** @throws ConfigError with the places of the files in their folder */
function built(loaded: Loaded, { files, placeOf }: TableSet, version: number): Loaded {
  try {
    return loaded.withTables({ version, digest: tablesDigest(files), files })
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    const inFolder = ({ place, ...fault }: ConfigError['faults'][number]) => ({
      ...fault,
      place: Object.hasOwn(files, place.file) ? { ...place, file: placeOf(place.file) } : place,
    })
    throw new ConfigError(cause.faults.map(inFolder))
  }
}

/** A store in a file has no list of instances. @throws CommandFailed */
async function refuseRunning({ store }: Config, tenant: string): Promise<void> {
  const running = store.kind === 'sqlite' ? await gatewayOf(store.path) : null
  if (running?.tables === storedTablesOf(tenant))
    throw new CommandFailed(
      'nothing was written: a gateway decides by the tables in this store. Push through it',
    )
}

interface Wanted {
  readonly loaded: Loaded
  readonly name: string
  readonly set: TableSet
}

async function write(
  store: Store,
  tenant: string,
  { loaded, name, set }: Wanted,
  { yes, json }: PushValues,
  terminal: Terminal,
): Promise<void> {
  const { files } = set
  const { value: active } = await store.activeTables(tenant)
  const { config, table } = built(loaded, set, active.version + 1)
  const before = loaded.withTables(active)
  const changes = changesOf(
    [...differences(tablesOf(before.config, before.table), tablesOf(config, table))],
    null,
  )
  if (json !== true) await terminal.print(`${changesAsText(changes)}\n`)
  if (!isSame(active.files, files)) {
    const change = `${name} would replace version ${active.version} in the store`
    await confirm({ question: `Write ${name} in place of version ${active.version}?`, change }, yes, terminal)
  }
  const version = await stored(store, tenant, { config, set, tag: tablesTag(active) })
  // A gateway may have begun to read them: after this time it has applied the change (coherence/lease.ts).
  await sleep(LEASE + MARGIN)
  const { hash, routes } = config
  if (json === true)
    return terminal.print(JSON.stringify({ version: version ?? active.version, hash, changes }))
  await terminal.print(
    `stored: version ${version ?? active.version}, hash ${hash}, ${plural(routes.length, 'route')}. Gateways decide by it that start with tables: store.`,
  )
}

/** @returns the new version; null: the active version has the same files */
async function stored(
  store: Store,
  tenant: string,
  { config, set, tag }: { readonly config: Config; readonly set: TableSet; readonly tag: string },
): Promise<number | null> {
  const space = config.tenants.get(tenant)?.adminSpace ?? ''
  const scope = { space, admin: true, all: true, permissions: ['*'] }
  const writer = { tenant, by: 'tables push', scope, now: Date.now(), ifMatch: [tag] }
  const digest = tablesDigest(set.files)
  const proposed = await store.proposeTables(writer, { files: set.files, digest, effect: 'at-start' })
  if (isRefusal(proposed)) throw new CommandFailed(proposed.detail)
  if (proposed.value.id === null) return null
  const { hash, routes } = config
  const compiled = { hash, entries: routes.length }
  const activated = await store.activateTables(writer, proposed.value.id, compiled, 'at-start')
  if (isRefusal(activated)) throw new CommandFailed(activated.detail)
  return activated.value.version
}
