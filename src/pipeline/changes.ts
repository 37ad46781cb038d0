/** What has changed since somebody last looked. Costs a note a change, and nothing a request. */

/** By structure what the feed of changes has. */
export interface Change {
  readonly tenant: string
  readonly kind: string
  readonly key: string
}

/** Notes kept; where there are more, anything may have changed. */
const MAX_NOTES = 10_000
/** What is known to rest on something; of other kinds, which a newer program wrote, anything may. */
const KINDS = new Set(['seat', 'seat-name', 'api-key', 'session'])

export class Changes {
  #all = false
  #notes = new Set<string>()

  announced(changes: readonly Change[]): void {
    for (const change of changes) this.#note(change)
  }

  take(changes: readonly Change[] | null): void {
    if (changes === null) this.#noteAll()
    else this.announced(changes)
  }

  /** null: nothing. */
  sinceLastLook(): Changed | null {
    if (!this.#all && this.#notes.size === 0) return null
    const changed = new Changed(this.#all, this.#notes)
    this.#all = false
    this.#notes = new Set()
    return changed
  }

  #note({ tenant, kind, key }: Change): void {
    if (this.#all) return
    if (this.#notes.size >= MAX_NOTES || !KINDS.has(kind)) return this.#noteAll()
    this.#notes.add(noteOf(tenant, kind, key))
  }

  #noteAll(): void {
    this.#all = true
    this.#notes = new Set()
  }
}

export class Changed {
  /** Anything may have. */
  readonly all: boolean
  readonly #notes: ReadonlySet<string>

  constructor(all: boolean, notes: ReadonlySet<string>) {
    this.all = all
    this.#notes = notes
  }

  has(tenant: string, kind: 'seat' | 'seat-name' | 'api-key' | 'session', key: string): boolean {
    return this.all || this.#notes.has(noteOf(tenant, kind, key))
  }
}

/** Neither a tenant's id nor a kind has a NUL, so the first two part the fields whatever the key holds. */
function noteOf(tenant: string, kind: string, key: string): string {
  return `${tenant}\0${kind}\0${key}`
}
