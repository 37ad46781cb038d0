/** Appends entries to the audit. Runs in the writer's thread, inside the transactions of the changes. */

import type { DatabaseSync } from 'node:sqlite'
import { AuditChain, type AuditEvent } from '../audit-rows.ts'
import { AUDIT_COLUMNS, auditHead, auditValues, headQuery } from '../audit-queries.ts'
import { text } from '../rows.ts'
import type { Writer } from '../store.ts'
import { prepareAll } from './connection.ts'

const QUERIES = {
  head: headQuery,
  setHead: `INSERT INTO audit_heads (tenant, seq, hash) VALUES (?, ?, ?)
    ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`,
  keyName: 'SELECT name FROM api_keys WHERE tenant = ? AND id = ?',
  add: `INSERT INTO audit (${AUDIT_COLUMNS}) VALUES (${AUDIT_COLUMNS.replaceAll(/\w+/g, '?')})`,
}

export class AuditLog {
  readonly #statements

  constructor(database: DatabaseSync) {
    this.#statements = prepareAll(database, QUERIES)
  }

  /** @param idTime gives the time part of the next id */
  append(writer: Writer, events: readonly AuditEvent[], idTime: () => number): void {
    const { tenant, by, actor } = writer
    const head = auditHead(this.#statements.head.get({ tenant }))
    const key = actor?.kind === 'api-key' ? this.#statements.keyName.get(tenant, by) : undefined
    const chain = new AuditChain(writer, head, key === undefined ? null : text(key, 'name'))
    for (const event of events) this.#statements.add.run(...auditValues(chain.append(idTime(), event)))
    if (chain.head !== null) this.#statements.setHead.run(tenant, chain.head.seq, chain.head.hash)
  }
}
