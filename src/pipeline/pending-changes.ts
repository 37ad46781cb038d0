/** Collects changes of the store between two checks. The cost depends on the changes, not on the requests. */

import type { ChangeKind } from '../../seats-admin/model/change.ts'

/** The fields of a change in the feed that are used here. */
export interface Change {
  readonly tenant: string
  readonly kind: string
  readonly key: string
}

/** Collected changes; beyond this number, everything counts as changed. */
const MAX_KEYS = 10_000
/** Kinds that decisions depend on. If a newer program writes others, everything counts as changed. */
const KINDS = new Set(['seat', 'seat-name', 'api-key', 'session', 'block'])

export class Changes {
  #all = false
  #keys = new Set<string>()

  applyAnnouncement(changes: readonly Change[]): void {
    for (const change of changes) this.#add(change)
  }

  applyReading(changes: readonly Change[] | null): void {
    if (changes === null) this.#addAll()
    else this.applyAnnouncement(changes)
  }

  /** The changes since the last check; null if there are none. */
  sinceLastCheck(): Changed | null {
    if (!this.#all && this.#keys.size === 0) return null
    const changed = new Changed(this.#all, this.#keys)
    this.#all = false
    this.#keys = new Set()
    return changed
  }

  #add({ tenant, kind, key }: Change): void {
    if (this.#all) return
    if (this.#keys.size >= MAX_KEYS || !KINDS.has(kind)) return this.#addAll()
    this.#keys.add(keyOf(tenant, kind, key))
  }

  #addAll(): void {
    this.#all = true
    this.#keys = new Set()
  }
}

export class Changed {
  /** Everything counts as changed. */
  readonly all: boolean
  readonly #keys: ReadonlySet<string>

  constructor(all: boolean, keys: ReadonlySet<string>) {
    this.all = all
    this.#keys = keys
  }

  has(tenant: string, kind: ChangeKind, key: string): boolean {
    return this.all || this.#keys.has(keyOf(tenant, kind, key))
  }
}

/** Tenant ids and kinds contain no NUL, so the first two separate the fields, whatever the key contains. */
function keyOf(tenant: string, kind: string, key: string): string {
  return `${tenant}\0${kind}\0${key}`
}
