/**
 * Pushes route tables to the store, at the instance that is asked to: each live instance prepares them, then
 * the feed activates them. Nothing has changed when it is refused.
 */

import {
  committedOf,
  type InstanceFaults,
  isRefusal,
  type PushTables,
  type RefusedTables,
  type Registry,
  type TableFault,
  type TablesCandidate,
  tablesDigest,
  type TablesService,
  type TablesStore,
} from '../../seats-admin/index.ts'
import type { Clock } from '../coherence/clock.ts'
import type { Instance } from '../coherence/instance.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/faults.ts'
import { ignore } from '../lib/ignore.ts'
import { faultsOf, type InstanceTables } from './instance-tables.ts'

/** Milliseconds between looks for answers. */
const LOOK_EVERY = 25
/** Milliseconds that an instance has to prepare tables while it gives signs of life. */
const PREPARED_WITHIN = 20_000

interface PushParts {
  readonly store: TablesStore & { readonly registry: Pick<Registry, 'reachable'> | null }
  readonly tables: InstanceTables
  readonly instance: Instance
  readonly clock: Pick<Clock, 'now' | 'after'>
}

export class TablePush implements TablesService<Config> {
  readonly #parts: PushParts

  constructor(parts: PushParts) {
    this.#parts = parts
  }

  readonly build: TablesService<Config>['build'] = async (files) => {
    const { tables, instance } = this.#parts
    try {
      return await tables.build(files)
    } catch (cause) {
      if (!(cause instanceof ConfigError)) throw cause
      return { faults: [{ instance: instance.id, faults: faultsOf(cause) }] }
    }
  }

  readonly push: PushTables = async (writer, files) => {
    const { store, instance } = this.#parts
    const config = await this.build(files)
    if (areRefused(config)) return config
    const digest = tablesDigest(files)
    const proposed = await store.proposeTables(writer, { files, digest })
    if (isRefusal(proposed)) return proposed
    const { id, base } = proposed.value
    const { hash, routes } = config
    if (id === null) {
      // The push of the same files may not be known everywhere yet.
      const instances = await instance.revoke(committedOf(proposed))
      return { version: base, hash, digest, isSame: true, instances }
    }
    await instance.announce(committedOf(proposed))
    const faults = await this.#faultsOfInstances({ id, base })
    if (faults.length > 0) {
      await this.#withdraw(id)
      return { faults }
    }
    const activated = await store.activateTables(writer, id, { hash, entries: routes.length })
    if (isRefusal(activated)) {
      await this.#withdraw(id)
      return activated
    }
    const instances = await instance.revoke(committedOf(activated))
    return { version: activated.value.version, hash, digest, isSame: false, instances }
  }

  /** If the store is away, the candidate stays until it is removed for its age: the refusal is known. */
  async #withdraw(candidate: string): Promise<void> {
    const { store, tables } = this.#parts
    await store.withdrawTables(tables.tenant, candidate).catch(ignore)
  }

  /**
   * Waits for the answer of each instance that may hold a lease, unless another version becomes active:
   * then the activation is refused.
   */
  async #faultsOfInstances({ id: candidate, base }: TablesCandidate): Promise<InstanceFaults[]> {
    const { store, tables, clock } = this.#parts
    // This instance may still decide by an earlier version, or by a later one of a store that was restored.
    const newest = Math.max(base, tables.active.version)
    const later = () => new Promise<void>((resolve) => void clock.after(LOOK_EVERY, resolve))
    const signs = new SignsOfLife(() => clock.now())
    for (const begun = clock.now(); ; await later()) {
      if (tables.active.version > newest) return []
      const asked = clock.now()
      const listed = await this.#listed()
      const answers = await store.candidateAnswers(tables.tenant, candidate)
      const missing = listed.filter(({ id, beat }) => signs.isAlive(id, beat, asked) && !answers.has(id))
      const isLate = clock.now() - begun > PREPARED_WITHIN
      if (missing.length > 0 && !isLate) continue
      const silent = missing.map(({ id }) => ({ instance: id, faults: [NOT_PREPARED] }))
      return [...answers]
        .map(([instance, text]) => ({ instance, faults: faultsIn(text) }))
        .concat(silent)
        .filter(({ faults }) => faults.length > 0)
    }
  }

  /** This instance too, which answers as the others do. */
  async #listed(): Promise<readonly { readonly id: string; readonly beat: number }[]> {
    const { store, instance } = this.#parts
    const own = { id: instance.id, beat: Number.NaN }
    const others = (await store.registry?.reachable()) ?? []
    return [own, ...others.filter(({ id, gone }) => !gone && id !== instance.id)]
  }
}

function areRefused(built: Config | RefusedTables): built is RefusedTables {
  return 'faults' in built
}

/** Which instances may hold a lease: those whose beat has changed within LEASE + MARGIN. */
class SignsOfLife {
  readonly #now: () => number
  readonly #seen = new Map<string, { readonly beat: number; readonly at: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * @param asked monotonic ms before the list was read: a store that is slow after it has read the list makes
   *   no instance silent
   */
  isAlive(id: string, beat: number, asked: number): boolean {
    const seen = this.#seen.get(id)
    if (seen === undefined || seen.beat !== beat) this.#seen.set(id, { beat, at: this.#now() })
    return seen === undefined || seen.beat !== beat || asked - seen.at < LEASE + MARGIN
  }
}

const NOT_PREPARED: TableFault = {
  file: '',
  line: 0,
  column: 0,
  message: 'the instance has not said in time that it is ready',
}

function faultsIn(answer: string): TableFault[] {
  return JSON.parse(answer)
}
