/** The front door in workers: a pool of processes on one port, which take each configuration together. See `doors.ts`. */

import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Registry } from 'prom-client'
import { systemClock } from './coherence/clock.ts'
import { History } from './coherence/history.ts'
import { Lease } from './coherence/lease.ts'
import { RemoteDecider } from './coherence/link.ts'
import type { Config } from './config/config.ts'
import { pack } from './config/transfer.ts'
import type { Doors } from './doors.ts'
import type { Membership } from './membership.ts'
import type { Log } from './telemetry/logger.ts'
import { MergedMetrics, type Snapshot } from './workers/merge.ts'
import { type Member, Pool } from './workers/pool.ts'

/** Milliseconds for a worker to say what it has counted. */
const METRICS_WAIT = 1000
/** Milliseconds beyond the drain for a worker to end by itself. */
const LAST_WAIT = 5000
const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url))

export class WorkerDoors implements Doors {
  readonly #pool: Pool
  readonly #log: Log
  readonly #merged = new MergedMetrics()
  readonly #deciders = new Map<number, RemoteDecider>()
  readonly #wanted: number
  #config: Config
  #address: AddressInfo | null = null

  private constructor(config: Config, membership: Membership, history: History, log: Log) {
    this.#config = config
    this.#wanted = config.workers
    this.#log = log
    this.#pool = new Pool({
      size: config.workers,
      exec: WORKER,
      env: process.env,
      listener: {
        started: ({ id, channel }) => {
          this.#deciders.set(id, new RemoteDecider(channel, membership.instance, history))
          channel.serve('config', () => pack(this.#forWorkers()))
        },
        ended: (member, how) => this.#ended(member, how),
        output: (lines) => log.relay(lines),
      },
    })
  }

  /** Rejects, with all workers ended, when one of them can't begin. */
  static async open(config: Config, membership: Membership, log: Log): Promise<Doors> {
    const { instance } = membership
    // What workers begin with: the primary decides nothing itself, but hears of all changes.
    const history = new History()
    instance.join(new Lease(instance, [history], systemClock))
    await instance.start()
    const doors = new WorkerDoors(config, membership, history, log)
    const [address] = await doors.#pool.start()
    doors.#address = address as AddressInfo
    return doors
  }

  get address(): AddressInfo {
    if (this.#address === null) throw new Error('not listening')
    return this.#address
  }

  /** Once a free port has been found, it stays that one, also when all workers have ended at once. */
  #forWorkers(): Config {
    const { listen } = this.#config
    return { ...this.#config, listen: { ...listen, port: this.#address?.port ?? listen.port } }
  }

  get workers() {
    return { running: this.#pool.members.length, wanted: this.#wanted }
  }

  /** First all compile it, and only then all put it into force. A worker that ends meanwhile is replaced by a new one. */
  async reload(config: Config): Promise<void> {
    const members = this.#pool.members
    await Promise.all(members.map(({ channel }) => channel.call('prepare', pack(config))))
    this.#config = config
    await Promise.allSettled(members.map(({ channel }) => channel.call('commit')))
  }

  async metrics(own: Registry): Promise<string> {
    await Promise.all(this.#pool.members.map((member) => this.#ask(member)))
    return this.#merged.text(await own.getMetricsAsJSON())
  }

  /** One that does not answer keeps the figures it gave last. */
  async #ask({ id, channel }: Member): Promise<void> {
    const late = new Promise((resolve) => setTimeout(resolve, METRICS_WAIT, null).unref())
    const snapshot = await Promise.race([channel.call('metrics'), late]).catch(() => null)
    if (snapshot !== null) this.#merged.heard(id, snapshot as Snapshot)
  }

  close(drain: number): Promise<void> {
    return this.#pool.close(async (member) => {
      const late = new Promise((resolve) => setTimeout(resolve, drain + LAST_WAIT).unref())
      await Promise.race([member.channel.call('end', drain), late])
    })
  }

  #ended({ id, pid }: Member, how: string): void {
    this.#deciders.get(id)?.ended()
    this.#deciders.delete(id)
    void this.#merged.ended(id)
    if (!this.#pool.closing) this.#log.logger.error({ pid, how }, 'a worker ended: another takes its place')
  }
}
