/** Warnings for hosts of route tables that overlap, perhaps unintentionally. */

import { wildcardOf } from '../model/host.ts'
import type { Warning } from './faults.ts'
import type { BuiltTable } from './table-entries.ts'
import type { TableHosts } from './table-head.ts'

/** Bounds the output: further warnings of this kind add nothing. */
const MAX_WARNINGS = 100

/**
 * A named host never falls back to a wildcard: entries of the wildcard's table do not serve it. A table that lists both, or
 * several tables that list the same hosts, say so themselves.
 */
export function hostWarnings(tables: readonly BuiltTable[]): Warning[] {
  const named = tables.flatMap(({ hosts }) => hosts ?? [])
  const byHost = new Map<string, TableHosts[]>()
  for (const table of named)
    for (const host of table.hosts) byHost.set(host, [...(byHost.get(host) ?? []), table])
  const warnings: Warning[] = []
  for (const [host, of] of byHost) {
    const wildcard = wildcardOf(host)
    if (wildcard === null || host.startsWith('*')) continue
    const other = (byHost.get(wildcard) ?? []).find((table) => !table.hosts.includes(host))
    const [first] = of
    if (other === undefined || first === undefined || warnings.length >= MAX_WARNINGS) continue
    warnings.push({
      code: 'shadowed_wildcard',
      place: first.place,
      message: messageOf(host, wildcard, other),
    })
  }
  return warnings
}

function messageOf(host: string, wildcard: string, { place }: TableHosts): string {
  return (
    `${host} matches ${wildcard} of ${place.file}:${place.line} too, but gets nothing from that table: a named host ` +
    `does not fall back to a wildcard. To serve it there as well, list ${host} beside ${wildcard}`
  )
}
