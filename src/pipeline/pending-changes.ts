/** Collects changes of the store between two checks. The cost depends on the changes, not on the requests. */

import type { ChangeKind } from '../../seats-admin/model/change.ts'
import { NOTHING_OPEN, type OpenCounts } from '../../seats-admin/model/revocation.ts'
import { getOrInsertComputed } from '../lib/get-or-insert.ts'
import { changedMembers, changedUsers } from '../model/membership.ts'
import { type Change, type RevokedCommit, revokedCommit } from './revocation-cut.ts'

/** Collected changes; beyond this number, everything counts as changed. */
const MAX_KEYS = 10_000
/**
 * Collected changes of a kind of a tenant; beyond this number, every record of that kind of the tenant counts
 * as changed. So a tenant whose provider changes thousands of groups makes no caller of another tenant decide
 * again.
 */
const MAX_OF_TENANT = 5000
/** Kinds that decisions depend on. If a newer program writes others, everything counts as changed. */
const KINDS = new Set(['seat', 'seat-name', 'api-key', 'session', 'block', 'membership', 'grant'])
/**
 * Kinds that change no record of a decision. An activation of tables is added by {@link Changes.addTables},
 * once the tables are active.
 */
const OTHER_KINDS = new Set(['tables', 'tables-candidate'])
/** Kinds after which a credential may be void: a check follows at once. */
const URGENT = new Set(['api-key', 'session', 'block'])
/**
 * Kinds that count in the commit of a revocation too. Otherwise a stream by a grant would stay open when SCIM
 * gives its user another key, which ends the grant: a token with a later `iat` than the revocation is not
 * void.
 */
const SCIM_KINDS = new Set(['membership', 'grant'])
/** The newest revocations of which it is known what they have cut. */
const MAX_CUTS = 1000

export class Changes {
  #all = false
  #count = 0
  #tenants: TenantKeys = new Map()
  #revoked: RevokedCommit[] = []
  /** The marks of activations of tables. */
  #tables: number[] = []
  #isUrgent = false
  /** Mark of a revocation → what it has cut; the oldest first. */
  readonly #cuts = new Map<number, Cut>()
  /** Null before the re-evaluation begins: nothing is open until then. */
  #onUrgent: (() => void) | null = null

  /** @param run called after changes that need a check at once, or a revocation */
  onUrgent(run: () => void): void {
    this.#onUrgent = run
  }

  applyAnnouncement(changes: readonly Change[]): void {
    const revoked = new Set(changes.filter(({ kind }) => kind === 'revocation').map(({ mark }) => mark))
    const commits = Map.groupBy(changes, ({ mark }) => mark)
    for (const mark of revoked) this.#addRevocation(mark, commits.get(mark) ?? [])
    for (const change of changes)
      // A revocation by SCIM may change groups and grants of callers whom it does not end.
      if (!revoked.has(change.mark) || SCIM_KINDS.has(change.kind)) this.#add(change)
    if (this.#isUrgent) this.#onUrgent?.()
  }

  applyReading(changes: readonly Change[] | null): void {
    if (changes === null) this.#addAll()
    else this.applyAnnouncement(changes)
  }

  /** The process decides by other tables since this commit: all that is open is decided again. */
  addTables(mark: number): void {
    const cut = this.#cutOf(mark)
    if (cut.hasArrived) return
    cut.hasArrived = true
    if (this.#onUrgent === null) return cut.resolve(NOTHING_OPEN)
    this.#tables.push(mark)
    this.#isUrgent = true
    this.#onUrgent()
  }

  /** The changes since the last check; null if there are none. */
  sinceLastCheck(): Changed | null {
    if (!this.#all && this.#count === 0 && !this.hasNotice) return null
    const changed = new Changed(this.#all, this.#tenants, this.#revoked, this.#tables)
    this.#all = false
    this.#reset()
    this.#revoked = []
    this.#tables = []
    this.#isUrgent = false
    return changed
  }

  /** Whether a credential may be void by the changes since the last check. */
  get areUrgent(): boolean {
    return this.#isUrgent
  }

  /** Whether a revocation, or an activation of tables, is among the changes since the last check. */
  get hasNotice(): boolean {
    return this.#revoked.length > 0 || this.#tables.length > 0
  }

  /** Resolves with what the revocation has cut, once it has arrived: null if that is not known. */
  cutBy(mark: number): Promise<OpenCounts | null> {
    return this.#cutOf(mark).promise
  }

  /** @param cut null: it is not known */
  hasCut(mark: number, cut: OpenCounts | null): void {
    this.#cutOf(mark).resolve(cut)
  }

  /** By announcement and by reading, or by two announcements: the first of them counts. */
  #addRevocation(mark: number, changes: readonly Change[]): void {
    const cut = this.#cutOf(mark)
    if (cut.hasArrived) return
    cut.hasArrived = true
    if (this.#onUrgent === null) cut.resolve(NOTHING_OPEN)
    const commit = revokedCommit(changes)
    this.#isUrgent = true
    if (commit !== null) return void this.#revoked.push(commit)
    this.#addAll()
    cut.resolve(null)
  }

  #cutOf(mark: number): Cut {
    const cut = getOrInsertComputed(this.#cuts, mark, () => ({
      ...Promise.withResolvers(),
      hasArrived: false,
    }))
    const [oldest] = this.#cuts.keys()
    if (this.#cuts.size > MAX_CUTS && oldest !== undefined) this.#cuts.delete(oldest)
    return cut
  }

  #add({ tenant, kind, key }: Change): void {
    if (OTHER_KINDS.has(kind)) return
    if (URGENT.has(kind)) this.#isUrgent = true
    if (this.#all) return
    if (this.#count >= MAX_KEYS || !KINDS.has(kind)) return this.#addAll()
    const kinds = getOrInsertComputed(this.#tenants, tenant, () => new Map<string, Set<string>>())
    const keys = getOrInsertComputed(kinds, kind, () => new Set<string>())
    if (keys === EVERY) return
    const [changed, before] = [keysOf(kind, key), keys.size]
    for (const each of changed ?? []) keys.add(each)
    if (changed === null || keys.size > MAX_OF_TENANT) kinds.set(kind, EVERY)
    // Those of every record count as one change.
    this.#count += (kinds.get(kind) === EVERY ? 1 : keys.size) - before
  }

  #addAll(): void {
    this.#all = true
    this.#reset()
  }

  #reset(): void {
    this.#count = 0
    this.#tenants = new Map()
  }
}

/** The keys of records; null: all those of the kind in the tenant. */
function keysOf(kind: string, key: string): readonly string[] | null {
  if (kind === 'membership') return changedMembers(key)
  if (kind === 'grant') return changedUsers(key)
  // The key of a block is a JSON string.
  return [kind === 'block' ? JSON.parse(key) : key]
}

interface Cut extends PromiseWithResolvers<OpenCounts | null> {
  /** Whether the notice has arrived. */
  hasArrived: boolean
}

/** The keys of a kind of which every record counts as changed: this very set. */
const EVERY = new Set<string>()

/** Tenant → kind → keys. */
type TenantKeys = Map<string, Map<string, Set<string>>>

export class Changed {
  /** Everything counts as changed. */
  readonly all: boolean
  /** Revocations, whose other changes are not among the keys. */
  readonly revoked: readonly RevokedCommit[]
  /** The marks of activations of tables. */
  readonly tables: readonly number[]
  readonly #tenants: TenantKeys

  constructor(
    all: boolean,
    tenants: TenantKeys,
    revoked: readonly RevokedCommit[],
    tables: readonly number[],
  ) {
    this.all = all
    this.#tenants = tenants
    this.revoked = revoked
    this.tables = tables
  }

  /** @param key of a block and of a grant the `sub` of the user, of a membership its id */
  has(tenant: string, kind: ChangeKind, key: string): boolean {
    if (this.all) return true
    const keys = this.#tenants.get(tenant)?.get(kind)
    return keys !== undefined && (keys === EVERY || keys.has(key))
  }
}
