/**
 * Writes of SCIM groups, each in one transaction. A group may have 100,000 members: ids are read and written
 * in pieces of 1,000, and what decisions keep is forgotten for each user who came or went, or for all of the
 * tenant if there are many.
 */

import type { Change } from '../model/change.ts'
import { matches, scimTag } from '../model/entity-tag.ts'
import {
  isScimRefusal,
  MAX_GROUP_MEMBERS,
  MAX_USER_GROUPS,
  type MembershipKey,
  type ScimGroup,
  type ScimGroupInput,
  type ScimGroupStep,
  type ScimRefusal,
} from '../model/scim.ts'
import { isUlid, ulid } from '../model/ulid.ts'
import { scimGroupEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import { MAX_NAMED, REVOCATION_PATIENCE } from './revocation-store.ts'
import { type Columns, type Dialect, integer, type Row, text, textOrNull } from './rows.ts'
import {
  membershipChange,
  membershipKey,
  SCIM_GROUP_COLUMNS,
  scimGroup,
  scimGroupRow,
} from './scim-queries.ts'
import {
  announcedIfMissing,
  refuseOlderInstance,
  refuseScimGroup,
  scimInvalid,
  scimNotFound,
  scimPreconditionFailed,
  scimTaken,
} from './scim-rules.ts'
import type { ScimStore, ScimWritten } from './scim-store.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { Transaction } from './transaction.ts'
import type { Writer } from './writer.ts'

/** Ids of one statement: a millisecond of work. */
const PIECE = 1000
/** A write of up to 100,000 members takes longer than other calls; see `REVOCATION_PATIENCE`. */
const PATIENCE = REVOCATION_PATIENCE

const MEMBER: Columns = { tenant: 'text', group_id: 'text', user_id: 'text' }

/**
 * A first write of many members finds no statistics of them in PostgreSQL, so that joins of it are never left
 * to estimates: each id is looked up by an index.
 */
export function scimGroupQueries({ among, lookup, records }: Dialect) {
  const wanted = records(':ids', 'w', { id: 'text' })
  const ofGroup = 'l.tenant = :tenant AND l.group_id = :group'
  return {
    find: `SELECT ${SCIM_GROUP_COLUMNS} FROM scim_groups g WHERE g.tenant = :tenant AND g.id = :id`,
    taken: 'SELECT id FROM scim_groups WHERE tenant = :tenant AND display_name = :display_name AND id <> :id',
    insert: `INSERT INTO scim_groups (tenant, id, display_name, external_id, member_count, active_count, version,
        created_at, modified_at)
      VALUES (:tenant, :id, :display_name, :external_id, :member_count, :active_count, :version,
        :created_at, :modified_at)`,
    update: `UPDATE scim_groups SET display_name = :display_name, external_id = :external_id,
        member_count = :member_count, active_count = :active_count, version = :version, modified_at = :modified_at
      WHERE tenant = :tenant AND id = :id`,
    delete: 'DELETE FROM scim_groups WHERE tenant = :tenant AND id = :group',
    removeAll: 'DELETE FROM scim_members WHERE tenant = :tenant AND group_id = :group',
    users: `SELECT l.id, l.external_id, l.user_name, l.active, (SELECT count(*) FROM scim_members m
        WHERE m.tenant = :tenant AND m.group_id = :group AND m.user_id = w.id) AS is_member
      FROM ${wanted} ${lookup('scim_users', 'l.tenant = :tenant AND l.id = w.id')}`,
    members: `SELECT u.id, u.external_id, u.user_name, u.active FROM scim_members m
      JOIN scim_users u ON u.tenant = m.tenant AND u.id = m.user_id
      WHERE m.tenant = :tenant AND m.group_id = :group AND m.user_id > :after ORDER BY m.user_id LIMIT :rows`,
    remove: `DELETE FROM scim_members AS l WHERE ${among('scim_members', ofGroup, 'user_id', ':ids')}`,
    crowded: `SELECT w.id FROM ${wanted} WHERE (SELECT count(*) FROM (SELECT 1 AS one FROM scim_members m
      WHERE m.tenant = :tenant AND m.user_id = w.id LIMIT ${MAX_USER_GROUPS + 1}) t) > ${MAX_USER_GROUPS} LIMIT 1`,
  }
}

type Queries = ReturnType<typeof scimGroupQueries>

export function scimGroupWriter({ dialect, write }: Database) {
  const queries = scimGroupQueries(dialect)
  return {
    async createScimGroup(author, input, members) {
      const refusal = refuseScimGroup(input)
      if (refusal !== null) return refusal
      return write(author, (...of) => create(queries, ...of, input, members), PATIENCE)
    },

    updateScimGroup: (author, id, steps) =>
      write(author, (...of) => update(dialect, queries, ...of, id, steps), PATIENCE),

    deleteScimGroup: (author, id) => write(author, (...of) => remove(dialect, queries, ...of, id), PATIENCE),
  } satisfies Partial<ScimStore>
}

async function create(
  queries: Queries,
  transaction: Transaction,
  writer: Writer,
  { displayName, externalId }: ScimGroupInput,
  members: readonly string[],
): Promise<ScimWritten<ScimGroup> | ScimRefusal> {
  const { tenant, now } = writer
  const id = ulid(transaction.idTime())
  const group = {
    ...{ id, tenant, displayName, externalId, memberCount: 0, activeCount: 0, version: 1 },
    ...{ createdAt: now, modifiedAt: now },
  }
  const taken = await refuseTaken(queries, transaction, group)
  if (taken !== null) return taken
  const moves = new MemberMoves(queries, transaction, group)
  const refusal = await moves.add(members)
  if (refusal !== null) return refusal
  const { memberCount, activeCount } = moves
  const made = { ...group, memberCount, activeCount }
  transaction.record(scimGroupEvent('scim_group.create', null, made, moves))
  const committed = await transaction.commit([queries.insert], moves.changes(), scimGroupRow(made))
  return { ...committed, value: made, revocations: [] }
}

async function update(
  dialect: Dialect,
  queries: Queries,
  transaction: Transaction,
  writer: Writer,
  wanted: string,
  steps: readonly ScimGroupStep[],
): Promise<ScimWritten<ScimGroup> | ScimRefusal> {
  const before = await find(queries, transaction, writer, wanted)
  if (isScimRefusal(before)) return before
  const moves = new MemberMoves(queries, transaction, before)
  const refusal = await applyMembers(moves, steps)
  if (refusal !== null) return refusal
  const set = Object.assign({}, ...steps.map((step) => ('set' in step ? step.set : {})))
  const { memberCount, activeCount } = moves
  const modifiedAt = Math.max(writer.now, before.modifiedAt)
  const after = { ...before, ...set, memberCount, activeCount, version: before.version + 1, modifiedAt }
  const isRenamed = after.displayName !== before.displayName
  if (!isRenamed && after.externalId === before.externalId && !moves.any)
    return { ...transaction.unchanged, value: before, revocations: [] }
  const refused =
    refuseScimGroup(after) ?? (isRenamed ? await refuseTaken(queries, transaction, after) : null)
  if (refused !== null) return refused
  if (isRenamed) await moves.concernAll()
  if (isRenamed || moves.removed.size > 0) {
    const older = await refuseOlderInstance(dialect, transaction)
    if (older !== null) return older
  }
  transaction.record(scimGroupEvent('scim_group.update', before, after, moves))
  const committed = await transaction.commit([queries.update], moves.changes(), scimGroupRow(after))
  return { ...committed, value: after, revocations: [] }
}

async function remove(
  dialect: Dialect,
  queries: Queries,
  transaction: Transaction,
  writer: Writer,
  wanted: string,
): Promise<ScimWritten<null> | ScimRefusal> {
  const group = await find(queries, transaction, writer, wanted)
  if (isScimRefusal(group)) return announcedIfMissing(group, transaction)
  const refusal = await refuseOlderInstance(dialect, transaction)
  if (refusal !== null) return refusal
  const moves = new MemberMoves(queries, transaction, group)
  await moves.concernAll()
  if (group.memberCount > PIECE) await transaction.bePatient()
  transaction.record(scimGroupEvent('scim_group.delete', group, null, moves))
  const parts = [queries.removeAll, queries.delete]
  const committed = await transaction.commit(parts, moves.changes(), {
    tenant: group.tenant,
    group: group.id,
  })
  return { ...committed, value: null, revocations: [] }
}

async function find(
  queries: Queries,
  transaction: Transaction,
  { tenant, ifMatch = null }: Writer,
  id: string,
): Promise<ScimGroup | ScimRefusal> {
  const row = await transaction.get(queries.find, { tenant, id: storableOrEmpty(id) })
  if (row === undefined) return scimNotFound
  const group = scimGroup(row)
  return matches(ifMatch, scimTag(group)) ? group : scimPreconditionFailed
}

async function refuseTaken(
  queries: Queries,
  transaction: Transaction,
  { tenant, id, displayName }: ScimGroup,
): Promise<ScimRefusal | null> {
  const row = await transaction.get(queries.taken, { tenant, id, display_name: displayName })
  return row === undefined ? null : scimTaken('displayName')
}

/**
 * Makes the steps that concern members. Those that add after `replace` belong to it: `shortSteps` divides it.
 */
async function applyMembers(
  moves: MemberMoves,
  steps: readonly ScimGroupStep[],
): Promise<ScimRefusal | null> {
  for (const [at, step] of steps.entries()) {
    if ('replace' in step) {
      const rest = steps.slice(at + 1)
      const end = rest.findIndex((each) => !('add' in each))
      const further = (end < 0 ? rest : rest.slice(0, end)).flatMap((each) =>
        'add' in each ? [each.add] : [],
      )
      await moves.keep([step.replace, ...further])
    }
    const refusal =
      'remove' in step
        ? await moves.remove(step.remove)
        : 'set' in step
          ? null
          : await moves.add(addedBy(step))
    if (refusal !== null) return refusal
  }
  return null
}

function addedBy(step: Extract<ScimGroupStep, { add: unknown } | { replace: unknown }>): readonly string[] {
  return 'add' in step ? step.add : step.replace
}

/** The users who come into a group and leave it in a transaction. */
class MemberMoves {
  readonly #queries: Queries
  readonly #transaction: Transaction
  readonly #group: ScimGroup
  /** The ids of users who are members after the write alone, and before it alone. */
  readonly added = new Set<string>()
  readonly removed = new Set<string>()
  /** What decisions forget, by the id of the user; null: all users of the tenant. */
  #keys: Map<string, MembershipKey> | null = new Map()
  memberCount: number
  activeCount: number
  #isPatient = false

  constructor(queries: Queries, transaction: Transaction, group: ScimGroup) {
    this.#queries = queries
    this.#transaction = transaction
    this.#group = group
    this.memberCount = group.memberCount
    this.activeCount = group.activeCount
  }

  get any(): boolean {
    return this.added.size + this.removed.size > 0
  }

  /** @returns a refusal of a member who is no user, and of one who would be too many */
  async add(ids: readonly string[]): Promise<ScimRefusal | null> {
    for (const piece of piecesOf(ids)) {
      const refusal = await this.#addPiece(piece)
      if (refusal !== null) return refusal
    }
    return null
  }

  async #addPiece(ids: readonly string[]): Promise<ScimRefusal | null> {
    const rows = await this.#usersOf(ids)
    if (rows.length < ids.length) return unknownMember(ids, rows)
    const fresh = rows.filter((row) => integer(row, 'is_member') === 0)
    if (fresh.length === 0) return null
    this.#count(fresh, 1)
    if (this.memberCount > MAX_GROUP_MEMBERS)
      return scimInvalid(`A group has at most ${MAX_GROUP_MEMBERS} members.`)
    const { tenant, id: group_id } = this.#group
    const records = fresh.map((row) => ({ tenant, group_id, user_id: text(row, 'id') }))
    await this.#transaction.modify([{ table: 'scim_members', columns: MEMBER, records }], {})
    const crowded = await this.#transaction.get(this.#queries.crowded, {
      tenant,
      ids: recordsOf(idsOf(fresh)),
    })
    if (crowded === undefined) return null
    return scimInvalid(`The user ${text(crowded, 'id')} is in ${MAX_USER_GROUPS} groups, which is the limit.`)
  }

  /** A user who is no member, or is deleted, is none afterwards either. */
  async remove(ids: readonly string[]): Promise<null> {
    for (const piece of piecesOf(ids))
      await this.#removeRows((await this.#usersOf(piece)).filter((row) => integer(row, 'is_member') === 1))
    return null
  }

  /** Removes all members but these. */
  async keep(lists: readonly (readonly string[])[]): Promise<void> {
    const kept = new Set(lists.flat())
    for await (const rows of this.#members())
      await this.#removeRows(rows.filter((row) => !kept.has(text(row, 'id'))))
  }

  /** The change concerns each member. */
  async concernAll(): Promise<void> {
    if (this.memberCount > MAX_NAMED) this.#keys = null
    else for await (const rows of this.#members()) this.#concern(rows)
  }

  changes(): Change[] {
    const { tenant } = this.#group
    if (this.#keys === null) return [membershipChange(tenant, null)]
    return this.#keys
      .values()
      .map((key) => membershipChange(tenant, key))
      .toArray()
  }

  async *#members(): AsyncGenerator<readonly Row[]> {
    const { tenant, id: group } = this.#group
    for (let after = ''; ;) {
      const values = { tenant, group, after, rows: PIECE }
      const rows = await this.#transaction.all(this.#queries.members, values)
      yield rows
      if (rows.length < PIECE) return
      after = text(rows.at(-1) ?? {}, 'id')
    }
  }

  async #usersOf(ids: readonly string[]): Promise<Row[]> {
    // Other texts are no ids, and a database may not take them.
    const known = recordsOf(ids.filter(isUlid))
    const { tenant, id: group } = this.#group
    if (ids.length === PIECE && !this.#isPatient) {
      this.#isPatient = true
      await this.#transaction.bePatient()
    }
    return this.#transaction.all(this.#queries.users, { tenant, group, ids: known })
  }

  async #removeRows(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return
    this.#count(rows, -1)
    const { tenant, id: group } = this.#group
    await this.#transaction.modify([this.#queries.remove], {
      tenant,
      group,
      ids: JSON.stringify(idsOf(rows)),
    })
  }

  #count(rows: readonly Row[], by: 1 | -1): void {
    const [here, there] = by === 1 ? [this.added, this.removed] : [this.removed, this.added]
    for (const row of rows) {
      const id = text(row, 'id')
      if (!there.delete(id)) here.add(id)
      this.memberCount += by
      this.activeCount += by * integer(row, 'active')
    }
    this.#concern(rows)
  }

  #concern(rows: readonly Row[]): void {
    for (const row of rows) {
      const user = { externalId: textOrNull(row, 'external_id'), userName: text(row, 'user_name') }
      this.#keys?.set(text(row, 'id'), membershipKey(user))
    }
    if (this.#keys !== null && this.#keys.size > MAX_NAMED) this.#keys = null
  }
}

/** Each id once. */
function* piecesOf(ids: readonly string[]): Generator<readonly string[]> {
  let piece = new Set<string>()
  for (const id of ids) {
    piece.add(id)
    if (piece.size < PIECE) continue
    yield [...piece]
    piece = new Set()
  }
  if (piece.size > 0) yield [...piece]
}

function idsOf(rows: readonly Row[]): string[] {
  return rows.map((row) => text(row, 'id'))
}

function recordsOf(ids: readonly string[]): string {
  return JSON.stringify(ids.map((id) => ({ id })))
}

/** Characters of an id that a refusal repeats. */
const SHOWN = 64

function unknownMember(ids: readonly string[], rows: readonly Row[]): ScimRefusal {
  const known = new Set(idsOf(rows))
  const unknown = ids.find((id) => !known.has(id)) ?? ''
  return scimInvalid(`The member ${JSON.stringify(unknown.slice(0, SHOWN))} is no user of this tenant.`)
}
