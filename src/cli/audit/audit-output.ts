/** What `seatgate audit` prints as text. */

import type { AuditEntry, AuditFinding, AuditHead } from '../../../seats-admin/index.ts'
import { printable } from '../../telemetry/readable.ts'
import { type Column, shortTime, tableOf } from '../remote/list-output.ts'

const COLUMNS: readonly Column<AuditEntry>[] = [
  { name: 'seq', width: 7, of: ({ seq }) => `${seq}` },
  { name: 'at', width: 20, of: ({ at }) => shortTime(at) },
  { name: 'action', width: 14, of: ({ action }) => action },
  { name: 'actor', width: 16, of: ({ actor }) => actor.name ?? actor.id },
  { name: 'target', width: 15, of: ({ target }) => target.name ?? target.id },
]

/** @param room characters of a line */
export function auditTable(entries: readonly AuditEntry[], hasMore: boolean, room: number): string {
  if (entries.length === 0) return 'no entries'
  const { heading, line } = tableOf(COLUMNS, entries, room)
  const more = hasMore ? ['… and older ones: --limit, --until or --json'] : []
  return [heading, ...entries.map(line), ...more].join('\n')
}

interface Verified {
  readonly tenant: string
  readonly entries: number
  /** The number of the oldest entry kept. */
  readonly first: number
  readonly head: AuditHead | null
  readonly count: number
  readonly findings: readonly AuditFinding[]
}

export function verifiedText({ tenant, entries, first, head, count, findings }: Verified): string {
  if (count > 0) {
    const more = count - findings.length
    const lines = findings.map(({ message }) => `  ${printable(message)}`)
    const last = more > 0 ? [`  … and ${more} more`] : []
    return [`the audit of tenant ${tenant} is not intact:`, ...lines, ...last].join('\n')
  }
  if (head === null) return `the audit of tenant ${tenant} has no entries`
  const kept =
    entries === 0 ? `none of its entries is kept` : `entries ${first} to ${head.seq} are as they were written`
  return `the audit of tenant ${tenant} is intact: ${kept}\nnewest: ${head.seq}:${head.hash}`
}
