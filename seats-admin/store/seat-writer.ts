/**
 * Writes to Seats, each in its own transaction. Their statements do not find invisible Seats, so that they
 * differ from missing ones neither in the response nor in the work.
 */

import {
  type AdminRefusal,
  grantExceedsOwn,
  lastAdministrator,
  seatNameTaken,
  seatNotFound,
} from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { SeatInput, StoredSeat } from '../model/seat.ts'
import { seatEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import { seatById, seatIsVisible, spacesOf, visibilityOf } from './pages.ts'
import { administrating, type Dialect, integer, SEAT_COLUMNS, storedSeat, text } from './rows.ts'
import {
  changesOf,
  deletionChanges,
  endsAdministration,
  newSeat,
  refuseChange,
  refuseNewSeat,
  refuseUpdate,
  seatAfter,
} from './seat-rules.ts'
import { isStorable, nameNotStorable, storableOrEmpty } from './storable-text.ts'
import type { AdminStore, Writer, Written } from './store.ts'
import type { Transaction } from './transaction.ts'
import type { AdministrativeWrite } from './writer.ts'

export function seatWriter({ dialect, write }: Database) {
  const queries = { ...seatQueries(dialect), giveUp: giveUpNames(dialect) }
  return {
    async createSeat(author, input) {
      const refusal = refuseNewSeat(author, input) ?? (isStorable(input.name) ? null : nameNotStorable)
      if (refusal !== null) return refusal
      return write(author, (...of) => new SeatWrite(queries, ...of).create(input))
    },
    updateSeat: (author, id, patch) =>
      write(author, (...of) => new SeatWrite(queries, ...of).update(id, patch)),
    deleteSeat: (author, id) => write(author, (...of) => new SeatWrite(queries, ...of).delete(id)),
  } satisfies Partial<AdminStore>
}

type Queries = ReturnType<typeof seatQueries> & { readonly giveUp: string }

/** A write to one Seat, in its transaction. */
class SeatWrite {
  readonly #queries: Queries
  readonly #transaction: Transaction
  readonly #writer: Writer

  constructor(queries: Queries, transaction: Transaction, writer: Writer) {
    this.#queries = queries
    this.#transaction = transaction
    this.#writer = writer
  }

  async create(input: SeatInput): Promise<AdministrativeWrite<StoredSeat> | AdminRefusal> {
    const taken = await this.#refuseTaken(input.name)
    if (taken !== null) return taken
    const seat = newSeat(this.#writer, this.#transaction.idTime(), input)
    this.#transaction.record(seatEvent('seat.create', null, seat))
    const values = seatValues(this.#writer, seat)
    const parts = [this.#queries.insert]
    const committed = await this.#transaction.commitAdministrative(parts, changesOf(seat), values)
    return { ...committed, value: seat }
  }

  async update(
    id: string,
    patch: Partial<SeatInput>,
  ): Promise<AdministrativeWrite<StoredSeat> | AdminRefusal> {
    const before = await this.#find(id)
    if (before === null) return seatNotFound
    const after = seatAfter(this.#writer, before, patch)
    const givenUp = after.name === before.name ? null : before.name
    const refusal = await this.#refuseUpdate(before, after)
    if (refusal !== null) return refusal
    this.#transaction.record(seatEvent('seat.update', before, after))
    const { giveUp, update } = this.#queries
    const parts = givenUp === null ? [update] : [giveUp, update]
    const values = { ...seatValues(this.#writer, after), ...this.#givingUp(givenUp) }
    const changes = changesOf(after, givenUp)
    const committed = await this.#transaction.commitAdministrative(parts, changes, values, { seats: [id] })
    return { ...committed, value: after }
  }

  async delete(id: string): Promise<Written<null> | AdminRefusal> {
    const seat = await this.#find(id)
    if (seat === null) return seatNotFound
    const refusal = refuseChange(this.#writer, seat) ?? (await this.#refuseLast(seat, null))
    if (refusal !== null) return refusal
    const { tenant } = this.#writer
    const rows = await this.#transaction.all(this.#queries.keysOf, { tenant, id })
    const keys = rows.map((row) => text(row, 'api_key_id'))
    this.#transaction.record(seatEvent('seat.delete', seat, null))
    const parts = [this.#queries.giveUp, this.#queries.delete]
    const values = { tenant, id, ...this.#givingUp(seat.name) }
    return {
      ...(await this.#transaction.commit(parts, deletionChanges(seat, keys), values)),
      value: null,
    }
  }

  async #find(id: string): Promise<StoredSeat | null> {
    const { tenant, scope } = this.#writer
    const values = { tenant, id: storableOrEmpty(id), ...visibilityOf(scope) }
    const row = await this.#transaction.get(this.#queries.byId, values)
    return row === undefined ? null : storedSeat(row)
  }

  async #refuseUpdate(before: StoredSeat, after: StoredSeat): Promise<AdminRefusal | null> {
    const refusal = refuseUpdate(this.#writer, before, after)
    if (refusal !== null) return refusal
    if (!isStorable(after.name)) return nameNotStorable
    const taken = after.name === before.name ? null : await this.#refuseTaken(after.name)
    return taken ?? this.#refuseLast(before, after)
  }

  /**
   * @returns null if the name is free. A caller who may not see the Seat with the name gets the general
   *   refusal, which does not reveal that the Seat exists.
   */
  async #refuseTaken(name: string): Promise<AdminRefusal | null> {
    const { tenant, scope } = this.#writer
    const row = await this.#transaction.get(this.#queries.byName, { tenant, name, ...visibilityOf(scope) })
    if (row === undefined) return null
    return integer(row, 'seen') === 1 ? seatNameTaken : grantExceedsOwn
  }

  /** @returns null unless the write takes the administration from the last Seat that has it */
  async #refuseLast(before: StoredSeat, after: StoredSeat | null): Promise<AdminRefusal | null> {
    if (!endsAdministration(this.#writer, before, after)) return null
    const { tenant, scope } = this.#writer
    const values = otherAdministratorValues(tenant, before.id, scope)
    const other = await this.#transaction.get(this.#queries.administrator, values)
    return other === undefined ? lastAdministrator : null
  }

  #givingUp(name: string | null) {
    return givingUp(this.#transaction, this.#writer, [name])
  }
}

/**
 * The parameters of {@link giveUpNames}; a name of null is left out. The time is in whole seconds by the
 * writer's clock. A given-up name keeps this mark for good, so that a later Seat of the same name grants
 * nothing to tokens issued before. The wait for the lock is included, because the old Seat existed until
 * then. The stored mark is the later of this and the store's own time, so that neither clock alone can set it
 * too early.
 */
export function givingUp({ elapsed }: Transaction, { now }: Writer, names: readonly (string | null)[]) {
  return {
    given_up: JSON.stringify(names.map((name) => ({ name }))),
    given_up_at: Math.floor((now + elapsed) / 1000),
  }
}

export function seatQueries(dialect: Dialect) {
  const seen = seatIsVisible(dialect)
  return {
    byId: seatById(dialect),
    /** No row if the name is free. `seen`: 1 if the caller may see the Seat with the name. */
    byName: `SELECT CASE WHEN ${seen} THEN 1 ELSE 0 END AS seen FROM seats s WHERE s.tenant = :tenant AND s.name = :name`,
    administrator: administratorBeside(dialect),
    insert: `INSERT INTO seats (tenant, id, name, version, spaces, permissions, created_by, created_at)
      VALUES (:tenant, :id, :name, :version, :spaces, :permissions, :by, :now)`,
    update: `UPDATE seats SET name = :name, version = :version, spaces = :spaces, permissions = :permissions,
      updated_by = :by, updated_at = :now WHERE tenant = :tenant AND id = :id`,
    /** Members and assignments to API keys are deleted by cascade. */
    delete: 'DELETE FROM seats WHERE tenant = :tenant AND id = :id',
    keysOf:
      'SELECT api_key_id FROM api_key_seats WHERE tenant = :tenant AND seat_id = :id ORDER BY api_key_id',
  }
}

/** Marks the given-up names with the later of the writer's and the store's time, in whole seconds. */
export function giveUpNames(dialect: Dialect): string {
  const later = (a: string, b: string) => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`
  return `INSERT INTO names_given_up AS g (tenant, name, at)
    SELECT :tenant, n.name, ${later('CAST(:given_up_at AS bigint)', `${dialect.clock} / 1000`)}
    FROM ${dialect.records(':given_up', 'n', { name: 'text' })} WHERE n.name IS NOT NULL
    ON CONFLICT (tenant, name) DO UPDATE SET at = ${later('g.at', 'excluded.at')}`
}

/** Whatever the caller may see. */
export const seatByName = `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = :tenant AND s.name = :name`

/** The parameters of `insert` and `update`. */
export function seatValues({ tenant, by, now }: Writer, seat: StoredSeat) {
  return { tenant, ...seatRow(seat), by, now }
}

/** Lists as the text of their JSON. */
export function seatRow({ id, name, version, spaces, permissions }: StoredSeat) {
  return { id, name, version, spaces: JSON.stringify(spaces), permissions: JSON.stringify(permissions) }
}

/**
 * Finds another Seat that administrates the tenant. The index finds Seats with only the admin space; Seats
 * with further spaces are scanned only if there is none.
 */
function administratorBeside({ administrators, position, spacesColumn }: Dialect): string {
  const column = spacesColumn.replace(/^s\./, '')
  const others = `SELECT id FROM ${administrators}
    WHERE tenant = :tenant AND ${administrating({ position })} AND id <> :id`
  return `${others} AND ${column} = :alone
    UNION ALL ${others} AND ${position('spaces', ':listed')} > 0 LIMIT 1`
}

/** The parameters of `administrator`. */
export function otherAdministratorValues(tenant: string, id: string, scope: Scope) {
  return { tenant, id, alone: spacesOf(scope), listed: JSON.stringify(scope.space) }
}
