/** Reads the keys of a route table that concern all of its entries: hosts, prefix, space. */

import type { Place } from '../model/route.ts'
import type { SpaceSource } from '../model/space-source.ts'
import type { RouteEntry } from './config.ts'
import { tableHost } from './hosts.ts'
import { distinct } from './invalid-value.ts'
import type { Section } from './section.ts'
import { buildSpaceSource, checkLabel } from './space-settings.ts'
import { staticPath } from './static-path.ts'

export interface TableHead {
  /** Every entry has these. Without what the table does not say. */
  readonly shared: Pick<RouteEntry, 'hosts' | 'prefix' | 'stripPrefix'>
  /** For entries without a source of their own; undefined: the header `Space`. */
  readonly space: SpaceSource | undefined
}

/** The hosts of one table, for checks across tables. Empty: it names none. */
export interface TableHosts {
  readonly hosts: readonly string[]
  /** Of the key. */
  readonly place: Place
}

export function buildTableHead(root: Section): TableHead {
  const hosts = buildHosts(root)
  const prefix = root.text('prefix', staticPath)
  const stripPrefix = root.flag('strip_prefix')
  if (stripPrefix && !root.has('prefix'))
    root.fault('strip_prefix', 'strip_prefix: needs a prefix: add prefix, or remove strip_prefix')
  const shared = {
    ...(hosts.length === 0 ? {} : { hosts: Object.freeze(hosts) }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(prefix !== undefined && stripPrefix ? { stripPrefix } : {}),
  }
  const space = buildSpaceSource(root, null)
  checkLabel(root, space, hosts)
  return { shared, space }
}

function buildHosts(root: Section): string[] {
  if (root.has('host') && root.has('hosts'))
    root.faultAtKey('hosts', 'hosts: host and hosts exclude each other: keep one')
  const host = root.text('host', tableHost)
  return host === undefined ? root.texts('hosts', distinct(tableHost)) : [host]
}

/** Null: the table names no host. */
export function tableHosts(root: Section, { shared: { hosts } }: TableHead): TableHosts | null {
  if (hosts === undefined) return null
  return { hosts, place: root.source(root.has('host') ? 'host' : 'hosts').place }
}
