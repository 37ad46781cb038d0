/** What `seatgate audit` prints as text. */

import type { AuditEntry, AuditFinding, AuditHead } from '../../../seats-admin/index.ts'
import { printable } from '../../telemetry/readable.ts'

/** Columns of a terminal of 80 characters, with two blanks between them. */
const WIDTHS = [7, 20, 14, 16, 15] as const
const NAMES = ['seq', 'at', 'action', 'actor', 'target']

export function auditTable(entries: readonly AuditEntry[], hasMore: boolean): string {
  if (entries.length === 0) return 'no entries'
  const rows = entries.map(({ seq, at, action, actor, target }) => [
    `${seq}`,
    at.replace(/\.\d+Z$/, 'Z'),
    action,
    actor.name ?? actor.id,
    target.name ?? target.id,
  ])
  const more = hasMore ? ['… and older ones: --limit, --until or --json'] : []
  return [...[NAMES, ...rows].map(lineOf), ...more].join('\n')
}

function lineOf(cells: readonly string[]): string {
  return cells
    .map((cell, at) => fitted(printable(cell), WIDTHS[at] ?? 0))
    .join('  ')
    .trimEnd()
}

function fitted(text: string, width: number): string {
  const characters = [...text]
  return characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : text.padEnd(width)
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
