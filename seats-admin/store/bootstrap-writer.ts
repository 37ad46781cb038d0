/** The write of `seatgate bootstrap`, in its own transaction. */

import { hashApiKey } from '../model/api-key.ts'
import { isRefusal } from '../model/refusal.ts'
import { apiKeyChange, newApiKey } from './api-key-rules.ts'
import { bootstrapEvent } from './audit-forms.ts'
import { planBootstrap } from './bootstrap-rules.ts'
import type { Database } from './database.ts'
import { storedSeat } from './rows.ts'
import { apiKeyInsert, insertHeldSeats, seatByName, seatQueries, seatValues } from './seat-queries.ts'
import { changesOf } from './seat-rules.ts'
import { storableWriter } from './storable-text.ts'
import type { AdminStore } from './store.ts'

export function bootstrapWriter({ dialect, write }: Database): Pick<AdminStore, 'bootstrap'> {
  const queries = seatQueries(dialect)
  const insertKey = [apiKeyInsert, insertHeldSeats(dialect)]
  return {
    bootstrap(given, input) {
      const writer = storableWriter(given)
      const { tenant, by, now } = writer
      return write(writer, async (transaction) => {
        const row = await transaction.get(seatByName, { tenant, name: input.seat.name })
        const before = row === undefined ? null : storedSeat(row)
        const plan = planBootstrap(writer, input, before, () => transaction.idTime(now))
        if (isRefusal(plan)) return plan
        const { seat, write: how } = plan
        const { apiKey: name } = input
        if (how === 'none' && name === null) return { seat, before, apiKey: null, committed: null }
        // Before the API key, which refers to it.
        if (how !== 'none') await transaction.modify([queries[how]], seatValues(writer, seat))
        const changes = how === 'none' ? [] : changesOf(seat)
        const wanted = name === null ? null : { name, seats: [seat.name], expiresAt: null }
        const apiKey = wanted === null ? null : newApiKey(writer, transaction.idTime(now), wanted)
        transaction.record(bootstrapEvent(before, seat, apiKey), now)
        if (apiKey === null)
          return { seat, before, apiKey, committed: await transaction.commit([], changes, {}) }
        const { id, key, expiresAt: expires_at } = apiKey
        const held = JSON.stringify([{ id: seat.id, at: 0 }])
        const values = { tenant, id, name: apiKey.name, hash: hashApiKey(key), by, now, expires_at, held }
        changes.push(apiKeyChange(tenant, id))
        return { seat, before, apiKey, committed: await transaction.commit(insertKey, changes, values) }
      })
    },
  }
}
