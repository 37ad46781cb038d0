/**
 * Writes of revocations, each in one transaction.
 *
 * It excludes the other numbered writes, as each of these. Then it keeps out creations of sessions in its
 * tenant, and then takes rows of sessions in any order, and of API keys in the order of their ids. No circle
 * of waiting transactions is possible: a write to sessions that is not numbered has one row and waits for
 * nothing, or skips locked rows, and others take several API keys in the same order.
 *
 * The sessions need no lock as they are read: none but a numbered write ends one. To lock 100,000 rows first
 * took twice the time.
 */

import { apiKeyNotFound, type AdminRefusal, isRefusal, sessionNotFound } from '../model/refusal.ts'
import type { Change } from '../model/change.ts'
import type { Revocation, RevocationSubject } from '../model/revocation.ts'
import { ulid } from '../model/ulid.ts'
import { revocationEvent, sessionEvent } from './audit-forms.ts'
import { blocking, olderInstance } from './block-writer.ts'
import { VOID_TOKENS } from '../model/registered-instance.ts'
import type { Database } from './database.ts'
import { endings, recordRevocation, together } from './endings.ts'
import { beginToken, isOutdated } from './provider-tokens.ts'
import {
  type Concern,
  concernOf,
  concernQueries,
  cutoffKind,
  noticeChange,
  revocationQueries,
  subjectValues,
} from './revocation-queries.ts'
import {
  type AppliedReceipt,
  MAX_NAMED,
  REVOCATION_PATIENCE,
  type RevocationInput,
  type RevocationReceipt,
  type RevocationStore,
} from './revocation-store.ts'
import { apiKey, type Dialect, integer, type Row, text } from './rows.ts'
import { listedSession, logoutQueries } from './session-queries.ts'
import { replaceUnstorable, storableOrEmpty } from './storable-text.ts'
import type { Values } from './statements.ts'
import type { Effect, Transaction } from './transaction.ts'
import type { Writer } from './writer.ts'

/** Rows that end at once: about 5 ms of work, and 250 KB of entries. Keys have the names of their Seats. */
const SESSIONS = 250
const KEYS = 50
/** A time after each creation. */
export const ANY_TIME = Number.MAX_SAFE_INTEGER
/** Before all sessions and API keys. */
const FIRST = { after: '', after_sub: '' }

export function revocationWriter({ dialect, unnumbered, write }: Database) {
  /** @param begin what comes first in the transaction, and says what is revoked or what prevents it */
  function revoking<T extends object>(
    author: Writer,
    wanted: RevocationInput,
    begin: (transaction: Transaction, at: number) => Promise<T | RevocationInput>,
  ) {
    const revoke = async (transaction: Transaction, writer: Writer) => {
      const revocations = new Revoking(dialect, transaction, writer)
      const at = await revocations.begin()
      const input = await begin(transaction, at)
      if (!('subject' in input)) return input
      const keptKey = keptKeyOf(writer, input)
      const concern = concernOf(input, keptKey)
      const due = { ...input, id: ulid(transaction.idTime()), at, keptKey, answer: null }
      const result =
        (await revocations.refuseUnknown(concern, input.subject)) ??
        (await revocations.revoke(due, concern, ANY_TIME))
      if (isRefusal(result)) return result
      const committed = await transaction.commitEffect(result.effect)
      return { ...committed, keyAdministers: false, value: result.value }
    }
    const { subject } = wanted
    return write(author, revoke, 'tenant' in subject || 'user' in subject ? REVOCATION_PATIENCE : 1)
  }
  return {
    revoke: (author, input) => revoking<never>(author, input, async () => input),

    revokeForProvider: (author, input, { token, logout, saidAt }) =>
      revoking(author, input, async (transaction, at) => {
        const { tenant } = author
        const state = token === null ? null : await beginToken(transaction, tenant, token, at)
        if (state !== null) return state
        if (logout !== null) await transaction.modify([logoutQueries.record], { tenant, digest: logout, at })
        const { subject, origin: _, ...rest } = input
        const isLate =
          saidAt !== undefined &&
          'user' in subject &&
          (await isOutdated(transaction, tenant, subject.user, saidAt))
        return isLate ? { ...rest, subject, what: 'existing', until: null } : input
      }),

    countRevocation: (author, input) =>
      write(null, async (transaction) => {
        const revoking = new Revoking(dialect, transaction, author)
        const at = await revoking.begin()
        const keptKey = keptKeyOf(author, input)
        const concern = concernOf(input, keptKey)
        const refusal = await revoking.refuseUnknown(concern, input.subject)
        if (refusal !== null) return refusal
        const { subject } = input
        const counted = await revoking.count(concern)
        const notice = noticeChange(author.tenant, { at, subject, count: true, keys: counted.keys })
        return { ...counted, keptKey, committed: await transaction.commit([], [notice], {}) }
      }),

    async answerRevocation(tenant, id, answer) {
      await unnumbered.modify([revocationQueries.answer], DONE, { tenant, id, answer })
    },

    applyReceipts(author, receipts) {
      const apply = async (transaction: Transaction, writer: Writer) => {
        await transaction.bePatient()
        const revoking = new Revoking(dialect, transaction, writer)
        await revoking.begin()
        const changes: Change[] = []
        const value: AppliedReceipt[] = []
        for (const receipt of receipts.toSorted(inOrder)) {
          const { id, at, subject } = receipt
          if (await revoking.has(id)) {
            value.push({ id, at, subject, ended: NONE, isNew: false, blocked: null })
            continue
          }
          const concern = concernOf(receipt, receipt.keptKey)
          // A session or a key that is named ends in any case: the clock of its creation may have been ahead.
          const born = cutoffKind(subject) === null ? ANY_TIME : at
          const result = await revoking.revoke(receipt, concern, born, changes.length)
          if (isRefusal(result)) return result
          await transaction.flush(result.effect.parts, result.effect.values)
          changes.push(...result.effect.changes)
          value.push({ id, at, subject, ended: result.value.ended, isNew: true, blocked: result.blocked })
        }
        if (changes.length === 0) return { ...transaction.unchanged, value }
        return { ...(await transaction.commit([], changes, {})), value }
      }
      return write(author, apply, REVOCATION_PATIENCE)
    },
  } satisfies Partial<RevocationStore>
}

const DONE = 'SELECT 1 AS done'
const NONE = { sessions: 0, apiKeys: 0 }

/** In order of their times. */
function inOrder(a: RevocationReceipt, b: RevocationReceipt): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1)
}

/** The caller's own key is left where all keys of the tenant are revoked. */
function keptKeyOf({ actor, by }: Writer, { subject, apiKeys }: RevocationInput): string | null {
  return 'tenant' in subject && apiKeys && actor?.kind === 'api-key' ? by : null
}

/** A revocation that has its id and time. */
type Due = Omit<RevocationReceipt, 'answer'> & { readonly answer: string | null }

/** What a revocation has done, but for its last part. */
interface Revoked {
  readonly value: Revocation
  /** The last part, and all changes. */
  readonly effect: Effect
  readonly blocked: string | null
}

/** The revocations of a transaction. */
export class Revoking {
  readonly #dialect: Dialect
  readonly #transaction: Transaction
  readonly #writer: Writer
  readonly #queries: ReturnType<typeof concernQueries>
  /** The earlier one of the times of the store and of the writer: a block ends by both of them. */
  #earlier = 0

  constructor(dialect: Dialect, transaction: Transaction, writer: Writer) {
    this.#dialect = dialect
    this.#transaction = transaction
    this.#writer = writer
    this.#queries = concernQueries(dialect)
  }

  /**
   * Waits for creations of sessions in flight, and keeps out further ones.
   *
   * @returns the later one of the times of the store and of the writer, in ms since the epoch
   */
  async begin(): Promise<number> {
    const { soleLock, clock } = this.#dialect
    const { tenant, now } = this.#writer
    const row = await this.#transaction.get(`SELECT ${soleLock} ${clock} AS now`, { tenant })
    const times = [integer(row ?? {}, 'now'), now + Math.ceil(this.#transaction.elapsed)]
    this.#earlier = Math.min(...times)
    return Math.max(...times)
  }

  async has(id: string): Promise<boolean> {
    const values = { tenant: this.#writer.tenant, id: storableOrEmpty(id) }
    return (await this.#transaction.get(revocationQueries.find, values)) !== undefined
  }

  /** @returns the refusal if the subject is a session or an API key that the store does not have */
  async refuseUnknown({ values }: Concern, subject: RevocationSubject): Promise<AdminRefusal | null> {
    const all = { tenant: this.#writer.tenant, ...values }
    if ('session' in subject)
      return (await this.#transaction.get(this.#queries.session, all)) === undefined ? sessionNotFound : null
    if ('api_key' in subject)
      return (await this.#transaction.get(this.#queries.key, all)) === undefined ? apiKeyNotFound : null
    return null
  }

  /**
   * @param born ms since the epoch: the sessions and API keys end that were created up to then
   * @param before the changes of earlier revocations of the transaction
   */
  async revoke(due: Due, concern: Concern, born: number, before = 0): Promise<Revoked | AdminRefusal> {
    const { tenant } = this.#writer
    const { id, at, subject, what, origin, until, apiKeys, keptKey, answer } = due
    const reason = due.reason === null ? null : replaceUnstorable(due.reason)
    const isBlock = 'user' in subject && what === 'all' && (until === null || until > this.#earlier)
    const block = isBlock
      ? await blocking(this.#dialect)(this.#transaction, this.#writer, {
          ...{ user: subject.user, until, reason },
          ...(origin === undefined ? {} : { origin }),
        })
      : null
    if (isRefusal(block)) return block
    const areTokens = what === 'tokens'
    if (areTokens) {
      const older = await olderInstance(this.#dialect, this.#transaction, VOID_TOKENS)
      if (older !== null) return older
    }
    const sessions = areTokens
      ? await this.#voidTokens(concern, at, born)
      : await this.#endSessions(concern, at, born)
    const keys = areTokens ? await NO_ENDS : await this.#revokeKeys(concern, at, born)
    const ended = { sessions: areTokens ? 0 : sessions.count, apiKeys: keys.count }
    const isListed = Math.max(sessions.count, keys.count) <= MAX_NAMED
    const changes = [
      noticeChange(tenant, { at, subject, ...(isListed ? { listed: true } : {}) }),
      ...(isListed ? [...sessions.changes, ...keys.changes] : []),
      ...(block?.changes ?? []),
    ]
    const seq = this.#transaction.seq + before + changes.length
    const record = {
      ...{ what, until, reason, apiKeys, ended, keptKey },
      ...(origin === undefined ? {} : { origin }),
    }
    const audit = this.#transaction.record(revocationEvent({ id, at, subject, ...record }))
    const value = { id, tenant, seq, at, subject, ...record, audit }
    const own = this.#recording(value, answer)
    const last = together([sessions.last, keys.last, ...(block === null ? [] : [block]), own])
    return { value, effect: { ...last, changes }, blocked: block?.block.user ?? null }
  }

  #recording({ id, tenant, seq, at, subject, ...record }: Revocation, answer: string | null): Effect {
    const kind = cutoffKind(subject)
    return {
      parts: [...(kind === null ? [] : [revocationQueries.cutoff]), revocationQueries.insert],
      changes: [],
      values: {
        ...{ tenant, kind, ...subjectValues(subject), revocation: id, revocation_seq: seq },
        ...{ revoked_since: at, record: JSON.stringify(record), answer },
      },
    }
  }

  #endSessions({ sessions, values }: Concern, at: number, born: number): Promise<Ends> {
    if (sessions === null) return NO_ENDS
    const { endSessions } = endings(this.#dialect)
    return this.#endAll(this.#queries.sessions(sessions), { ...values, born }, SESSIONS, (rows) => {
      const ended = rows.map(listedSession)
      for (const session of ended) this.#transaction.record(sessionEvent(session, null, at))
      return endSessions(this.#writer.tenant, idsOf(rows), at, true)
    })
  }

  #voidTokens({ sessions, values }: Concern, at: number, born: number): Promise<Ends> {
    if (sessions === null) return NO_ENDS
    const { voidTokens } = endings(this.#dialect)
    return this.#endAll(this.#queries.sessions(sessions), { ...values, born }, SESSIONS, (rows) =>
      voidTokens(this.#writer.tenant, idsOf(rows), at),
    )
  }

  #revokeKeys({ keys, values }: Concern, at: number, born: number): Promise<Ends> {
    if (keys === null) return NO_ENDS
    const { revokeApiKeys } = endings(this.#dialect)
    return this.#endAll(this.#queries.keys(keys), { ...values, born }, KEYS, (rows) => {
      for (const key of rows.map(apiKey)) recordRevocation(this.#transaction, key, at)
      return revokeApiKeys(this.#writer.tenant, idsOf(rows), at)
    })
  }

  /**
   * Ends all rows of a query, so that memory has few of them.
   *
   * @param limit the number of rows that end at once
   * @param end records the ends of some rows
   */
  async #endAll(
    query: string,
    values: Values,
    limit: number,
    end: (rows: readonly Row[]) => Effect,
  ): Promise<Ends> {
    const { tenant } = this.#writer
    const changes: Change[] = []
    let count = 0
    for (let last = FIRST; ;) {
      const rows = await this.#transaction.all(query, { ...values, ...last, tenant, limit })
      const effect = end(rows)
      count += rows.length
      if (changes.length <= MAX_NAMED) changes.push(...effect.changes)
      if (rows.length < limit) return { count, changes, last: rows.length === 0 ? NO_EFFECT : effect }
      if (count === limit) await this.#transaction.bePatient()
      await this.#transaction.flush(effect.parts, effect.values)
      const { id, sub } = rows.at(-1) ?? {}
      last = { after: String(id), after_sub: String(sub) }
    }
  }

  async count({ sessions, keys, values }: Concern) {
    const all = { tenant: this.#writer.tenant, ...values, ...FIRST, born: ANY_TIME, limit: MAX_NAMED }
    const { sessionCount, keyCount, keyIds } = this.#queries
    const countOf = async (query: string) => integer((await this.#transaction.get(query, all)) ?? {}, 'count')
    return {
      ended: {
        sessions: sessions === null ? 0 : await countOf(sessionCount(sessions)),
        apiKeys: keys === null ? 0 : await countOf(keyCount(keys)),
      },
      keys: keys === null ? [] : idsOf(await this.#transaction.all(keyIds(keys), all)),
    }
  }
}

interface Ends {
  readonly count: number
  readonly changes: readonly Change[]
  /** The end of the last rows; the others have ended. */
  readonly last: Effect
}

const NO_EFFECT: Effect = { parts: [], changes: [], values: {} }
const NO_ENDS = Promise.resolve<Ends>({ count: 0, changes: [], last: NO_EFFECT })

function idsOf(rows: readonly Row[]): string[] {
  return rows.map((row) => text(row, 'id'))
}
