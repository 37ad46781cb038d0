/** `seatgate audit verify`, on the store. */

import { type AuditHead, AuditVerifier, type Store } from '../../../seats-admin/index.ts'
import { UsageError } from '../arguments.ts'
import { configOf, defineCommand, type Terminal } from '../command.ts'
import { openExistingStore } from '../existing-store.ts'
import { CONFIG, JSON_OUTPUT } from '../options.ts'
import { verifiedText } from './output.ts'
import { AUDITED, auditedTenants } from './tenants.ts'

const TAMPERED = 3
/** Entries of one reading. */
const READ = 100

export const verifyAudit = defineCommand(
  {
    name: 'audit verify',
    summary: 'Proves that the audit is as it was written.',
    details:
      'It finds entries that were changed, dropped, inserted or moved, and a chain that was cut at either end.',
    options: {
      tenant: AUDITED,
      head: {
        type: 'string',
        value: 'SEQ:HASH',
        description:
          'an entry of the tenant that must be there, such as seatgate_audit_head in the log of a start',
      },
      config: CONFIG,
      json: JSON_OUTPUT,
    },
    exits: {
      0: 'every entry is the one that was written, and none is missing',
      1: 'the configuration has faults, the tenant is unknown, or the store cannot be read',
      3: 'an entry was changed, or is missing',
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
        if (!(await isVerified(store, tenant, { head, json: values.json }, terminal))) areIntact = false
      return areIntact ? 0 : TAMPERED
    } finally {
      await store.close()
    }
  },
)

/** Prints the result: as text, or as JSON on one line. */
async function isVerified(
  { audit: entries }: Store,
  tenant: string,
  { head, json = false }: { head: AuditHead | null; json?: boolean | undefined },
  terminal: Terminal,
): Promise<boolean> {
  const verifier = new AuditVerifier(head)
  while (verifier.verify(await entries.chain(tenant, verifier.after, READ))) continue
  const { findings, count, newest, start: first } = verifier
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
