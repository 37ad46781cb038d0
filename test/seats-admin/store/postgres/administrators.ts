/** The last administrator Seat of a tenant, with several gateways on one database and with many Seats. */

import type { Test } from 'tap'
import { postgres } from '../../../../seats-admin/store/postgres/postgres-dialect.ts'
import { sql, valuesOf } from '../../../../seats-admin/store/postgres/sql.ts'
import { otherAdministratorValues, seatQueries } from '../../../../seats-admin/store/seat-writer.ts'
import type { PostgresServer } from '../../../support/servers/postgres.ts'
import { ADMIN, refused, seat, writer } from '../conformance.ts'
import { connected, emptyDatabase, open } from './support.ts'

/** Of concurrent removals of the last administrators by several stores, one is refused. */
export async function removeAtOnce(t: Test, server: PostgresServer, rounds: number): Promise<void> {
  const url = await emptyDatabase(server)
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(t, { url })))
  for (let round = 0; round < rounds; round++) {
    const tenant = `t${round}`
    const as = writer(ADMIN, Date.now(), tenant)
    const [first] = stores
    if (first === undefined) throw new Error('no store')
    const ids: string[] = []
    for (let at = 0; at < stores.length; at++) {
      const spaces = ['admin', `x${at}`].slice(0, 1 + (at % 2))
      ids.push((await seat(first, `s${at}`, spaces, ['*'], as)).id)
    }
    const results = await Promise.all(
      stores.map((store, at) =>
        at % 2 === 0
          ? store.deleteSeat(as, ids[at] ?? '')
          : store.updateSeat(as, ids[at] ?? '', { permissions: ['a:b'] }),
      ),
    )
    const outcomes = ['last_administrator', ...Array(stores.length - 1).fill('not refused')]
    t.same(results.map(refused).toSorted(), outcomes, `round ${round}`)
  }
}

export function administrators(t: Test, server: PostgresServer): void {
  t.test('the search uses the index of administrator Seats', async (t) => {
    const url = await emptyDatabase(server)
    const store = await open(t, { url })
    await seat(store, 'admin', ['admin'], ['*'])
    const client = await connected(t, url)
    await client.query(`INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at)
    SELECT 'acme', 'seat-' || n, 'seat ' || n, '["one"]', '["a:b","c:d"]', 'x', 0 FROM generate_series(1, 20000) n`)
    await client.query('ANALYZE seats')
    const question = sql(seatQueries(postgres).administrator)
    const values = valuesOf(question, otherAdministratorValues('acme', 'none', ADMIN))
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT TEXT) ${question.text}`, values)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    t.match(plan, /administrators/)
    t.notMatch(plan, /Seq Scan|Rows Removed by Filter: [0-9]{2}/)
  })
}
