/** The write of `seatgate bootstrap`. Runs in the writer's thread, in its own transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { hashApiKey } from '../../model/api-key.ts'
import { isRefusal } from '../../model/refusal.ts'
import { apiKeyChange, newApiKey } from '../api-key-rules.ts'
import { bootstrapEvent } from '../audit-forms.ts'
import { planBootstrap } from '../bootstrap-rules.ts'
import { storedSeat } from '../rows.ts'
import { apiKeyInsert, seatByName, seatQueries, seatValues } from '../seat-queries.ts'
import { changesOf } from '../seat-rules.ts'
import type { AdminStore } from '../store.ts'
import type { Synchronous } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'

const { insert, update } = seatQueries(sqlite)
const QUERIES = {
  insert,
  update,
  seat: seatByName,
  insertKey: apiKeyInsert,
  addSeat: `INSERT INTO api_key_seats (tenant, api_key_id, position, seat_id) VALUES (?, ?, 0, ?)`,
}

export function bootstrapWrites(
  database: DatabaseSync,
  log: ChangeLog,
): Synchronous<Pick<AdminStore, 'bootstrap'>> {
  const statements = prepareAll(database, QUERIES)
  return {
    bootstrap(writer, input) {
      const { tenant, now } = writer
      const row = statements.seat.get({ tenant, name: input.seat.name })
      const before = row === undefined ? null : storedSeat(row)
      const plan = planBootstrap(writer, input, before, () => log.idTime(now))
      if (isRefusal(plan)) return plan
      const { seat, write } = plan
      if (write !== 'none') statements[write].run(seatValues(writer, seat))
      const changes = write === 'none' ? [] : changesOf(seat)
      const { apiKey: name } = input
      const key = name === null ? null : keyOf(name)
      if (key !== null) changes.push(apiKeyChange(tenant, key.id))
      const event = bootstrapEvent(before, seat, key)
      const committed = changes.length === 0 ? null : log.record(writer, [event], changes)
      return { seat, before, apiKey: key, committed }

      function keyOf(keyName: string) {
        const given = { name: keyName, seats: [seat.name], expiresAt: null }
        const made = newApiKey(writer, log.idTime(now), given)
        const { id, key: text, expiresAt: expires_at } = made
        statements.insertKey.run({
          tenant,
          id,
          name: keyName,
          hash: hashApiKey(text),
          by: writer.by,
          now,
          expires_at,
        })
        statements.addSeat.run(tenant, id, seat.id)
        return made
      }
    },
  }
}
