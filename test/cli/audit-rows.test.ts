/** `seatgate audit verify`: rows that were changed by SQL, and entries that do not begin where the one before them ended. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { openStore, type Store } from '../../seats-admin/index.ts'
import {
  audited as written,
  auditedGrants,
  auditedScim,
} from '../seats-admin/store/audit-states-conformance.ts'
import { tablesDigest } from '../../seats-admin/model/tables-version.ts'
import { writer } from '../seats-admin/store/conformance.ts'
import { push } from '../seats-admin/store/tables-conformance.ts'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

async function audited<W>(t: Test, write: (store: Store) => Promise<W>) {
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  const path = join(cwd, 'seatgate.db')
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  const store = await openStore({ kind: 'sqlite', path, timeout: 60_000 })
  t.teardown(() => store.close())
  const ids = await write(store)
  return {
    ...ids,
    store,
    sql(text: string) {
      using database = new DatabaseSync(path, { timeout: 5000 })
      database.exec(text)
    },
    async verify(...args: string[]) {
      const { code, out } = await seatgateHere(cwd, ['audit', 'verify', '--json', ...args])
      const { findings } = JSON.parse(out)
      return {
        code,
        found: findings.map(({ fault, message }: Record<string, string>) => `${fault}: ${message}`),
      }
    },
  }
}

t.test('as it was written: nothing is found', async (t) => {
  const { verify } = await audited(t, written)
  t.same(await verify(), { code: 0, found: [] })
})

t.test('rows changed by SQL', async (t) => {
  const { sql, verify, desk, clerk, key } = await audited(t, written)
  sql(`UPDATE seats SET permissions = '["*"]' WHERE id = '${desk}'`)
  t.match(await verify(), { code: 3, found: [`row: Seat "Front desk" (${desk}) is not what entry 7 left`] })
  t.same(await verify('--no-rows'), { code: 0, found: [] })
  sql(`UPDATE seats SET permissions = '["a:b","a:c"]' WHERE id = '${desk}'`)
  t.same(await verify(), { code: 0, found: [] })

  sql(
    `INSERT INTO api_key_seats (tenant, api_key_id, position, seat_id) VALUES ('acme', '${key}', 9, '${clerk}')`,
  )
  t.match((await verify()).found, [`row: API key "ci" (${key}) has other Seats than its entries gave it`])
  sql(`DELETE FROM api_key_seats WHERE seat_id = '${clerk}'`)
  sql(`UPDATE api_keys SET revoked_at = 1 WHERE id = '${key}'`)
  t.match((await verify()).found, [/row: API key "ci" \(\w+\) is not what entry 5 left/])
  sql(`UPDATE api_keys SET revoked_at = NULL WHERE id = '${key}'`)

  sql(`DELETE FROM blocks WHERE sub = '"ann"'; DELETE FROM seats WHERE id = '${clerk}'`)
  t.match((await verify()).found, [/Seat "Clerk" \(\w+\) is gone/, /block of "ann" \(\w+\) is gone/])
  sql(
    `INSERT INTO seats (tenant, id, name, version, spaces, permissions, created_by, created_at)
     VALUES ('acme', '01KAJ0Z1V5Q8T2C0W7M3E9R4XD', 'Eve', 1, '["main"]', '["*"]', 'eve', ${Date.now()})`,
  )
  t.match((await verify()).found, [/Seat "Eve" \(\w+\) is there without an entry/, /Clerk/, /ann/])
})

t.test('revocations, cutoffs and owners changed by SQL', async (t) => {
  const { sql, verify, owned } = await audited(t, written)
  const user = `subject = '{"user":"ann"}'`
  const found = async () => (await verify()).found
  sql(`UPDATE api_keys SET owner = NULL WHERE id = '${owned}'`)
  t.match(await found(), [/row: API key "owned" \(\w+\) is not what entry 17 left/])
  sql(
    `UPDATE api_keys SET owner = '"ann"' WHERE id = '${owned}'; UPDATE cutoffs SET at = at - 1 WHERE ${user}`,
  )
  const cutoff = /row: revocation of "user:ann" \(\w+\) is there, and the cutoff that it left is not/
  t.match(await found(), [cutoff], 'a token that was void would be accepted')
  sql(`UPDATE cutoffs SET at = at + 1 WHERE ${user}`)
  t.same(await found(), [])
  sql(`UPDATE revocations SET record = replace(record, 'lost', 'moved')`)
  t.match(await found(), [/row: revocation of "user:ann" \(\w+\) is not what entry 18 left/])
  sql(
    `UPDATE revocations SET record = replace(record, 'moved', 'lost'); DELETE FROM cutoffs WHERE kind = 'tenant'`,
  )
  t.match(await found(), [/row: revocation of "tenant" \(\w+\) is there, and the cutoff that it left is not/])
  sql(`DELETE FROM revocations WHERE subject = '{"tenant":true}'`)
  t.match(await found(), [/revocation of "tenant" \(\w+\) is gone, and entry 22 left it/])
})

t.test('grants changed by SQL', async (t) => {
  const { sql, verify, kept, desk } = await audited(t, auditedGrants)
  const found = async () => (await verify()).found
  t.same(await found(), [])
  const isOther = /row: grant of "eve" \(\w+\) is not what entry 4 left/
  sql(`UPDATE grants SET until_at = until_at + 1 WHERE id = '${kept}'`)
  t.match(await found(), [isOther])
  sql(`UPDATE grants SET until_at = until_at - 1, sub = '"mallory"' WHERE id = '${kept}'`)
  t.match(await found(), [/row: grant of "mallory" \(\w+\) is not what entry 4 left/])
  sql(`UPDATE grants SET sub = '"eve"' WHERE id = '${kept}'`)
  t.same(await found(), [])
  sql(
    `INSERT INTO grants SELECT tenant, '01KAJ0Z1V5Q8T2C0W7M3E9R4XD', sub, sub_digest, user, seat_id, from_at, until_at,
       reason, created_by, created_at FROM grants WHERE id = '${kept}'`,
  )
  t.match(await found(), [/row: grant of "eve" \(01KAJ0Z1V5Q8T2C0W7M3E9R4XD\) is there without an entry/])
  sql(`DELETE FROM grants WHERE seat_id = '${desk}'`)
  t.match(await found(), [/row: grant of "eve" \(\w+\) is gone, and entry 4 left it/])
})

t.test('a change by SQL, and a later one by Seatgate that hides it', async (t) => {
  const { sql, verify, store, desk, clerk } = await audited(t, written)
  sql(`UPDATE seats SET permissions = '["*"]' WHERE id IN ('${desk}', '${clerk}')`)
  await store.updateSeat(writer(), desk, { permissions: ['a:b'] })
  await store.deleteSeat(writer(), clerk)
  const found = [
    `before: entry 23 does not begin where entry 7 left Seat "Front desk" (${desk})`,
    `before: entry 24 does not begin where entry 3 left Seat "Clerk" (${clerk})`,
  ]
  t.same(await verify(), { code: 3, found })
  t.same(await verify('--no-rows'), { code: 3, found }, 'entries are compared all the same')
})

t.test('users and groups of SCIM changed by SQL', async (t) => {
  const { sql, verify, ann, ben, eve, group } = await audited(t, auditedScim)
  t.same(await verify(), { code: 0, found: [] })
  sql(`UPDATE scim_users SET external_id = 'x-admin' WHERE id = '${ann}';
    UPDATE scim_users SET active = 1 WHERE id = '${ben}'; DELETE FROM scim_users WHERE id = '${eve}'`)
  sql(`INSERT INTO scim_members (tenant, group_id, user_id)
    SELECT 'acme', '${group}', id FROM scim_users WHERE user_name = 'dan'`)
  const { code, found } = await verify()
  t.equal(code, 3)
  const expected = [
    /row: SCIM user "ann" \(\w+\) is not what entry \d+ left\n/,
    /SCIM user "ben" \(\w+\) is not what/,
    /SCIM group "Front desk" \(\w+\) has 3 members, and entry \d+ left 2/,
    /SCIM group "Front desk" \(\w+\) counts 2 members, and has 3/,
    /SCIM user "eve" \(\w+\) is gone, and entry \d+ left it/,
  ]
  t.equal(found.length, expected.length)
  for (const text of expected) t.match(found.join('\n'), text)
  sql(`UPDATE scim_groups SET member_count = 3, display_name = 'Admin' WHERE id = '${group}'`)
  t.match((await verify()).found.join('\n'), /SCIM group "Admin" \(\w+\) is not what entry \d+ left/)
})

t.test('route tables in the store changed by SQL', async (t) => {
  const { sql, verify, store } = await audited(t, async (store) => {
    for (const text of ['one', 'two']) await push(store, { 'a.yaml': `# ${text}\n` })
  })
  t.same(await verify(), { code: 0, found: [] })
  const found = async () => (await verify()).found
  const changed = (from: string, to: string) =>
    sql(`UPDATE tables_versions SET files = replace(files, '${from}', '${to}') WHERE version = 2`)
  changed('two', 'all: public')
  t.same(await found(), ['row: set of route tables "version 2" (tables) has other files than its entry says'])
  changed('all: public', 'two')
  const { digest } = (await store.activeTables('acme')).value
  sql(`UPDATE tables_versions SET digest = '${tablesDigest({ 'a.yaml': '# one\n' })}' WHERE version = 2`)
  changed('two', 'one')
  t.match(await found(), [/row: set of route tables "version 2" \(tables\) is not what entry \d left/])
  sql(`UPDATE tables_versions SET digest = '${digest}' WHERE version = 2`)
  changed('one', 'two')
  t.same(await found(), [])
  sql('DELETE FROM tables_versions WHERE version = 2')
  t.match(await found(), [/"version 1" \(tables\) is not what entry \d left/], 'set back')
  sql('DELETE FROM tables_versions')
  t.match(await found(), [/"version 2" \(tables\) is gone, and entry \d left it/])
})

t.test('route tables of a store without an entry of them', async (t) => {
  const { sql, verify } = await audited(t, written)
  sql(`INSERT INTO tables_versions (tenant, version, digest, hash, entries, created_at, created_by, files)
    VALUES ('acme', 1, '${tablesDigest({})}', 'h', 0, ${Date.now()}, '{}', '{}')`)
  t.match((await verify()).found, [/"version 1" \(tables\) is there without an entry/])
})
