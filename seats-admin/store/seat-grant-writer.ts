/** Writes of grants with an end, each in its own transaction. */

import type { Change } from '../model/change.ts'
import { type ListedGrant, MAX_GRANTS_OF_USER } from '../model/grant.ts'
import {
  type AdminRefusal,
  grantExceedsOwn,
  grantNotFound,
  inputInvalid,
  isRefusal,
} from '../model/refusal.ts'
import { ulid } from '../model/ulid.ts'
import { mayGrant, seatColumns, seatPermissions } from './api-key-writer.ts'
import { grantEvent } from './audit-forms.ts'
import { subDigest } from './block-queries.ts'
import type { Database } from './database.ts'
import { seatIsVisible, visibilityOf } from './pages.ts'
import { type Dialect, integer, type Row, text } from './rows.ts'
import { grantChange, grantQueries, grantRow, listedGrant } from './seat-grant-queries.ts'
import type { Statements } from './statements.ts'
import { isStorable, replaceUnstorable, storableOrEmpty } from './storable-text.ts'
import type { AdminStore, Writer } from './store.ts'
import type { Transaction } from './transaction.ts'

export function seatGrantWriter({ dialect, write }: Database) {
  const queries = { ...grantQueries(dialect), permissions: seatPermissions(dialect) }
  return {
    createGrant: (author, input) =>
      write(author, async (transaction, writer) => {
        const { tenant, scope, by, now } = writer
        const older = await olderInstance(dialect, transaction)
        if (older !== null) return older
        const seat = await seatNamed(dialect, transaction, writer, input.seat)
        if (isRefusal(seat)) return seat
        if (seat === null) return unknownSeat
        if (!(await mayGrant(queries.permissions, transaction, { tenant, scope }, [seat])))
          return grantExceedsOwn
        const ofUser = { tenant, sub_digest: subDigest(input.user) }
        const own = integer((await transaction.get(queries.ofUser, ofUser)) ?? {}, 'count')
        if (own >= MAX_GRANTS_OF_USER) return tooMany
        const grant: ListedGrant = {
          id: ulid(transaction.idTime()),
          tenant,
          user: input.user,
          seat: text(seat, 'id'),
          seatName: text(seat, 'name'),
          from: Math.max(input.from ?? now, now),
          until: input.until,
          reason: input.reason === null ? null : replaceUnstorable(input.reason),
          createdBy: by,
          createdAt: now,
        }
        transaction.record(grantEvent('grant.create', null, grant))
        const parts = [queries.expire, queries.listUser, queries.insert]
        const values = { ...grantRow(grant, dialect), now }
        return {
          ...(await transaction.commit(parts, [grantChange(tenant, grant.user)], values)),
          value: grant,
        }
      }),

    deleteGrant: (author, wanted) =>
      write(author, async (transaction, { tenant, scope }) => {
        const values = { tenant, id: storableOrEmpty(wanted) }
        const row = await transaction.get(queries.byId, { ...values, ...visibilityOf(scope) })
        if (row === undefined) return grantNotFound
        const grant = listedGrant(row)
        transaction.record(grantEvent('grant.delete', grant, null))
        const changes = [grantChange(tenant, grant.user)]
        return { ...(await transaction.commit([queries.remove], changes, values)), value: null }
      }),
  } satisfies Partial<AdminStore>
}

/**
 * Deletes all grants of a user as part of a write: those to come too, and those that have ended, which may be
 * in force by another clock.
 *
 * @returns the changes for the commit
 */
export async function endGrants(
  dialect: Dialect,
  transaction: Transaction,
  tenant: string,
  user: string,
): Promise<Change[]> {
  const queries = grantQueries(dialect)
  const values = { tenant, sub_digest: subDigest(user) }
  const rows = await transaction.all(queries.allOfUser, values)
  if (rows.length === 0) return []
  for (const grant of rows.map(listedGrant)) transaction.record(grantEvent('grant.delete', grant, null))
  await transaction.flush([queries.removeAllOfUser], values)
  return [grantChange(tenant, user)]
}

/** During an upgrade: an instance without grants would go on to refuse the user. */
async function olderInstance(
  { instanceWithout }: Dialect,
  transaction: Transaction,
): Promise<AdminRefusal | null> {
  const older =
    instanceWithout === null ? undefined : await transaction.get(instanceWithout, { understands: '"grant"' })
  if (older === undefined) return null
  return {
    refused: 'unavailable',
    detail: `The instance ${text(older, 'name')} has an older version, which knows no grants. Replace it, and repeat: nothing was changed.`,
  }
}

/**
 * The Seat that a caller names, by its name or its id; null if the caller sees none.
 *
 * @returns a refusal for a text that is the name of one Seat and the id of another
 */
export async function seatNamed(
  dialect: Dialect,
  statements: Pick<Statements, 'all'>,
  { tenant, scope }: Pick<Writer, 'tenant' | 'scope'>,
  nameOrId: string,
): Promise<Row | null | AdminRefusal> {
  if (!isStorable(nameOrId)) return null
  const named = `SELECT ${seatColumns(dialect)} FROM seats s
    WHERE s.tenant = :tenant AND (s.name = :seat OR s.id = :seat) AND ${seatIsVisible(dialect)}`
  const [seat = null, other] = await statements.all(named, {
    tenant,
    seat: nameOrId,
    ...visibilityOf(scope),
  })
  return other === undefined ? seat : ambiguousSeat
}

const unknownSeat = inputInvalid([{ path: '/seat', message: 'is not the name or the id of a Seat' }])
const ambiguousSeat = inputInvalid([
  { path: '/seat', message: 'is the name of one Seat and the id of another' },
])
const tooMany = inputInvalid([
  {
    path: '/user',
    message: `has ${MAX_GRANTS_OF_USER} grants that are in force, begin later or ended within the last day`,
  },
])
