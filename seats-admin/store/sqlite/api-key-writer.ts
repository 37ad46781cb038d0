/** Writes to API keys. Run in the writer's thread, each in its own transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { hashApiKey } from '../../model/api-key.ts'
import { apiKeyTag, matches } from '../../model/entity-tag.ts'
import { apiKeyNotFound, grantExceedsOwn, isRefusal, preconditionFailed } from '../../model/refusal.ts'
import { grantsAny, mayManageKey, type Scope } from '../../model/scope.ts'
import type { SeatLists } from '../../model/seat.ts'
import { apiKeyChange, newApiKey, revoked, seatIdsOf } from '../api-key-rules.ts'
import { apiKeyEvent } from '../audit-forms.ts'
import { seatIsVisible, visibilityOf } from '../pages.ts'
import { apiKey, text } from '../rows.ts'
import { apiKeyQuery } from '../seat-queries.ts'
import type { AdminStore, Writer } from '../store.ts'
import type { RunningCall, Synchronous } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'
import { keyAdministration } from './key-administration.ts'

const QUERIES = {
  seatByName: `SELECT s.id, s.name FROM seats s WHERE s.tenant = :tenant AND s.name = :name AND ${seatIsVisible(sqlite)}`,
  seatsOf: 'SELECT seat_id AS id FROM api_key_seats WHERE tenant = ? AND api_key_id = ?',
  // Either may take a megabyte: read only if it matters.
  granting: `SELECT CASE WHEN :admin THEN '[]' ELSE spaces END AS spaces,
      CASE WHEN :any THEN '[]' ELSE permissions END AS permissions
    FROM seats WHERE tenant = :tenant AND id = :id`,
  find: apiKeyQuery(sqlite),
  insert: `INSERT INTO api_keys (tenant, id, name, hash, created_by, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  addSeat: 'INSERT INTO api_key_seats (tenant, api_key_id, position, seat_id) VALUES (?, ?, ?, ?)',
  revoke:
    'UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?), version = version + 1 WHERE tenant = ? AND id = ?',
  use: `UPDATE api_keys AS k SET last_used_at = u.at FROM (
      SELECT value ->> 'tenant' AS tenant, value ->> 'id' AS id, max(value ->> 'at') AS at FROM json_each(?) GROUP BY 1, 2
    ) u WHERE k.tenant = u.tenant AND k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`,
}

export function apiKeyWrites(
  database: DatabaseSync,
  log: ChangeLog,
  running: RunningCall,
): Synchronous<Pick<AdminStore, 'createApiKey' | 'revokeApiKey' | 'recordKeyUse'>> {
  const statements = prepareAll(database, QUERIES)
  const administration = keyAdministration(database)
  return {
    createApiKey(writer, input) {
      const { tenant, by, scope, now } = writer
      const seatIds = seatIdsOf(input.seats, seatsByName(writer, input.seats))
      if (isRefusal(seatIds)) return seatIds
      if (!mayManageKey(scope, grants(tenant, seatIds, scope))) return grantExceedsOwn
      const made = newApiKey(writer, log.idTime(now), input)
      statements.insert.run(tenant, made.id, made.name, hashApiKey(made.key), by, now, made.expiresAt)
      for (const [position, seat] of seatIds.entries())
        statements.addSeat.run(tenant, made.id, position, seat)
      const event = apiKeyEvent('api_key.create', null, made)
      const committed = log.record(writer, [event], [apiKeyChange(tenant, made.id)])
      return { ...committed, ...administration(writer), value: made }
    },

    revokeApiKey(writer, id) {
      const { tenant, scope, now, ifMatch = null } = writer
      const row = statements.find.get({ tenant, id, ...visibilityOf(scope) })
      if (row === undefined) return apiKeyNotFound
      const seats = statements.seatsOf.all(tenant, id).map((row) => text(row, 'id'))
      if (!mayManageKey(scope, grants(tenant, seats, scope))) return grantExceedsOwn
      const before = apiKey(row)
      if (!matches(ifMatch, apiKeyTag(before))) return preconditionFailed
      statements.revoke.run(now, tenant, id)
      const event = apiKeyEvent('api_key.revoke', before, revoked(before, now))
      return { ...log.record(writer, [event], [apiKeyChange(tenant, id)]), value: null }
    },

    recordKeyUse(uses) {
      statements.use.run(JSON.stringify(uses))
    },
  }

  function seatsByName({ tenant, scope }: Writer, names: readonly string[]): ReadonlyMap<string, string> {
    const seen = visibilityOf(scope)
    const rows = names
      .map((name) => statements.seatByName.get({ tenant, name, ...seen }))
      .filter((row) => row !== undefined)
    return new Map(rows.map((row) => [text(row, 'name'), text(row, 'id')]))
  }

  /** What the Seats grant, as far as the scope requires. Reads one at a time and stops when the call expires. */
  function* grants(tenant: string, seatIds: readonly string[], scope: Scope): Generator<SeatLists> {
    const needed = { tenant, admin: Number(scope.admin), any: Number(grantsAny(scope)) }
    for (const id of seatIds) {
      running.throwIfExpired()
      const row = statements.granting.get({ ...needed, id })
      if (row === undefined) throw new Error('the Seat went away during a transaction')
      yield { spaces: JSON.parse(text(row, 'spaces')), permissions: JSON.parse(text(row, 'permissions')) }
    }
  }
}
