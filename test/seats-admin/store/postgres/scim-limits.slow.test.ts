/** Users and groups of SCIM at their limits, and by several writers, in PostgreSQL. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/until.ts'
import { inTurn } from '../in-turn.ts'
import { scimLimits, scimScale, scimWriters } from '../scim-limits.ts'
import { idAt, made, rowsOfScim, scim } from '../scim-records.ts'
import { databases } from './support.ts'

const settings = [`log_statement = 'all'`, `log_line_prefix = '%d '`]
const server = await startPostgres(t, { settings, fsync: false })
const open = inTurn(t, databases(server))
scimLimits(t, open)
scimScale(t, open)
scimWriters(t, inTurn(t, databases(server, 2)))

/** Ids of one statement, and the most statements for them: read, insert, look for the limit. */
const [PIECE, STATEMENTS] = [1000, 4]

t.test('the statements for 12,000 members are few, and each is small', async (t) => {
  const { store, run } = await open(t)
  await run(rowsOfScim(12_000, 0))
  const ids = Array.from({ length: 12_000 }, (_, at) => idAt(at))
  const from = server.log.length
  made(await store.createScimGroup(scim(), { displayName: 'A', externalId: null }, ids))
  await server.query(`SELECT 'the end'`)
  await until(() => server.log.slice(from).includes('the end'), 'the log of the statements')
  const lines = server.log.slice(from).split('\n')
  const count = lines.filter((line) => /LOG: {2}(?:statement|execute)/.test(line)).length
  t.ok(count <= 10 + (ids.length / PIECE) * STATEMENTS, `${count} statements`)
  const longest = Math.max(...lines.map(({ length }) => length))
  t.ok(longest < 300 * 1024, `${longest} characters`)
})
