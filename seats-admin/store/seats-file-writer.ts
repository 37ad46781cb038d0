/** Makes changes to many Seats, in one transaction of few statements. */

import type { Change } from '../model/change.ts'
import { isRefusal, lastAdministrator } from '../model/refusal.ts'
import { mapInShares, type TimeShare, UrgentShare } from '../model/time-share.ts'
import { seatEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import { type Columns, type Dialect, text } from './rows.ts'
import { changesOf, deletionChanges } from './seat-rules.ts'
import { giveUpNames, givingUp, otherAdministratorValues, seatQueries, seatRow } from './seat-writer.ts'
import { readSeats } from './seats-file-reader.ts'
import {
  appliedSeats,
  dueChanges,
  idsBefore,
  mayEndAdministration,
  nameGivenUp,
  PATIENCE,
  type SeatWrite,
  seatWritesDue,
} from './seats-file-rules.ts'
import type { Values } from './statements.ts'
import type { AdminStore, Writer } from './store.ts'
import type { Transaction } from './transaction.ts'

const COLUMNS: Columns = { id: 'text', name: 'text', version: 'bigint', spaces: 'text', permissions: 'text' }

/** No name that one part gives up is taken by another: a part may see the state before the others. */
function writeParts(dialect: Dialect): string[] {
  const { texts, records } = dialect
  return [
    giveUpNames(dialect),
    `DELETE FROM seats WHERE tenant = :tenant AND id IN (${texts(':deleted')})`,
    `UPDATE seats AS s SET name = u.name, version = u.version, spaces = u.spaces, permissions = u.permissions,
       updated_by = CAST(:by AS text), updated_at = CAST(:now AS bigint)
     FROM ${records(':updated', 'u', COLUMNS)} WHERE s.tenant = :tenant AND s.id = u.id`,
    `INSERT INTO seats (tenant, id, name, version, spaces, permissions, created_by, created_at)
     SELECT :tenant, m.id, m.name, m.version, m.spaces, m.permissions, CAST(:by AS text), CAST(:now AS bigint)
     FROM ${records(':made', 'm', COLUMNS)}`,
  ]
}

export function seatsFileWriter({ dialect, write }: Database) {
  const { administrator } = seatQueries(dialect)
  const parts = writeParts(dialect)
  const keysOf = keysOfSeats(dialect)
  return {
    applySeats(author, wanted, versions) {
      const { tenant, scope } = author
      const apply = async (transaction: Transaction, writer: Writer) => {
        await transaction.bePatient()
        // All other writes wait for this one.
        const share = new UrgentShare()
        const reading = await readSeats(transaction, dialect, author, wanted, share)
        if (isRefusal(reading)) return reading
        const due = await dueChanges(wanted, reading, share)
        if (isRefusal(due)) return due
        const writes = await seatWritesDue(writer, due, versions, () => transaction.idTime(), share)
        if (isRefusal(writes)) return writes
        if (writes.length === 0) return appliedSeats(writes, due, transaction.unchanged)
        const changes = await changesAfter(transaction, keysOf, tenant, writes)
        await mapInShares(
          writes,
          ({ action, before, after }) => transaction.record(seatEvent(`seat.${action}`, before, after)),
          share,
        )
        const values = await valuesOf(transaction, writer, writes, share)
        const seats = idsBefore(writes)
        const committed = await transaction.commitAdministrative(parts, changes, values, { seats })
        if (mayEndAdministration(writer, writes)) {
          const others = otherAdministratorValues(tenant, '', scope)
          if ((await transaction.get(administrator, others)) === undefined) return lastAdministrator
        }
        return appliedSeats(writes, due, committed)
      }
      return write(author, apply, PATIENCE)
    },
  } satisfies Partial<AdminStore>
}

function keysOfSeats({ texts }: Dialect): string {
  return `SELECT seat_id, api_key_id FROM api_key_seats
    WHERE tenant = :tenant AND seat_id IN (${texts(':ids')}) ORDER BY seat_id, api_key_id`
}

/** Read before the deletions, which take the Seats from the keys. */
async function changesAfter(
  transaction: Transaction,
  keysOf: string,
  tenant: string,
  writes: readonly SeatWrite[],
): Promise<Change[]> {
  const ids = idsBefore(writes.filter(({ after }) => after === null))
  const rows = ids.length === 0 ? [] : await transaction.all(keysOf, { tenant, ids: JSON.stringify(ids) })
  const keys = Map.groupBy(rows, (row) => text(row, 'seat_id'))
  return writes.flatMap((each) => {
    const { before, after } = each
    if (after !== null) return changesOf(after, nameGivenUp(each))
    if (before === null) return []
    const held = keys.get(before.id) ?? []
    return deletionChanges(
      before,
      held.map((row) => text(row, 'api_key_id')),
    )
  })
}

async function valuesOf(
  transaction: Transaction,
  writer: Writer,
  writes: readonly SeatWrite[],
  share: TimeShare,
): Promise<Values> {
  const seats = async (action: SeatWrite['action']) => {
    const due = writes.filter((write) => write.action === action)
    const rows = await mapInShares(
      due,
      ({ after }) => (after === null ? '' : JSON.stringify(seatRow(after))),
      share,
    )
    return `[${rows.join()}]`
  }
  return {
    tenant: writer.tenant,
    by: writer.by,
    now: writer.now,
    made: await seats('create'),
    updated: await seats('update'),
    deleted: JSON.stringify(idsBefore(writes.filter(({ after }) => after === null))),
    ...givingUp(transaction, writer, writes.map(nameGivenUp)),
  }
}
