/**
 * Writes of SCIM users, each in one transaction with what it takes and gives: revocations, blocks of origin
 * `scim`, memberships, and the row by which administration knows the user.
 */

import type { Change, Committed } from '../model/change.ts'
import { matches, scimTag } from '../model/entity-tag.ts'
import { isRefusal } from '../model/refusal.ts'
import type { Revocation, RevocationScope } from '../model/revocation.ts'
import {
  isScimRefusal,
  type ScimMode,
  type ScimRefusal,
  type ScimUser,
  type ScimUserInput,
} from '../model/scim.ts'
import { ulid } from '../model/ulid.ts'
import { isStorableSub } from '../model/user.ts'
import { blockEvent, scimUserDeletion, scimUserEvent } from './audit-forms.ts'
import { blockChange, blockQueries, storedBlock, subDigest } from './block-queries.ts'
import { blocking, REMOVE_BLOCK } from './block-writer.ts'
import type { Database } from './database.ts'
import { subjectDigest } from './restriction-queries.ts'
import { concernOf } from './revocation-queries.ts'
import { REVOCATION_PATIENCE } from './revocation-store.ts'
import { ANY_TIME, Revoking } from './revocation-writer.ts'
import { type Dialect, integer, text, textOrNull } from './rows.ts'
import { scimUserQueries } from './scim-user-queries.ts'
import {
  foldedCase,
  memberKeyOf,
  membershipChange,
  membershipKey,
  scimUser,
  scimUserRow,
} from './scim-queries.ts'
import {
  announcedIfMissing,
  refuseOlderInstance,
  refuseScimUser,
  scimChanged,
  scimNotFound,
  scimPreconditionFailed,
  scimRefusal,
  scimTaken,
  scimUnavailable,
} from './scim-rules.ts'
import type { ScimStore, ScimWritten } from './scim-store.ts'
import { logoutQueries, userDigest } from './session-queries.ts'
import { endGrants } from './seat-grant-writer.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { Transaction } from './transaction.ts'
import type { Writer } from './writer.ts'

const ORIGIN = 'scim'
const DEACTIVATED = 'deactivated by SCIM'
const GONE = 'deleted by SCIM'

export function scimUserWriter({ dialect, unnumbered, write }: Database) {
  const queries = scimUserQueries(dialect)
  const { blockByUser } = blockQueries(dialect)
  const writing = (mode: ScimMode, transaction: Transaction, writer: Writer) =>
    new ScimUserWrite(dialect, queries, mode, transaction, writer)
  return {
    async createScimUser(author, mode, input) {
      const refusal = refuseScimUser(input)
      if (refusal !== null) return refusal
      return write(author, (...of) => writing(mode, ...of).create(input), REVOCATION_PATIENCE)
    },

    async updateScimUser(author, mode, id, version, input) {
      const refusal = refuseScimUser(input)
      if (refusal !== null) return refusal
      return write(author, (...of) => writing(mode, ...of).update(id, version, input), REVOCATION_PATIENCE)
    },

    deleteScimUser: (author, mode, id) =>
      write(author, (...of) => writing(mode, ...of).delete(id), REVOCATION_PATIENCE),

    async recordScimMember(author, sub, member) {
      if (!isStorableSub(sub) || !isStorableSub(member)) return null
      const values = { tenant: author.tenant, sub, member }
      if ((await unnumbered.get(queries.isRecorded, values)) !== undefined) return null
      // It excludes a deactivation, which finds the key or has come before.
      return write(author, async (transaction, writer) => {
        await transaction.modify([queries.record], values)
        const row = await transaction.get(queries.isActive, values)
        if (row === undefined || integer(row, 'active') === 1) return null
        // Further attempts of the user add no entries.
        const existing = { tenant: author.tenant, sub_digest: subDigest(sub), origin: ORIGIN }
        if ((await transaction.get(blockByUser, existing)) !== undefined) return transaction.unchanged
        const block = { user: sub, until: null, reason: DEACTIVATED, origin: ORIGIN } as const
        const effect = await blocking(dialect)(transaction, writer, block)
        return isRefusal(effect) ? scimRefusal(effect) : transaction.commitEffect(effect)
      })
    },
  } satisfies Partial<ScimStore>
}

/** What a write takes from a caller. */
interface Ended {
  readonly sub: string
  readonly what: RevocationScope
}

/** Callers that a user was, and whose revocations are not closed: each further change makes all of them again. */
const MAX_FORMER = 20
const tooManyFormer = scimUnavailable(
  `An instance of the gateway has not confirmed the end of ${MAX_FORMER} former callers of this user.`,
)

/** What an earlier write ended, and no instance may go on with before this write is answered. */
interface Unconfirmed {
  readonly isRepeated: boolean
  /** Each `sub` that the user was. */
  readonly unclosed: readonly string[]
}

const CONFIRMED: Unconfirmed = { isRepeated: false, unclosed: [] }

/** A write of one user, in its transaction. */
class ScimUserWrite {
  readonly #dialect: Dialect
  readonly #queries: ReturnType<typeof scimUserQueries>
  readonly #mode: ScimMode
  readonly #transaction: Transaction
  readonly #writer: Writer
  readonly #changes: Change[] = []
  readonly #revocations: Revocation[] = []
  /** Why the user is not active. */
  #reason = DEACTIVATED
  /** Each `sub` that the user was, whose revocation may not be closed. */
  #former: readonly string[] = []

  constructor(
    dialect: Dialect,
    queries: ReturnType<typeof scimUserQueries>,
    mode: ScimMode,
    transaction: Transaction,
    writer: Writer,
  ) {
    this.#dialect = dialect
    this.#queries = queries
    this.#mode = mode
    this.#transaction = transaction
    this.#writer = writer
  }

  async create(input: ScimUserInput): Promise<ScimWritten<ScimUser> | ScimRefusal> {
    const { tenant, now } = this.#writer
    const id = ulid(this.#transaction.idTime())
    const user = { ...input, id, tenant, version: 1, createdAt: now, modifiedAt: now }
    const taken = await this.#refuseTaken(user)
    if (taken !== null) return taken
    this.#transaction.record(scimUserEvent('scim_user.create', null, user))
    await this.#transaction.flush([this.#queries.insert], scimUserRow(user))
    return this.#complete(null, user, user)
  }

  async update(
    wanted: string,
    version: number,
    input: ScimUserInput,
  ): Promise<ScimWritten<ScimUser> | ScimRefusal> {
    const before = await this.#find(wanted)
    if (isScimRefusal(before)) return before
    if (before.version !== version) return scimChanged
    const after = {
      ...before,
      ...input,
      version: before.version + 1,
      modifiedAt: Math.max(this.#writer.now, before.modifiedAt),
    }
    const isSame = isSameInput(before, after)
    const isRepeated = !before.active && !after.active && !(await this.#isClosed(after))
    const unclosed = await this.#unclosed()
    if (isSame && !isRepeated && unclosed.length === 0)
      return { ...this.#transaction.unchanged, value: before, revocations: [] }
    const hasOtherNames = after.userName !== before.userName || after.externalId !== before.externalId
    const taken = hasOtherNames ? await this.#refuseTaken(after) : null
    if (taken !== null) return taken
    // What is repeated, as it was not confirmed, is a revocation and no change of the user.
    if (isSame) return this.#complete(before, before, before, { isRepeated, unclosed })
    this.#transaction.record(scimUserEvent('scim_user.update', before, after))
    const { tenant, id } = after
    const delta = Number(after.active) - Number(before.active)
    const parts = [this.#queries.update, ...(delta === 0 ? [] : [this.#queries.countActive])]
    await this.#transaction.flush(parts, { ...scimUserRow(after), tenant, id, delta })
    return this.#complete(before, after, after, { isRepeated, unclosed })
  }

  async delete(wanted: string): Promise<ScimWritten<ScimUser | null> | ScimRefusal> {
    const user = await this.#find(wanted)
    if (isScimRefusal(user)) return announcedIfMissing(user, this.#transaction)
    if (user.active || !(await this.#isClosed(user)) || (await this.#unclosed()).length > 0) {
      this.#reason = GONE
      return this.update(wanted, user.version, { ...user, active: false })
    }
    const { groups, leave, removeMemberships, delete: remove } = this.#queries
    const left = await this.#transaction.all(groups, { tenant: user.tenant, id: user.id })
    this.#transaction.record(
      scimUserDeletion(
        user,
        left.map((row) => text(row, 'group_id')),
      ),
    )
    const values = {
      tenant: user.tenant,
      id: user.id,
      active: Number(user.active),
      modified_at: this.#writer.now,
    }
    await this.#transaction.flush([leave, removeMemberships, remove], values)
    return this.#complete(user, null, null)
  }

  async #find(wanted: string): Promise<ScimUser | ScimRefusal> {
    const { tenant, ifMatch = null } = this.#writer
    const row = await this.#transaction.get(this.#queries.find, { tenant, id: storableOrEmpty(wanted) })
    if (row === undefined) return scimNotFound
    const user = scimUser(row)
    this.#former = JSON.parse(textOrNull(row, 'former') ?? '[]')
    return matches(ifMatch, scimTag(user)) ? user : scimPreconditionFailed
  }

  async #refuseTaken({ tenant, id, userName, externalId }: ScimUser): Promise<ScimRefusal | null> {
    const user_name_key = foldedCase(userName)
    const values = { tenant, id, user_name_key, external_id: externalId }
    const row = await this.#transaction.get(this.#queries.taken, values)
    if (row === undefined) return null
    return scimTaken(text(row, 'user_name_key') === user_name_key ? 'userName' : 'externalId')
  }

  /** Whether each caller who is the user has a block of SCIM, and a revocation that was closed. */
  async #isClosed(user: ScimUser): Promise<boolean> {
    const { tenant } = user
    const { blockByUser } = blockQueries(this.#dialect)
    for (const sub of await this.#subsOf(memberKeyOf(this.#mode, user))) {
      const values = { tenant, sub_digest: subDigest(sub), origin: ORIGIN }
      if ((await this.#transaction.get(blockByUser, values)) === undefined) return false
      if (!(await this.#isAnsweredClosed(sub))) return false
    }
    return true
  }

  /** Whether the last revocation of the caller was answered as closed. */
  async #isAnsweredClosed(sub: string): Promise<boolean> {
    const values = { tenant: this.#writer.tenant, digest: subjectDigest({ user: sub }) }
    const row = await this.#transaction.get(this.#queries.answer, values)
    const answer = row === undefined ? null : textOrNull(row, 'answer')
    return answer !== null && JSON.parse(answer).state === 'closed'
  }

  /** Each `sub` that the user was, whose revocation is not closed. */
  async #unclosed(): Promise<readonly string[]> {
    const subs: string[] = []
    for (const sub of this.#former) if (!(await this.#isAnsweredClosed(sub))) subs.push(sub)
    return subs
  }

  /** The callers who have the member key. */
  async #subsOf(key: string | null): Promise<readonly string[]> {
    if (key === null) return []
    if (this.#mode !== 'claim') return [key]
    const { tenant } = this.#writer
    const rows = await this.#transaction.all(this.#queries.subsOf, { tenant, member: key })
    return rows.map((row) => text(row, 'sub'))
  }

  /** Takes and gives what the change of the user means, and commits. */
  async #complete<V>(
    before: ScimUser | null,
    after: ScimUser | null,
    value: V,
    { isRepeated, unclosed }: Unconfirmed = CONFIRMED,
  ): Promise<ScimWritten<V> | ScimRefusal> {
    const { ends, lifted, gone } = this.#consequences(before, after, isRepeated)
    const left = gone === null ? [] : await this.#subsOf(gone)
    const former = after === null ? [] : [...new Set([...unclosed, ...left])]
    const off = await this.#subsOf(ends)
    const ended: Ended[] = [
      ...former.filter((sub) => !off.includes(sub)).map((sub) => ({ sub, what: 'existing' }) as const),
      ...off.map((sub) => ({ sub, what: 'all' }) as const),
    ]
    if (former.length > MAX_FORMER) return tooManyFormer
    if (ended.length > 0) {
      const older = await refuseOlderInstance(this.#dialect, this.#transaction)
      const refusal = older ?? (await this.#end(ended))
      if (refusal !== null) return refusal
    }
    for (const key of lifted) for (const sub of await this.#subsOf(key)) await this.#lift(sub)
    for (const sub of left) {
      const changes = await endGrants(this.#dialect, this.#transaction, this.#writer.tenant, sub)
      this.#changes.push(...changes)
    }
    if (after !== null) await this.#remember(after, former)
    await this.#list(before, after)
    const changes = [...this.#changes, ...this.#membershipChanges(before, after)]
    const committed: Committed = await this.#transaction.commit([], changes, {})
    return { ...committed, value, revocations: this.#revocations }
  }

  #consequences(before: ScimUser | null, after: ScimUser | null, isRepeated: boolean) {
    const keyOf = (user: ScimUser | null) => (user === null ? null : memberKeyOf(this.#mode, user))
    const [old, key] = [keyOf(before), keyOf(after)]
    const lifted: string[] = []
    // The user of a former key is no longer provisioned, as after a deletion.
    const gone = old === key ? null : old
    if (gone !== null) lifted.push(gone)
    if (key === null || after === null) return { ends: null, lifted, gone }
    const isNew = old !== key || before?.active !== after.active
    if (after.active && isNew) lifted.push(key)
    return { ends: !after.active && (isNew || isRepeated) ? key : null, lifted, gone }
  }

  async #end(ended: readonly Ended[]): Promise<ScimRefusal | null> {
    const revoking = new Revoking(this.#dialect, this.#transaction, this.#writer)
    const at = await revoking.begin()
    for (const { sub, what } of ended) {
      const subject = { user: sub }
      const result = await revoking.revoke(
        {
          ...{ id: ulid(this.#transaction.idTime()), at, subject, what, until: null, apiKeys: false },
          ...{ keptKey: null, answer: null, reason: what === 'all' ? this.#reason : GONE },
          ...(what === 'all' ? { origin: ORIGIN } : {}),
        },
        concernOf({ subject, apiKeys: false }, null),
        ANY_TIME,
        this.#changes.length,
      )
      if (isRefusal(result)) return scimRefusal(result)
      // A sign-in from before would complete once the block is gone.
      const logout = { tenant: this.#writer.tenant, digest: userDigest(sub), at }
      await this.#transaction.modify([logoutQueries.record], logout)
      await this.#transaction.flush(result.effect.parts, result.effect.values)
      this.#changes.push(...result.effect.changes)
      this.#revocations.push(result.value)
    }
    return null
  }

  /** Keeps whose revocations the next write of the user looks at. */
  async #remember({ tenant, id }: ScimUser, former: readonly string[]): Promise<void> {
    if (JSON.stringify(former) === JSON.stringify(this.#former)) return
    const values = { tenant, id, former: former.length === 0 ? null : JSON.stringify(former) }
    await this.#transaction.modify([this.#queries.setFormer], values)
  }

  /** Deletes the block of SCIM. Those of other origins stay. */
  async #lift(sub: string): Promise<void> {
    const { tenant } = this.#writer
    const { blockByUser } = blockQueries(this.#dialect)
    const values = { tenant, sub_digest: subDigest(sub), origin: ORIGIN }
    const row = await this.#transaction.get(blockByUser, values)
    if (row === undefined) return
    const block = storedBlock(row)
    this.#transaction.record(blockEvent('block.delete', block, null))
    await this.#transaction.flush([REMOVE_BLOCK], { tenant, id: block.id })
    this.#changes.push(blockChange(tenant, sub))
  }

  /** Makes `GET /v1/users` know the user, where the member key is a `sub`. */
  async #list(before: ScimUser | null, after: ScimUser | null): Promise<void> {
    if (this.#mode === 'claim') return
    const { tenant } = this.#writer
    const keyOf = (user: ScimUser | null) => (user === null ? null : memberKeyOf(this.#mode, user))
    const [old, sub] = [keyOf(before), keyOf(after)]
    if (old !== null && old !== sub) {
      const values = { tenant, sub: old, member: this.#dialect.memberKey(old) }
      await this.#transaction.modify([this.#queries.forget], values)
    }
    const isShown = (user: ScimUser | null) => JSON.stringify([user?.email, user?.displayName])
    if (after === null || sub === null || (old === sub && isShown(before) === isShown(after))) return
    const { email, displayName: name } = after
    await this.#transaction.modify([this.#queries.know], { tenant, sub, email, name })
  }

  #membershipChanges(before: ScimUser | null, after: ScimUser | null): Change[] {
    const { tenant } = this.#writer
    const keys = [before, after].flatMap((user) => (user === null ? [] : [membershipKey(user)]))
    const changes = new Map(keys.map((key) => [JSON.stringify(key), membershipChange(tenant, key)]))
    if (before !== null && after !== null && changes.size === 1 && before.active === after.active) return []
    return [...changes.values()]
  }
}

function isSameInput(before: ScimUser, after: ScimUser): boolean {
  const stateOf = ({ userName, externalId, active, email, displayName, resource }: ScimUser) =>
    JSON.stringify([userName, externalId, active, email, displayName, resource])
  return stateOf(before) === stateOf(after)
}
