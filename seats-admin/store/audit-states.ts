/**
 * What the entries of a tenant's audit say of each Seat, API key, block, grant, revocation, and SCIM user and
 * group, and of the route tables: whether each entry begins where the one before it on the same target ended, and whether the rows of
 * the store are what the last one says. A chain whose hashes are right does not show that: a row may have
 * been changed by SQL. Sessions are left out, as refreshes change them without an entry.
 */

import { hash } from 'node:crypto'
import type { ApiKey } from '../model/api-key.ts'
import type { AuditStart } from '../model/audit.ts'
import type { Block } from '../model/block.ts'
import type { ListedGrant } from '../model/grant.ts'
import { canonicalJson, type Json, type JsonObject } from '../model/canonical-json.ts'
import type { ScimGroup, ScimUser } from '../model/scim.ts'
import type { StoredSeat } from '../model/seat.ts'
import { subjectText } from '../model/revocation.ts'
import { type TableFiles, tablesDigest, type TablesVersion } from '../model/tables-version.ts'
import {
  apiKeyForm,
  blockForm,
  grantForm,
  revocationForm,
  scimGroupForm,
  scimUserForm,
  seatForm,
  tablesForm,
  tablesTarget,
} from './audit-forms.ts'
import { stateOf } from './audit-chain.ts'
import { Findings } from './audit-verifier.ts'
import type { StoredRevocation } from './revocation-store.ts'
import { integer, type Row, text, textOrNull } from './rows.ts'
import { replaceUnstorable } from './storable-text.ts'

type Kind = 'seat' | 'api-key' | 'block' | 'grant' | 'revocation' | 'tables' | ScimKind
type ScimKind = 'scim-user' | 'scim-group'

interface State {
  /** The number of the last entry. */
  readonly seq: number
  readonly name: string
  /** The digest of what the entry left; null: nothing is left. */
  readonly digest: string | null
  /** The end of a block or a grant in ms since the epoch, without an entry. */
  readonly until: number
  /** The id of the Seat of a grant, with which it is deleted without an entry; null for other kinds. */
  readonly seat: string | null
  /** The ids of the Seats of an API key; null: not all are known. */
  readonly seats: readonly string[] | null
  /** The owner of an API key, which never changes; undefined: it has none. */
  readonly owner: Json | undefined
  /** The number of members of a SCIM group; null for other kinds. */
  readonly members: number | null
}

/** A row of the store, as far as it is compared. */
interface Compared {
  readonly kind: Kind
  readonly id: string
  readonly name: string
  /** ms since the epoch */
  readonly createdAt: number
  readonly digest: string | null
  /** The Seats of an API key, as {@link namesOf} writes them; null for other kinds. */
  readonly seats: string | null
  /** The number of members of a SCIM group; null for other kinds. */
  readonly members: number | null
}

const NAMES: Readonly<Record<Kind, string>> = {
  seat: 'Seat',
  'api-key': 'API key',
  block: 'block of',
  grant: 'grant of',
  revocation: 'revocation of',
  'scim-user': 'SCIM user',
  'scim-group': 'SCIM group',
  tables: 'set of route tables',
}

export class AuditStates extends Findings {
  readonly #states = new Map<string, State>()
  /** Ids of Seats by the name that they have. */
  readonly #ids = new Map<string, string>()
  readonly #rows: Compared[] = []
  /** The groups whose number of members differs from the number of their rows in `scim_members`. */
  readonly #counted: { readonly id: string; readonly message: string }[] = []
  /** The number of the newest entry that was read. */
  #newest = 0
  /** The last entry before the rows were read. Later entries may be of changes that the rows lack. */
  #settled = Infinity
  #isWhole = false
  /** The time of the first entry in ms since the epoch. */
  #since: number | null = null

  /** @param rows the next of the chain, in order */
  read(rows: readonly Row[], start: AuditStart): void {
    for (const row of rows) {
      if (this.#since === null) {
        this.#isWhole = start.seq === 1
        this.#since = integer(row, 'at')
      }
      try {
        this.#entry(row)
      } catch {
        // The verifier finds it: it is not the entry that was written.
      }
    }
  }

  /**
   * Called before the rows of the store are given. Entries that are written in between are read before
   * {@link end}.
   */
  beginRows(): void {
    this.#settled = this.#newest
  }

  seat(seat: StoredSeat): void {
    this.#rows.push(rowOf('seat', seat, seat.name, seatForm(seat)))
  }

  apiKey(key: ApiKey): void {
    this.#rows.push({ ...rowOf('api-key', key, key.name, apiKeyForm(key)), seats: namesOf(key.seats) })
  }

  block(block: Block): void {
    this.#rows.push(rowOf('block', block, block.user, blockForm(block)))
  }

  grant(grant: ListedGrant): void {
    this.#rows.push(rowOf('grant', grant, grant.user, grantForm(grant)))
  }

  revocation(revocation: StoredRevocation): void {
    const { id, at, subject, isInForce } = revocation
    const name = subjectText(subject)
    this.#rows.push(rowOf('revocation', { id, createdAt: at }, name, revocationForm(revocation)))
    if (!isInForce)
      this.add(0, 'row', `${nameOf('revocation', id, name)} is there, and the cutoff that it left is not`)
  }

  scimUser(user: ScimUser): void {
    this.#rows.push(rowOf('scim-user', user, user.userName, scimUserForm(user)))
  }

  /** @param members the number of users who are members by the rows of memberships */
  scimGroup(group: ScimGroup, members: number): void {
    const { id, displayName, memberCount } = group
    this.#rows.push({ ...rowOf('scim-group', group, displayName, scimGroupForm(group)), members })
    if (members !== memberCount)
      this.#counted.push({
        id,
        message: `${nameOf('scim-group', id, displayName)} counts ${memberCount} members, and has ${members}`,
      })
  }

  /** @param version the active one, with its files */
  tables(version: TablesVersion & { readonly files: TableFiles | null }): void {
    const { digest: expected, files } = version
    const { id, name } = tablesTarget(version)
    this.#rows.push(rowOf('tables', { ...version, id }, name, tablesForm(version)))
    if (files === null || tablesDigest(files) !== expected)
      this.add(0, 'row', `${nameOf('tables', id, name)} has other files than its entry says`)
  }

  /**
   * The ids that entries have left and whose rows were not given: pages that are counted from the first item
   * skip one if an earlier item is deleted.
   */
  missing(kind: ScimKind): string[] {
    const there = new Set(this.#rows.map((row) => keyOf(row.kind, row.id)))
    return [...this.#states]
      .filter(([key, { digest: left }]) => left !== null && key.startsWith(`${kind} `) && !there.has(key))
      .map(([key]) => key.slice(kind.length + 1))
  }

  /**
   * Compares the rows that were given.
   *
   * @param now ms since the epoch
   */
  end(now: number): void {
    for (const row of this.#rows) this.#compare(row)
    for (const { id, message } of this.#counted) {
      const { seq = 0 } = this.#states.get(keyOf('scim-group', id)) ?? {}
      if (seq <= this.#settled) this.add(seq, 'row', message)
    }
    const there = new Set(this.#rows.map(({ kind, id }) => keyOf(kind, id)))
    for (const [key, { seq, name, digest: left, until, seat }] of this.#states) {
      if (left === null || there.has(key) || seq > this.#settled || until <= now) continue
      if (seat !== null && !there.has(keyOf('seat', seat))) continue
      const [kind = '', id = ''] = key.split(' ')
      this.add(seq, 'row', `${nameOf(kind as Kind, id, name)} is gone, and entry ${seq} left it`)
    }
  }

  #entry(row: Row): void {
    const [seq, id, kind] = [integer(row, 'seq'), text(row, 'target_id'), text(row, 'target_kind')]
    this.#newest = Math.max(seq, this.#newest)
    if (!isKind(kind)) return
    const last = this.#states.get(keyOf(kind, id))
    const [before, after] = [owned(stateOf(row, 'before'), last), owned(stateOf(row, 'after'), last)]
    const isNamedByTarget = kind === 'revocation' || kind === 'tables'
    const shown = isNamedByTarget ? textOrNull(row, 'target_name') : nameIn(kind, after ?? before)
    const name = String(shown ?? id)
    // A block ends without an entry.
    const hasEnded = before === null && last !== undefined && last.until <= integer(row, 'at')
    const isOther = last?.digest !== digest(kind, before) || last?.members !== membersIn(kind, before)
    if (last !== undefined && isOther && !hasEnded)
      this.add(
        seq,
        'before',
        `entry ${seq} does not begin where entry ${last.seq} left ${nameOf(kind, id, name)}`,
      )
    this.#set(kind, id, { seq, name }, after)
    if (kind === 'scim-user' && after === null) this.#leave(before?.['groups'], seq)
    const made = kind === 'seat' ? after?.['api_key'] : undefined
    if (made !== undefined && isObject(made))
      this.#set('api-key', String(made['id']), { seq, name: String(made['name']) }, made)
  }

  #set(kind: Kind, id: string, { seq, name }: { seq: number; name: string }, after: JsonObject | null): void {
    const key = keyOf(kind, id)
    const last = this.#states.get(key)
    if (kind === 'seat') {
      if (last !== undefined && this.#ids.get(last.name) === id) this.#ids.delete(last.name)
      if (after !== null) this.#ids.set(name, id)
    }
    const ends = kind === 'block' || kind === 'grant'
    const until = ends && after !== null ? Date.parse(String(after['until'])) : NaN
    this.#states.set(key, {
      seq,
      name,
      digest: digest(kind, after),
      until: Number.isNaN(until) ? Infinity : until,
      seat: kind === 'grant' && after !== null ? String(after['seat_id']) : null,
      // A later entry of a key, its revocation, gives it no Seats.
      owner: kind === 'api-key' ? (after?.['owner'] ?? last?.owner) : undefined,
      seats: kind === 'api-key' ? (last?.seats ?? this.#idsOf(last === undefined ? after : null)) : null,
      members: membersIn(kind, after),
    })
  }

  /** A deleted user leaves groups, which have no entry of that. */
  #leave(groups: Json | undefined, seq: number): void {
    for (const id of Array.isArray(groups) ? groups : []) {
      const state = this.#states.get(keyOf('scim-group', String(id)))
      const members = state?.members ?? null
      if (state !== undefined && members !== null)
        this.#states.set(keyOf('scim-group', String(id)), { ...state, seq, members: members - 1 })
    }
  }

  #idsOf(key: JsonObject | null): string[] | null {
    const names = key?.['seats']
    if (!Array.isArray(names)) return null
    const ids = names.flatMap((name) => this.#ids.get(String(name)) ?? [])
    return ids.length === names.length ? ids : null
  }

  #compare({ kind, id, name, createdAt, digest: is, seats, members }: Compared): void {
    const state = this.#states.get(keyOf(kind, id))
    const named = nameOf(kind, id, name)
    if (state === undefined) {
      // It may be older than the audit, or its entries are no longer kept.
      const isNewer = this.#isWhole && this.#since !== null && createdAt >= this.#since
      if (isNewer) this.add(0, 'row', `${named} is there without an entry`)
      return
    }
    const { seq, digest: left } = state
    if (seq > this.#settled) return
    if (left === null) return this.add(seq, 'row', `${named} is there, and entry ${seq} deleted it`)
    if (left !== is) return this.add(seq, 'row', `${named} is not what entry ${seq} left`)
    if (members !== null && members !== state.members)
      return this.add(seq, 'row', `${named} has ${members} members, and entry ${seq} left ${state.members}`)
    const expected = this.#seatsOf(state)
    if (seats !== null && expected !== null && expected !== seats)
      this.add(seq, 'row', `${named} has other Seats than its entries gave it`)
  }

  /** The Seats that a key must have now, as {@link namesOf} writes them; null: they are not known. */
  #seatsOf({ seats }: State): string | null {
    if (seats === null) return null
    const states = seats.flatMap((id) => this.#states.get(keyOf('seat', id)) ?? [])
    if (states.some(({ seq }) => seq > this.#settled)) return null
    return namesOf(states.flatMap(({ name, digest: left }) => (left === null ? [] : name)))
  }
}

/** The state of an API key with its owner, which an entry of an older version lacks. */
function owned(state: JsonObject | null, last: State | undefined): JsonObject | null {
  return state === null || last?.owner === undefined ? state : { owner: last.owner, ...state }
}

function nameIn(kind: Kind, state: JsonObject | null): Json | undefined {
  return state?.[NAMED_BY[kind] ?? 'name']
}

const NAMED_BY: Partial<Readonly<Record<Kind, string>>> = {
  block: 'user',
  grant: 'user',
  'scim-user': 'user_name',
  'scim-group': 'display_name',
}

/** The number of members that a state of a group has; null: it is no state of a group. */
function membersIn(kind: Kind, state: JsonObject | null): number | null {
  return kind === 'scim-group' && state !== null ? Number(state['members']) : null
}

function rowOf(
  kind: Kind,
  { id, createdAt }: { readonly id: string; readonly createdAt: number },
  name: string,
  form: JsonObject,
): Compared {
  return { kind, id, name, createdAt, digest: digest(kind, form), seats: null, members: null }
}

/** One text for the same names in any order. */
function namesOf(names: readonly string[]): string {
  return canonicalJson(names.map(replaceUnstorable).toSorted())
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(NAMES, kind)
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keyOf(kind: Kind, id: string): string {
  return `${kind} ${id}`
}

function nameOf(kind: Kind, id: string, name: string): string {
  return `${NAMES[kind]} ${JSON.stringify(name)} (${id})`
}

const FOLLOWING: Partial<Readonly<Record<Kind, readonly string[]>>> = {
  seat: ['api_key'],
  'api-key': ['seats'],
  grant: ['seat'],
  'scim-user': ['groups'],
  'scim-group': ['members', 'added', 'removed', 'version'],
}

/**
 * Without what changes with no entry of the target: the key that a bootstrap made with a Seat, and the names
 * of the Seats of a key or a grant, which follow the Seats, and the members of a group, which deleted users
 * leave. An entry of an older version lacks the origin of a block, `admin`.
 */
function digest(kind: Kind, state: JsonObject | null): string | null {
  if (state === null) return null
  const left = FOLLOWING[kind] ?? []
  const isDefault = (name: string) => kind === 'block' && name === 'origin' && state[name] === 'admin'
  const kept = Object.fromEntries(
    Object.entries(state).filter(([name]) => !left.includes(name) && !isDefault(name)),
  )
  return hash('sha256', canonicalJson(kept), 'base64')
}
