/** Reads what a file of Seats would change. Runs in the lister's thread; the writer reads the same in its transaction. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type AdminRefusal, isRefusal } from '../../model/refusal.ts'
import type { Scope } from '../../model/scope.ts'
import type { WantedSeats } from '../../model/seat.ts'
import { visibilityOf } from '../pages.ts'
import { integer, type Row, text } from '../rows.ts'
import {
  dueChanges,
  faultsIn,
  MAX_CHANGES,
  MAX_READ,
  readsTooMuch,
  type SeatsReading,
  tooMany,
} from '../seats-file.ts'
import {
  holdingKeys,
  idsOf,
  namedValues,
  NO_KEYS,
  seatsFileQueries,
  seatsReading,
} from '../seats-file-queries.ts'
import type { AdminStore } from '../store.ts'
import type { Synchronous } from './calls.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'

export type SeatsFileStatements = Readonly<Record<keyof ReturnType<typeof seatsFileQueries>, StatementSync>>

export function prepareSeatsFile(database: DatabaseSync): SeatsFileStatements {
  return prepareAll(database, seatsFileQueries(sqlite))
}

export function seatsPlanner(
  database: DatabaseSync,
): Synchronous<Pick<AdminStore, 'planSeats'>>['planSeats'] {
  const statements = prepareSeatsFile(database)
  return ({ tenant, scope, now }, wanted) => {
    const reading = readSeats(statements, tenant, scope, wanted)
    if (isRefusal(reading)) return reading
    const due = dueChanges(wanted, reading)
    if (isRefusal(due)) return due
    const ids = idsOf(due.changes)
    const keys = holdingKeys(statements.keys.all({ tenant, now, ids, ...visibilityOf(scope) }))
    const values = namedValues(tenant, scope, wanted)
    return {
      unchanged: due.unchanged,
      changes: due.changes.map((change) => ({
        ...change,
        keys: keys.get(change.before?.id ?? '') ?? NO_KEYS,
      })),
      unnamed: wanted.prune
        ? { count: 0, names: [] }
        : {
            count: countOf(statements.othersSize.get(values)),
            names: statements.unnamed.all(values).map((row) => text(row, 'name')),
          },
    }
  }
}

export function seatHolders(
  database: DatabaseSync,
): Synchronous<Pick<AdminStore, 'seatHolders'>>['seatHolders'] {
  const statements = prepareSeatsFile(database)
  return ({ tenant, scope, now }, id) => {
    const values = { tenant, ids: JSON.stringify([id]), ...visibilityOf(scope) }
    const row = statements.users.get(values)
    if (row === undefined) return { users: 0, keys: NO_KEYS }
    const keys = holdingKeys(statements.keys.all({ ...values, now })).get(id) ?? NO_KEYS
    return { users: integer(row, 'member_count'), keys }
  }
}

export function readSeats(
  statements: SeatsFileStatements,
  tenant: string,
  scope: Scope,
  wanted: WantedSeats,
): SeatsReading | AdminRefusal {
  const faults = faultsIn(wanted)
  if (faults !== null) return faults
  const values = namedValues(tenant, scope, wanted)
  let size = sizeOf(statements.namedSize.get(values))
  if (wanted.prune) {
    const others = statements.othersSize.get(values)
    if (countOf(others) > MAX_CHANGES) return tooMany(countOf(others))
    size += sizeOf(others)
  }
  if (size > MAX_READ) return readsTooMuch
  const named = statements.named.all(values)
  const rows = wanted.prune ? [...named, ...statements.others.all(values)] : named
  return seatsReading(rows, statements.hidden.all(values))
}

function sizeOf(row: Row | undefined): number {
  return integer(row ?? {}, 'size')
}

function countOf(row: Row | undefined): number {
  return integer(row ?? {}, 'count')
}
