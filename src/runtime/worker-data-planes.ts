/** The front door in workers: a pool of processes on one port, which take each configuration together. See `data-planes.ts`. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Registry } from 'prom-client'
import type { HealthState } from '../../seats-admin/index.ts'
import { systemClock } from '../coherence/clock.ts'
import { History } from '../coherence/history.ts'
import { Lease } from '../coherence/lease.ts'
import { RemoteDecider } from '../coherence/worker-link.ts'
import type { Address, Config } from '../config/config.ts'
import { pack } from '../config/transfer.ts'
import type { DataPlanes } from './data-planes.ts'
import type { FleetNode } from './fleet-node.ts'
import { serveEphemeral } from '../oidc/sign-in/remote-ephemeral.ts'
import { kernelShares, listen } from '../http/server/listen.ts'
import type { Log } from '../telemetry/logger.ts'
import { MergedMetrics, type Snapshot } from './workers/merge.ts'
import { type Member, Pool } from './workers/pool.ts'

/** Milliseconds for a worker to say what it has counted. */
const METRICS_WAIT = 1000
/** Milliseconds beyond the drain for a worker to end by itself. */
const LAST_WAIT = 5000
const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url))

export class WorkerDataPlanes implements DataPlanes {
  readonly #pool: Pool
  readonly #log: Log
  readonly #merged = new MergedMetrics()
  readonly #deciders = new Map<number, RemoteDecider>()
  readonly #wanted: number
  readonly #node: FleetNode
  #config: Config
  /** Grows with each configuration; what each worker runs. */
  #version = 1
  readonly #versions = new Map<number, number>()
  #address: AddressInfo | null = null

  private constructor(config: Config, node: FleetNode, history: History, log: Log) {
    this.#config = config
    this.#node = node
    this.#wanted = config.workers
    this.#log = log
    this.#pool = new Pool({
      size: config.workers,
      exec: WORKER,
      env: process.env,
      listener: {
        started: ({ id, channel }) => {
          this.#deciders.set(id, new RemoteDecider(channel, node.instance, history))
          serveEphemeral(channel, node.ephemeral)
          channel.serve('store', (state) => node.heardOf(id, state as HealthState))
          channel.serve('config', () => ({
            version: this.#version,
            config: pack(this.#forWorkers()),
            owner: node.owner,
          }))
        },
        begun: (member, answer) => this.#begun(member, answer as Begun),
        failed: ({ pid }, cause) =>
          log.logger.error({ pid, cause: messageOf(cause) }, 'a worker could not begin: another is started'),
        ended: (member, how) => this.#ended(member, how),
        output: (lines) => log.relay(lines),
      },
    })
  }

  /** Rejects, with all workers ended, when one of them can't begin. */
  static async open(config: Config, node: FleetNode, log: Log): Promise<DataPlanes> {
    const { instance } = node
    // What workers begin with: the primary decides nothing itself, but hears of all changes.
    const history = new History()
    instance.join(new Lease(instance, [history], systemClock))
    await node.start()
    const dataPlanes = new WorkerDataPlanes(config, node, history, log)
    if (kernelShares) await refuseTaken(config.listen)
    await dataPlanes.#pool.start()
    return dataPlanes
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

  /** First all compile it, and only then all put it into force; those that begin meanwhile are brought up to date. */
  async reload(config: Config): Promise<void> {
    const members = this.#pool.members
    const prepared = await Promise.allSettled(
      members.map(({ channel }) => channel.call('prepare', pack(config))),
    )
    // One that has ended meanwhile says nothing about the configuration.
    const refused = prepared.find(({ status }, at) => status === 'rejected' && this.#takesPart(members[at]))
    if (refused?.status === 'rejected') throw refused.reason
    this.#config = config
    this.#version++
    await Promise.allSettled(members.map((member) => this.#commit(member, this.#version)))
    await Promise.allSettled(this.#pool.members.map((member) => this.#update(member)))
  }

  #takesPart(member: Member | undefined): boolean {
    return member !== undefined && this.#pool.members.includes(member)
  }

  #begun(member: Member, { address, version }: Begun): void {
    this.#address ??= address
    this.#versions.set(member.id, version)
    void this.#update(member)
  }

  /** One that can't be brought up to date would decide by rules that are gone. */
  async #update(member: Member): Promise<void> {
    const version = this.#version
    if (this.#versions.get(member.id) === version) return
    try {
      await member.channel.call('prepare', pack(this.#config))
      await this.#commit(member, version)
    } catch {
      member.kill()
    }
  }

  async #commit({ id, channel }: Member, version: number): Promise<void> {
    await channel.call('commit')
    this.#versions.set(id, version)
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
    this.#node.heardOf(id, null)
    this.#deciders.get(id)?.ended()
    this.#deciders.delete(id)
    this.#versions.delete(id)
    void this.#merged.ended(id)
    if (!this.#pool.closing) this.#log.logger.error({ pid, how }, 'a worker ended: another takes its place')
  }
}

/**
 * Sockets that share a port share it with anybody of the same user: another gateway's would go unnoticed, and each
 * would get half of the other's connections. One that doesn't share can't be had where another is.
 */
async function refuseTaken(address: Address): Promise<void> {
  if (address.port === 0) return
  const probe = createServer()
  await listen(probe, address)
  await new Promise((resolve) => probe.close(resolve))
}

/** What a worker answers when it has begun. */
interface Begun {
  readonly address: AddressInfo
  /** Of the configuration that it runs. */
  readonly version: number
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
