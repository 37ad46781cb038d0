/** The embedded store: an SQLite file, accessed by three threads. */

import { resolve } from 'node:path'
import type { Store } from '../store.ts'
import type { Owner } from './calls.ts'
import { PATIENCE } from '../seats-file-rules.ts'
import { Threads } from './threads.ts'

/** `timeout`: milliseconds until a call rejects. Tests set more, so that none of their calls fails on a slow machine. */
export const defaults = { timeout: 2000 }

export interface SqliteOptions {
  /** The database file. A missing file or folder is created; a file that is not a store is refused. */
  readonly path: string
  /** Milliseconds until a call rejects with StoreUnavailable. */
  readonly timeout?: number
  /** Set by a process of a gateway, which decides on this store only as its owner. */
  readonly owner?: Owner
}

/** Rejects with a StoreUnavailable whose message states the fault. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, timeout = defaults.timeout, owner = null } = options
  const threads = new Threads(resolve(path), timeout, owner)
  try {
    await threads.open()
    return storeOf(threads, owner)
  } catch (cause) {
    await threads.close()
    throw cause
  }
}

/** Assigns the methods to the threads. The reads of the request path must not wait for the writer's disk access. */
function storeOf(threads: Threads, owner: Owner | null): Store {
  const { reader, lister, writer, health, alone, supersession } = threads
  const changesSince = reader.method('changesSince')
  /** The reader's start count at the last feed reading. */
  let followed = 1
  return {
    registry: null,
    ownership: owner === null ? null : { alone, superseded: supersession },
    health,
    grantByName: reader.method('grantByName'),
    grantById: reader.method('grantById'),
    spacesByName: reader.method('spacesByName'),
    seatByName: reader.method('seatByName'),
    seatById: reader.method('seatById'),
    apiKeyById: reader.method('apiKeyById'),
    /**
     * A restarted thread may have opened another file. Its marks would show that; to be safe, the memory is also
     * cleared once. A reading from null has no earlier state.
     */
    async changesSince(position) {
      const found = await changesSince(position)
      const { starts } = reader
      if (position === null || starts === followed) return found
      followed = starts
      return { head: found.head, changes: null }
    },
    blocks: reader.method('blocks'),
    userBlock: reader.method('userBlock'),
    readSeat: lister.method('readSeat'),
    listSeats: lister.method('listSeats'),
    readApiKey: lister.method('readApiKey'),
    listApiKeys: lister.method('listApiKeys'),
    listBlocks: lister.method('listBlocks'),
    readUser: lister.method('readUser'),
    listUsers: lister.method('listUsers'),
    createSeat: writer.method('createSeat'),
    updateSeat: writer.method('updateSeat'),
    deleteSeat: writer.method('deleteSeat'),
    planSeats: lister.method('planSeats', PATIENCE),
    seatHolders: lister.method('seatHolders'),
    isAdministered: lister.method('isAdministered'),
    applySeats: writer.method('applySeats', PATIENCE),
    createApiKey: writer.method('createApiKey'),
    revokeApiKey: writer.method('revokeApiKey'),
    createBlock: writer.method('createBlock'),
    deleteBlock: writer.method('deleteBlock'),
    recordKeyUse: writer.method('recordKeyUse'),
    recordSignIn: writer.method('recordSignIn'),
    listSessions: lister.method('listSessions'),
    endSession: writer.method('endSession'),
    bootstrap: writer.method('bootstrap'),
    audit: {
      head: reader.method('audit.head'),
      list: lister.method('audit.list'),
      chain: lister.method('audit.chain'),
      prune: writer.method('audit.prune'),
    },
    sessions: {
      readSession: reader.method('sessions.readSession'),
      sessionById: reader.method('sessions.sessionById'),
      create: writer.method('sessions.create'),
      rotate: writer.method('sessions.rotate'),
      giveBack: writer.method('sessions.giveBack'),
      claimRenewal: writer.method('sessions.claimRenewal'),
      renew: writer.method('sessions.renew'),
      end: writer.method('sessions.end'),
      endByProvider: writer.method('sessions.endByProvider'),
      endSome: writer.method('sessions.endSome'),
      recordLogout: writer.method('sessions.recordLogout'),
      loggedOutSince: reader.method('sessions.loggedOutSince'),
      recordToken: writer.method('sessions.recordToken'),
      prune: writer.method('sessions.prune'),
    },
    close: () => threads.close(),
  }
}
