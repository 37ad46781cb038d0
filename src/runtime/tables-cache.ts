/**
 * The file with the last active tables of the store (`tables.cache`), with which a gateway starts while the
 * store is away. It decides nothing by them before it has read the store.
 */

import { readFile, rename, writeFile } from 'node:fs/promises'
import { type ActiveTables, tablesDigest } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'

export class TablesCache {
  readonly #path: string
  readonly #tenant: string
  readonly #log: Log
  /** The digest that the file has; null: it is not known. */
  #written: string | null = null
  /** Settles with the newest writing. */
  #last: Promise<void> = Promise.resolve()

  constructor(path: string, tenant: string, log: Log) {
    this.#path = path
    this.#tenant = tenant
    this.#log = log
  }

  /** @returns null without a file, and for one of another tenant or with other texts than it says */
  async read(): Promise<ActiveTables | null> {
    try {
      const { tenant, version, digest, files } = JSON.parse(await readFile(this.#path, 'utf8'))
      const isWhole = Number.isSafeInteger(version) && typeof files === 'object' && files !== null
      if (tenant !== this.#tenant || !isWhole || tablesDigest(files) !== digest) return null
      this.#written = digest
      return { version, digest, files }
    } catch {
      return null
    }
  }

  /** Replaces the file. A failure is logged: the gateway needs the file only for a start without the store. */
  write({ version, digest, files }: ActiveTables): void {
    const text = JSON.stringify({ tenant: this.#tenant, version, digest, files })
    this.#last = this.#last.then(() => this.#replace(text, digest))
  }

  /** Resolves once nothing is being written. */
  settled(): Promise<void> {
    return this.#last
  }

  async #replace(text: string, digest: string): Promise<void> {
    if (digest === this.#written) return
    const next = `${this.#path}.${process.pid}.new`
    try {
      await writeFile(next, text, { mode: 0o600 })
      await rename(next, this.#path)
      this.#written = digest
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      this.#log.logger.warn(
        { why },
        'the tables of the store cannot be kept in a file: without the store, this gateway would not start',
      )
    }
  }
}
