/**
 * The API keys that have authenticated since the last {@link KeyUses.take}, with the time of the first use
 * since then.
 */

import type { KeyUse } from '../../../seats-admin/model/api-key.ts'

/** What a request reads of its key: whether its use is noted already. */
export interface KeyMark {
  noted: boolean
}

interface Noted extends KeyUse {
  readonly mark: KeyMark
}

/** The most keys between two calls of {@link KeyUses.take}. Further ones are noted after the next. */
const MAX_KEYS = 100_000

export class KeyUses {
  readonly #noted = new Map<string, Noted>()

  /** All records of a key share its mark, as memory may drop a record and read it again. */
  markOf(tenant: string, id: string): KeyMark {
    return this.#noted.get(keyOf(tenant, id))?.mark ?? { noted: false }
  }

  /**
   * Notes a use, of a key whose mark is not set.
   *
   * @param at ms since the epoch
   */
  note(mark: KeyMark, tenant: string, id: string, at: number): void {
    const key = keyOf(tenant, id)
    if (this.#noted.size >= MAX_KEYS || this.#noted.has(key)) return
    mark.noted = true
    this.#noted.set(key, { tenant, id, at, mark })
  }

  take(): KeyUse[] {
    const taken: KeyUse[] = []
    for (const { tenant, id, at, mark } of this.#noted.values()) {
      mark.noted = false
      taken.push({ tenant, id, at })
    }
    this.#noted.clear()
    return taken
  }
}

/** Neither a tenant nor an id has a slash. */
function keyOf(tenant: string, id: string): string {
  return `${tenant}/${id}`
}
