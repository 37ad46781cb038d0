/** `seatgate audit verify`, which reads the store. */

import { type AuditHead, AuditStates, AuditVerifier, type Store } from '../../../seats-admin/index.ts'
import type { ScimGroup } from '../../../seats-admin/model/scim.ts'
import { loadConfig } from '../../config/load.ts'
import { printable } from '../../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT, TENANTS, UsageError } from '../arguments.ts'
import { defineCommand, tenantIdsOf } from '../command.ts'
import { withStore } from '../existing-store.ts'
import {
  blocksOf,
  grantsOf,
  groupsOf,
  keysOf,
  memberCountOf,
  revocationsOf,
  scimUsersOf,
  seatsOf,
} from '../seat-source.ts'

const TAMPERED = 3
/** The number of entries that are read at once. */
const READ = 100

export const verifyAudit = defineCommand({
  name: 'audit verify',
  summary: 'Proves that the audit is as it was written.',
  details:
    'It finds entries that were changed, removed, inserted or moved, and a chain that was cut at either end. It also finds entries that do not begin where the previous entry on the same target ended, and Seats, API keys, blocks, grants, revocations, users and groups of SCIM, and route tables in the store that differ from their last entry; the members of a group are compared by their number.',
  options: {
    tenant: TENANTS,
    head: {
      value: 'SEQ:HASH',
      description:
        'an entry of the tenant that must exist, such as seatgate_audit_head in the log of a start',
    },
    'no-rows': {
      description: 'does not compare what the store has with the last entries',
    },
    config: CONFIG,
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'every entry is as it was written, none is missing, and the store matches the entries',
    1: 'the configuration has faults, the tenant is unknown, or the store cannot be read',
    3: 'an entry was changed or is missing, or the store does not match its entries',
  },
  example: 'seatgate audit verify',
  run: async ({ values }, terminal) => {
    const head = headOf(values.head)
    if (head !== null && values.tenant === undefined)
      throw new UsageError('--head is an entry of one tenant: it needs --tenant')
    const config = await loadConfig(values.config, terminal.env)
    const tenants = tenantIdsOf(config, values.tenant)
    return withStore(config, terminal, async (store) => {
      let areIntact = true
      for (const tenant of tenants) {
        const result = await verified(store, tenant, head, values['no-rows'] !== true)
        await terminal.print(values.json ? JSON.stringify(result) : textOf(result))
        areIntact &&= result.intact
      }
      return areIntact ? 0 : TAMPERED
    })
  },
})

async function verified(store: Store, tenant: string, expected: AuditHead | null, rows: boolean) {
  const verifier = new AuditVerifier(expected)
  const states = new AuditStates()
  for (;;) {
    const part = await store.audit.chain(tenant, verifier.after, READ)
    states.read(part.rows, part.start)
    if (!verifier.verify(part)) break
  }
  if (rows) await compareRows(store, tenant, states, verifier.after)
  const { entries, start: first, newest: head } = verifier
  const count = verifier.count + states.count
  const findings = [...verifier.findings, ...states.findings]
  return { tenant, intact: count === 0, entries, first, head, count, findings }
}

/**
 * Compares the rows with their last entries. A gateway may write at the same time: a row is not compared if
 * it has a newer entry than the chain had before.
 *
 * @param last the id of the newest entry that was read
 */
export async function compareRows(
  store: Store,
  tenant: string,
  states: AuditStates,
  last: string,
): Promise<void> {
  states.beginRows()
  for await (const seat of seatsOf(store, tenant)) states.seat(seat)
  for await (const key of keysOf(store, tenant)) states.apiKey(key)
  for await (const block of blocksOf(store, tenant)) states.block(block)
  for await (const grant of grantsOf(store, tenant)) states.grant(grant)
  for await (const revocation of revocationsOf(store, tenant)) states.revocation(revocation)
  await compareScim(store, tenant, states)
  await compareTables(store, tenant, states)
  for (let after = last; ;) {
    const { rows, start } = await store.audit.chain(tenant, after, READ)
    if (rows.length === 0) break
    states.read(rows, start)
    after = String(rows.at(-1)?.id)
  }
  states.end(Date.now())
}

async function compareScim(store: Store, tenant: string, states: AuditStates): Promise<void> {
  for await (const user of scimUsersOf(store, tenant)) states.scimUser(user)
  const give = async (group: ScimGroup) => states.scimGroup(group, await memberCountOf(store, group))
  for await (const group of groupsOf(store, tenant)) await give(group)
  for (const id of states.missing('scim-user')) {
    const user = await store.readScimUser(tenant, id)
    if (user !== null) states.scimUser(user)
  }
  for (const id of states.missing('scim-group')) {
    const group = await store.readScimGroup(tenant, id)
    if (group !== null) await give(group)
  }
}

async function compareTables(store: Store, tenant: string, states: AuditStates): Promise<void> {
  const [newest] = (await store.listTables(tenant, { limit: 1, after: null })).data
  const active = newest === undefined ? null : await store.tablesVersion(tenant, newest.version)
  if (active !== null) states.tables(active)
}

function headOf(text: string | undefined): AuditHead | null {
  if (text === undefined) return null
  const [, seq, hash = ''] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined) throw new UsageError('--head is not a number, a colon and 64 hexadecimal digits')
  return { seq: Number(seq), hash }
}

function textOf({
  tenant,
  intact,
  entries,
  first,
  head,
  count,
  findings,
}: Awaited<ReturnType<typeof verified>>): string {
  if (!intact) {
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
