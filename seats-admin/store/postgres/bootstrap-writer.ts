/** The write of `seatgate bootstrap`, in its own transaction. */

import { hashApiKey } from '../../model/api-key.ts'
import { isRefusal } from '../../model/refusal.ts'
import { apiKeyChange, newApiKey } from '../api-key-rules.ts'
import { bootstrapEvent } from '../audit-forms.ts'
import { planBootstrap } from '../bootstrap-rules.ts'
import { storedSeat } from '../rows.ts'
import { apiKeyInsert, seatByName, seatQueries, seatValues } from '../seat-queries.ts'
import { changesOf } from '../seat-rules.ts'
import type { AdminStore } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { postgres } from './dialect.ts'
import { sql } from './sql.ts'
import { recorded } from './transaction.ts'

const queries = seatQueries(postgres)
const SEAT = sql(seatByName)
const WRITES = { insert: sql(queries.insert), update: sql(queries.update) }
const NOTHING_MORE = recorded('')
const INSERT_KEY = recorded(
  `made AS (${apiKeyInsert}),
   held AS (INSERT INTO api_key_seats (tenant, api_key_id, position, seat_id) VALUES (:tenant, :id, 1, :seat)),`,
)

export function bootstrapOf(pools: ConnectionPools): Pick<AdminStore, 'bootstrap'> {
  return {
    bootstrap(writer, input) {
      const { tenant, by, now } = writer
      return pools.write(async (transaction) => {
        const [row] = await transaction.query(SEAT, { tenant, name: input.seat.name })
        const before = row === undefined ? null : storedSeat(row)
        const plan = planBootstrap(writer, input, before, () => transaction.idTime(now))
        if (isRefusal(plan)) return plan
        const { seat, write } = plan
        const { apiKey: name } = input
        if (write === 'none' && name === null) return { seat, before, apiKey: null, committed: null }
        if (write !== 'none') await transaction.query(WRITES[write], seatValues(writer, seat))
        const changes = write === 'none' ? [] : changesOf(seat)
        const given = name === null ? null : { name, seats: [seat.name], expiresAt: null }
        const apiKey = given === null ? null : newApiKey(writer, transaction.idTime(now), given)
        transaction.record(bootstrapEvent(before, seat, apiKey), now)
        if (apiKey === null) {
          const committed = await transaction.write(NOTHING_MORE, changes, { tenant })
          return { seat, before, apiKey, committed }
        }
        const { id, key, expiresAt: expires_at } = apiKey
        const values = { tenant, id, name, hash: hashApiKey(key), by, now, expires_at, seat: seat.id }
        changes.push(apiKeyChange(tenant, id))
        return { seat, before, apiKey, committed: await transaction.write(INSERT_KEY, changes, values) }
      }, writer)
    },
  }
}
