/**
 * No statement parses a list that it was given once for each row of a table, which takes quadratic time. The statements are
 * those of all rules of the store, by the plans that SQLite makes of them.
 */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Store } from '../../../../seats-admin/index.ts'
import { monotonic } from '../../../../seats-admin/store/monotonic.ts'
import { connect } from '../../../../seats-admin/store/sqlite/sqlite-connection.ts'
import { methodsOn } from '../../../../seats-admin/store/sqlite/sqlite-database.ts'
import { administrationConformance } from '../administration-conformance.ts'
import { apiKeyConformance } from '../api-key-conformance.ts'
import { auditConformance } from '../audit-conformance.ts'
import { auditStatesConformance } from '../audit-states-conformance.ts'
import { blockConformance } from '../block-conformance.ts'
import { changeConformance } from '../change-conformance.ts'
import { grantConformance } from '../grant-conformance.ts'
import { receiptConformance } from '../receipt-conformance.ts'
import { revocationConformance } from '../revocation-conformance.ts'
import { rightConformance } from '../right-conformance.ts'
import { scimSeatsConformance } from '../scim-seats-conformance.ts'
import { seatConformance } from '../seat-conformance.ts'
import { seatsFileConformance } from '../seats-file-conformance.ts'
import { sessionAuditConformance } from '../session-audit-conformance.ts'
import { userConformance } from '../user-conformance.ts'
import { versionConformance } from '../version-conformance.ts'
import { open, temporaryFolder } from './support.ts'

const statements = new Set<string>()
const path = join(temporaryFolder(t), 'seatgate.db')
await (await open(t, { path })).close()
const database = connect(path, 'rw', 0)
t.teardown(() => database.close())
const prepare = database.prepare.bind(database)
database.prepare = (text) => {
  statements.add(text)
  return prepare(text)
}
const running = { elapsed: () => 0, deadline: () => monotonic() + 60_000, throwIfExpired() {} }
const methods = methodsOn(database, running, null)

const tables = prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'counter'`).all()
const emptying = `${tables.map(({ name }) => `DELETE FROM ${name}`).join(';')};
  UPDATE counter SET seq = 0, id_time = 0, mark = 0`

/** One at a time: a transaction of a connection excludes its others. */
let last = Promise.resolve<unknown>(null)
const inTurn = new Proxy(methods, { get: (group, name) => called(Reflect.get(group, name)) })

function called(member: unknown): unknown {
  if (typeof member === 'object' && member !== null)
    return new Proxy(member, { get: (group, name) => called(Reflect.get(group, name)) })
  if (typeof member !== 'function') return member
  return (...args: readonly unknown[]) => {
    const result = last.then(() => member(...args))
    last = result.catch(() => null)
    return result
  }
}

await t.test('the statements', async (t) => {
  const openStore = async (t: Test) => {
    t.teardown(() => database.exec(emptying))
    return inTurn as Store
  }
  for (const suite of [
    seatConformance,
    changeConformance,
    apiKeyConformance,
    rightConformance,
    grantConformance,
    blockConformance,
    revocationConformance,
    receiptConformance,
    versionConformance,
    seatsFileConformance,
    userConformance,
    auditConformance,
    auditStatesConformance,
    sessionAuditConformance,
    administrationConformance,
    scimSeatsConformance,
  ])
    suite(t, openStore)
})

await t.test('their plans', async (t) => {
  t.ok(statements.size > 60, `${statements.size} statements`)
  for (const text of statements) {
    const steps = prepare(`EXPLAIN QUERY PLAN ${text}`).all()
    const loops = steps.filter(({ detail }) => /^(?:SCAN|SEARCH) /.test(String(detail)))
    const inner = loops.filter(({ parent }, at) => at !== loops.findIndex((other) => other.parent === parent))
    t.same(
      inner.filter(({ detail }) => /json_each/.test(String(detail))),
      [],
      text.replaceAll(/\s+/g, ' '),
    )
  }
})
