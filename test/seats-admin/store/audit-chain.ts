/** The audit as a reader outside of Seatgate would verify it: with the JSON form of the entries alone. */

import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import type { AuditEntry } from '../../../seats-admin/model/audit.ts'
import { auditEntry } from '../../../seats-admin/store/audit-chain.ts'
import type { AuditPage } from '../../../seats-admin/store/audit-store.ts'
import { type AuditFinding, AuditVerifier } from '../../../seats-admin/store/audit-verifier.ts'
import { allSeats, PAGE } from './conformance.ts'

/** All entries, oldest first. */
export async function chainOf(store: Store, tenant = 'acme'): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (let after = ''; ;) {
    const { rows } = await store.audit.chain(tenant, after, 100)
    if (rows.length === 0) return entries
    entries.push(...rows.map(auditEntry))
    after = entries.at(-1)?.id ?? ''
  }
}

/** A page of all entries. */
export const ALL_ENTRIES: AuditPage = {
  ...PAGE,
  ...{ since: null, until: null, action: null, actor: null, target: null },
}

/** Checks that the chain is complete, as a reader outside of Seatgate and as `seatgate audit verify` do. Returns it. */
export async function soundChain(t: Test, store: Store, tenant = 'acme'): Promise<AuditEntry[]> {
  const entries = await chainOf(store, tenant)
  t.same(faultsOf(entries), [])
  t.same(await verified(store, { tenant }), [])
  return entries
}

/** RFC 8785 for what entries hold: names sorted at every level. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

/** What is wrong with a chain from its first entry on. */
export function faultsOf(entries: readonly AuditEntry[]): string[] {
  return entries.flatMap((entry, at) => {
    const { hash, ...rest } = entry
    const own = createHash('sha256').update(canonical(rest)).digest('hex')
    return [
      ...(entry.seq === at + 1 ? [] : [`${entry.id} has number ${entry.seq}`]),
      ...(entry.prev === (entries[at - 1]?.hash ?? null) ? [] : [`${entry.seq} is not linked`]),
      ...(own === hash ? [] : [`${entry.seq} has another hash`]),
    ]
  })
}

/** What `seatgate audit verify` finds. */
export async function verified(
  store: Store,
  { tenant = 'acme', expected = null as { seq: number; hash: string } | null, page = 100 } = {},
): Promise<AuditFinding[]> {
  const verifier = new AuditVerifier(expected)
  while (verifier.verify(await store.audit.chain(tenant, verifier.after, page))) continue
  return verifier.findings
}

/** Changes of Seats without an entry in the audit, entries without their change, and faults of the chain. */
export async function auditFaults(store: Store, acknowledged: readonly string[]): Promise<string[]> {
  const entries = await chainOf(store)
  const recorded = new Map<string, string>()
  const said = new Set<string>()
  for (const { target, before, after } of entries) {
    if (target.kind !== 'seat') continue
    const [old, now] = [before, after].map((state) => (state === null ? null : String(state['name'])))
    if (old == null) said.add(`made ${now}`)
    else if (now == null) said.add(`deleted ${old.replace('-renamed', '')}`)
    else said.add(`renamed ${old}`)
    if (now == null) recorded.delete(target.id)
    else recorded.set(target.id, now)
  }
  const there = new Map((await allSeats(store)).map(({ id, name }) => [id, name]))
  const ids = new Set([...recorded.keys(), ...there.keys()])
  return [
    ...faultsOf(entries),
    ...acknowledged.filter((line) => !said.has(line)).map((line) => `${line}: no entry`),
    ...[...ids]
      .filter((id) => recorded.get(id) !== there.get(id))
      .map((id) => `${id} is ${there.get(id)}, by the audit ${recorded.get(id)}`),
  ]
}
