/** `seatgate audit verify`, on the store. */

import { type AuditHead, AuditStates, AuditVerifier, type Store } from '../../../seats-admin/index.ts'
import { UsageError } from '../arguments.ts'
import { configOf, defineCommand, type Terminal } from '../command.ts'
import { openExistingStore } from '../existing-store.ts'
import { CONFIG, JSON_OUTPUT } from '../shared-options.ts'
import { compareRows } from './compare-rows.ts'
import { verifiedText } from './audit-output.ts'
import { AUDITED, auditedTenants } from './audit-tenants.ts'

const TAMPERED = 3
/** Entries of one reading. */
const READ = 100

export const verifyAudit = defineCommand(
  {
    name: 'audit verify',
    summary: 'Proves that the audit is as it was written.',
    details:
      'It finds entries that were changed, removed, inserted or moved, and a chain that was cut at either end. It also finds entries that do not begin where the previous entry on the same target ended, and Seats, API keys and blocks that differ from their last entry.',
    options: {
      tenant: AUDITED,
      head: {
        value: 'SEQ:HASH',
        description:
          'an entry of the tenant that must exist, such as seatgate_audit_head in the log of a start',
      },
      'no-rows': { description: 'does not compare Seats, API keys and blocks with their last entries' },
      config: CONFIG,
      json: JSON_OUTPUT,
    },
    exits: {
      0: 'every entry is as it was written, none is missing, and the store matches the entries',
      1: 'the configuration has faults, the tenant is unknown, or the store cannot be read',
      3: 'an entry was changed or is missing, or the store does not match its entries',
    },
    example: 'seatgate audit verify',
  },
  async ({ values }, terminal) => {
    const head = headOf(values.head)
    if (head !== null && values.tenant === undefined)
      throw new UsageError('--head is an entry of one tenant: it needs --tenant')
    const config = await configOf(values, terminal)
    const tenants = auditedTenants(config, values.tenant)
    const store = await openExistingStore(config)
    try {
      let areIntact = true
      for (const tenant of tenants)
        if (
          !(await isVerified(
            store,
            tenant,
            { head, json: values.json, rows: values['no-rows'] !== true },
            terminal,
          ))
        )
          areIntact = false
      return areIntact ? 0 : TAMPERED
    } finally {
      await store.close()
    }
  },
)

/** Prints the result: as text, or as JSON on one line. */
async function isVerified(
  store: Store,
  tenant: string,
  { head, json = false, rows }: { head: AuditHead | null; json?: boolean | undefined; rows: boolean },
  terminal: Terminal,
): Promise<boolean> {
  const verifier = new AuditVerifier(head)
  const states = new AuditStates()
  for (;;) {
    const part = await store.audit.chain(tenant, verifier.after, READ)
    states.read(part.rows, part.start)
    if (!verifier.verify(part)) break
  }
  if (rows) await compareRows(store, tenant, states, verifier.after)
  const { newest, start: first } = verifier
  const count = verifier.count + states.count
  const findings = [...verifier.findings, ...states.findings]
  const result = {
    tenant,
    intact: count === 0,
    entries: verifier.entries,
    first,
    head: newest,
    count,
    findings,
  }
  await terminal.print(json ? JSON.stringify(result) : verifiedText(result))
  return count === 0
}

function headOf(text: string | undefined): AuditHead | null {
  if (text === undefined) return null
  const [, seq, hash = ''] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined) throw new UsageError('--head is not a number, a colon and 64 hexadecimal digits')
  return { seq: Number(seq), hash }
}
