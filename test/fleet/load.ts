/**
 * Load on a fleet. Readers send requests to all gateways continuously, each on a connection of its own. Writers change the
 * subjects. After each acknowledged write, every gateway gets requests about its subjects at once.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { amount } from '../support/thorough.ts'
import { until } from '../support/until.ts'
import { pick, type Subject, Tally } from './load-state.ts'
import type { Fleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { byClient, AnswerChecker } from './answer-checker.ts'
import { type PipelinedConnection, pipelinedConnection } from './pipelined-connection.ts'
import { type Script, SCRIPTS } from './scripts.ts'
import { Unanswered, Writing } from './writing.ts'

export interface LoadOptions {
  /** Reader connections for each gateway. */
  readonly readers?: number
  /** Gateways that receive writes; left out: those that are awake. */
  readonly through?: (gateway: FleetGateway) => boolean
  /** The run ends with its scenario, however few writes and requests it had. */
  readonly short?: boolean
}

/** Maximum milliseconds between a reader's requests: the machine has other work. */
const PAUSE = 40
/** Connections to one gateway for the requests after a write; many wait while it is stopped. */
const PROBES = 200
/** Pipelined connections to a stopped gateway: several for each of its workers. */
const PIPELINED = 6

/** Of the writes and requests that a scenario asks for, and of those that each run has. */
const SHARE = amount({ usual: 0.5, thorough: 1 })

/** Writes and requests of a run at least, however slow the machine is. */
export const LEAST_WRITES = 100 * SHARE
export const LEAST_REQUESTS = 500 * SHARE

/** Scripts that have begun, for the names of their Seats. */
let scripts = 0

export class Load {
  readonly fleet: Fleet
  readonly tally = new Tally()
  /** Subjects that readers may use. */
  readonly subjects = new Set<Subject>()
  /** Connections for writes, by gateway. */
  readonly clients: ReadonlyMap<FleetGateway, Client>
  readonly #checker = new AnswerChecker(this.tally)
  readonly #probes: ReadonlyMap<FleetGateway, Client>
  readonly #pipelined = new Map<FleetGateway, readonly PipelinedConnection[]>()
  readonly #options: LoadOptions
  /** Resolves once the writers have ended. */
  #writing: Promise<unknown> = Promise.resolve()
  #ending = false
  #ended = false

  constructor(fleet: Fleet, options: LoadOptions = {}) {
    this.fleet = fleet
    this.#options = options
    const clients = () =>
      new Map(fleet.gateways.map((gateway) => [gateway, new Client(gateway.port, PROBES)]))
    this.clients = clients()
    this.#probes = clients()
  }

  /** Resolves when this many more writes, or half as many in a usual run, have been answered with 2xx. */
  async written(more: number): Promise<void> {
    await this.#counted(() => this.tally.writes.length, Math.ceil(more * SHARE), 'writes were answered')
  }

  /** Resolves when a gateway has decided this many more requests. */
  async decided({ name }: FleetGateway, more: number): Promise<void> {
    const { decided } = this.tally
    await this.#counted(() => decided.get(name) ?? 0, more, `requests were decided by gateway ${name}`)
  }

  /** Resolves when the count has grown by `more`. Each half of the rest has a patience of its own, on a busy machine. */
  async #counted(count: () => number, more: number, what: string): Promise<void> {
    const goal = count() + more
    while (count() < goal) {
      const half = Math.ceil((count() + goal) / 2)
      const isDone = () => this.#throwIfCrashed() && count() >= half
      await until(isDone, () => `only ${count()} of ${goal} ${what}`)
    }
  }

  /** The load goes on behind the scenario, unless that has ended the writers. */
  async #enough(): Promise<void> {
    if (this.#ending || this.#options.short) return
    const { tally } = this
    await this.#counted(() => tally.writes.length, LEAST_WRITES - tally.writes.length, 'writes were answered')
    await this.#counted(() => tally.requests, LEAST_REQUESTS - tally.requests, 'requests were answered')
  }

  /** Ends the writers; the readers continue. Resolves when no write is in flight. */
  async endWrites(): Promise<void> {
    this.#ending = true
    await this.#writing
  }

  /** Stops a gateway or some of its processes meanwhile, with pipelined requests about each write in its sockets. */
  async whileStopped(
    gateway: FleetGateway,
    { stop, go }: { stop(): Promise<void> | void; go(): void },
    meanwhile: () => Promise<unknown>,
  ): Promise<void> {
    const pipelined = Array.from({ length: PIPELINED }, () => pipelinedConnection(gateway))
    const ask = () =>
      Promise.all(
        pipelined.map((connection) => this.#checker.ask(gateway, connection, pick([...this.subjects]))),
      )
    // An answer shows that a worker, which may be stopped next, has accepted the connection.
    await ask()
    gateway.interruptions++
    await stop()
    void ask()
    this.#pipelined.set(gateway, pipelined)
    try {
      await meanwhile()
    } finally {
      this.#pipelined.delete(gateway)
      go()
    }
    await this.#checker.settled()
    await Promise.all(pipelined.map((connection) => connection.close()))
  }

  /** Gateways that receive writes: those that are awake, unless the scenario limits them. */
  readonly writable = (): FleetGateway[] => {
    const { through = () => true } = this.#options
    return this.fleet.gateways.filter((gateway) => gateway.awake && through(gateway))
  }

  /** Whether processes of the gateway are stopped. */
  readonly stopped = (gateway: FleetGateway): boolean => this.#pipelined.has(gateway)

  /** Sends a request about each subject to every gateway at once, without waiting. */
  readonly probe = (subjects: readonly Subject[]): void => {
    for (const [gateway, client] of this.#probes) {
      const requesters = [byClient(client), ...(this.#pipelined.get(gateway) ?? [])]
      for (const subject of subjects)
        for (const requester of requesters) void this.#checker.ask(gateway, requester, subject)
    }
  }

  /** @param during the scenario */
  async run(during: (load: Load) => Promise<void>): Promise<Tally> {
    const { readers = 2 } = this.#options
    const writing = SCRIPTS.map((script) => this.#write(script))
    const readersOf = (gateway: FleetGateway) => Array.from({ length: readers }, () => this.#read(gateway))
    const reading = this.fleet.gateways.flatMap(readersOf)
    const written = Promise.all(writing)
    this.#writing = written
    try {
      const failed = new Promise<never>((_, reject) => void written.catch(reject))
      await Promise.race([during(this).then(() => this.#enough()), failed])
      this.#ending = true
      await written
      // In the end all gateways must give the last state written: no acknowledged write is lost.
      this.probe([...this.subjects])
    } finally {
      this.#ending = true
      this.#ended = true
      await Promise.allSettled([...writing, ...reading])
      await this.#checker.settled()
      for (const client of [...this.clients.values(), ...this.#probes.values()]) client.close()
    }
    return this.tally
  }

  /**
   * Writes by the script, through random gateways, one write at a time. The outcome of a write without a 2xx is
   * unknown, so that the script begins again, with new Seats and keys.
   */
  async #write(script: Script): Promise<void> {
    while (!this.#ending) {
      const writing = new Writing(this)
      try {
        for await (const _ of script(writing, `${script.name}-${++scripts}`)) if (this.#ending) return
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error
        writing.end()
        // A store that is gone refuses at once.
        await sleep(Math.random() * PAUSE)
      }
    }
  }

  async #read(gateway: FleetGateway): Promise<void> {
    const client = new Client(gateway.port)
    const requester = byClient(client)
    while (!this.#ended) {
      if (this.subjects.size > 0) await this.#checker.ask(gateway, requester, pick([...this.subjects]))
      await sleep(Math.random() * PAUSE)
    }
    client.close()
  }

  /** Fails at once if a gateway has crashed, instead of waiting for it. */
  #throwIfCrashed(): true {
    for (const { name, crash } of this.fleet.gateways)
      if (crash !== null) throw new Error(`gateway ${name} has ended:\n${crash}`)
    return true
  }
}
