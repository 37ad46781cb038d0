/**
 * A session store in memory that keeps the contract of `session-store.ts`, for tests of sign-in. As the reference it
 * shows that the conformance suite can pass. The code between two awaits is a transaction.
 */

import type {
  AsOf,
  Committed,
  HandleProof,
  LogoutSince,
  LogoutSubject,
  Renewal,
  Rotation,
  SessionRecord,
  SessionStore,
  StoredSession,
} from '../../seats-admin/index.ts'

interface Row {
  session: StoredSession
  /** ms since the epoch; 0: not claimed. */
  claimedUntil: number
}

export class MemorySessions implements SessionStore {
  readonly rows = new Map<string, Row>()
  /** Tenant and digest → ms since the epoch. */
  readonly logouts = new Map<string, number>()
  /** The error that every method rejects with; null: methods succeed. */
  fault: Error | null = null
  #seq = 0

  async create(session: StoredSession): Promise<void> {
    this.#check()
    if (this.#row(session.tenant, session.id) !== undefined) throw new Error('the id is taken')
    this.rows.set(`${session.tenant} ${session.id}`, { session, claimedUntil: 0 })
  }

  async readSession(tenant: string, id: string): Promise<AsOf<SessionRecord | null>> {
    const value = await this.sessionById(tenant, id)
    return { seq: this.#seq, mark: this.#seq, value }
  }

  async sessionById(tenant: string, id: string): Promise<StoredSession | null> {
    this.#check()
    return this.#row(tenant, id)?.session ?? null
  }

  async rotate(
    tenant: string,
    id: string,
    proof: HandleProof,
    next: Uint8Array,
    now: number,
  ): Promise<Rotation> {
    this.#check()
    const row = this.#row(tenant, id)
    if (row === undefined || !same(row.session.familyHash, proof.family)) return { outcome: 'unknown' }
    if (row.session.endedAt !== null) return { outcome: 'ended' }
    if (row.session.expiresAt <= now) return { outcome: 'expired' }
    if (!same(row.session.handleHash, proof.handle)) {
      row.session = { ...row.session, endedAt: now, sealed: '' }
      return { outcome: 'replayed', committed: this.#changed(row.session) }
    }
    row.session = { ...row.session, handleHash: next }
    return { outcome: 'rotated', session: row.session }
  }

  async giveBack(
    tenant: string,
    id: string,
    from: Uint8Array | null,
    to: Uint8Array | null,
    sealed: string | null,
  ): Promise<boolean> {
    this.#check()
    const row = this.#row(tenant, id)
    if (row === undefined || row.session.endedAt !== null || !same(row.session.handleHash, from)) return false
    row.session = { ...row.session, handleHash: to, sealed: sealed ?? row.session.sealed }
    row.claimedUntil = 0
    return true
  }

  async claimRenewal(tenant: string, id: string, now: number, until: number): Promise<StoredSession | null> {
    this.#check()
    const row = this.#row(tenant, id)
    if (row === undefined || row.session.endedAt !== null || row.session.expiresAt <= now) return null
    if (row.claimedUntil > now) return null
    row.claimedUntil = until
    return row.session
  }

  async renew(
    tenant: string,
    id: string,
    handle: Uint8Array | null,
    renewal: Renewal,
  ): Promise<Committed | null> {
    this.#check()
    const row = this.#row(tenant, id)
    if (row === undefined || row.session.endedAt !== null || !same(row.session.handleHash, handle))
      return null
    row.session = { ...row.session, ...renewal }
    row.claimedUntil = 0
    return this.#changed(row.session)
  }

  async end(tenant: string, id: string, now: number): Promise<Committed | null> {
    this.#check()
    const row = this.#row(tenant, id)
    if (row === undefined) return null
    row.session = { ...row.session, endedAt: row.session.endedAt ?? now, sealed: '' }
    return this.#changed(row.session)
  }

  async endSome(
    tenant: string,
    subject: LogoutSubject,
    now: number,
    limit: number,
  ): Promise<Committed | null> {
    this.#check()
    const isOf = ({ user, providerSession }: StoredSession) =>
      'user' in subject
        ? user === subject.user
        : providerSession !== null && same(providerSession, subject.providerSession)
    const rows = [...this.rows.values()].filter(
      ({ session }) => session.tenant === tenant && session.endedAt === null && isOf(session),
    )
    const ended = rows.slice(0, limit)
    for (const row of ended) row.session = { ...row.session, endedAt: now, sealed: '' }
    if (ended.length === 0) return null
    const changes = ended.map(({ session: { id } }) => ({ tenant, kind: 'session' as const, key: id }))
    this.#seq += changes.length
    return { seq: this.#seq, mark: this.#seq, changes }
  }

  async recordLogout(tenant: string, digest: Uint8Array, at: number): Promise<void> {
    this.#check()
    const key = keyOf(tenant, digest)
    this.logouts.set(key, Math.max(at, this.logouts.get(key) ?? 0))
  }

  async loggedOutSince(tenant: string, logout: LogoutSince, or: LogoutSince | null = null): Promise<boolean> {
    this.#check()
    const isRecorded = ({ digest, since }: LogoutSince) =>
      (this.logouts.get(keyOf(tenant, digest)) ?? -1) >= since
    return isRecorded(logout) || (or !== null && isRecorded(or))
  }

  async recordToken(tenant: string, digest: Uint8Array, at: number): Promise<boolean> {
    this.#check()
    const key = keyOf(tenant, digest)
    if (this.logouts.has(key)) return false
    this.logouts.set(key, at)
    return true
  }

  async prune(before: number, limit: number): Promise<number> {
    this.#check()
    for (const [key, at] of this.logouts) if (at < before) this.logouts.delete(key)
    const old = [...this.rows].filter(([, { session }]) => session.expiresAt < before).slice(0, limit)
    for (const [key] of old) this.rows.delete(key)
    return old.length
  }

  #row(tenant: string, id: string): Row | undefined {
    return this.rows.get(`${tenant} ${id}`)
  }

  #changed({ tenant, id }: StoredSession): Committed {
    this.#seq++
    return { seq: this.#seq, mark: this.#seq, changes: [{ tenant, kind: 'session', key: id }] }
  }

  #check(): void {
    if (this.fault !== null) throw this.fault
  }
}

function keyOf(tenant: string, digest: Uint8Array): string {
  return `${tenant} ${Buffer.from(digest).toString('hex')}`
}

function same(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b
  return Buffer.compare(a, b) === 0
}
