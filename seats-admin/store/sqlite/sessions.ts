/** Sessions in the embedded store: assigns the methods to its threads. */

import type { HandleProof, Renewal, SessionStore, StoredSession } from '../session-store.ts'
import type { Threads } from './threads.ts'

/** Both reads are on the request path and must not wait for the writer's disk access. */
export class SqliteSessions implements SessionStore {
  readonly #threads: Threads

  constructor(threads: Threads) {
    this.#threads = threads
  }

  create(session: StoredSession) {
    return this.#threads.writer.call('createSession', session)
  }

  readSession(tenant: string, id: string) {
    return this.#threads.reader.call('readSession', tenant, id)
  }

  sessionById(tenant: string, id: string) {
    return this.#threads.reader.call('sessionById', tenant, id)
  }

  rotate(tenant: string, id: string, proof: HandleProof, next: Uint8Array, now: number) {
    return this.#threads.writer.call('rotateSession', tenant, id, proof, next, now)
  }

  giveBack(
    tenant: string,
    id: string,
    from: Uint8Array | null,
    to: Uint8Array | null,
    sealed: string | null,
  ) {
    return this.#threads.writer.call('giveBackSession', tenant, id, from, to, sealed)
  }

  claimRenewal(tenant: string, id: string, now: number, until: number) {
    return this.#threads.writer.call('claimRenewal', tenant, id, now, until)
  }

  renew(tenant: string, id: string, handle: Uint8Array | null, renewal: Renewal) {
    return this.#threads.writer.call('renewSession', tenant, id, handle, renewal)
  }

  end(tenant: string, id: string, now: number) {
    return this.#threads.writer.call('endSession', tenant, id, now)
  }

  prune(before: number, limit: number) {
    return this.#threads.writer.call('pruneSessions', before, limit)
  }
}
