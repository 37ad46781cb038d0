/**
 * Load on a fleet. Readers send requests to all gateways continuously, each on a connection of its own. Writers change the
 * subjects. After each acknowledged write, every gateway gets requests about its subjects at once.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { until } from '../support/servers/wait.ts'
import { type LoadState, pick, type Subject, Tally } from './load-state.ts'
import type { Fleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { byClient, AnswerChecker } from './answer-checker.ts'
import { PipelinedConnection } from './pipelined-connection.ts'
import { SCRIPTS } from './scripts.ts'
import { write } from './writers.ts'

export interface LoadOptions {
  /** Reader connections for each gateway. */
  readonly readers?: number
  /** One for each script by default. */
  readonly writers?: number
  /** Gateways that receive writes; left out: those that are awake. */
  readonly through?: (gateway: FleetGateway) => boolean
}

/** Maximum milliseconds between a reader's requests: the machine has other work. */
const PAUSE = 20
/** Connections to one gateway for the requests after a write; many wait while it is stopped. */
const PROBES = 200
/** Pipelined connections to a stopped gateway: several for each of its workers. */
const PIPELINED = 6

export class Load implements LoadState {
  readonly fleet: Fleet
  readonly tally = new Tally()
  readonly subjects = new Set<Subject>()
  readonly clients: ReadonlyMap<FleetGateway, Client>
  readonly #checker = new AnswerChecker(this.tally)
  readonly #probes: ReadonlyMap<FleetGateway, Client>
  readonly #pipelined = new Map<FleetGateway, readonly PipelinedConnection[]>()
  readonly #options: LoadOptions
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

  /** Resolves when this many more writes have been answered with 2xx. */
  async written(more: number): Promise<void> {
    const { writes } = this.tally
    const goal = writes.length + more
    const last = () => `only ${writes.length} of ${goal} writes were answered`
    // Halves the rest each time, so that each wait has its own timeout on a busy machine.
    while (writes.length < goal) {
      const half = Math.ceil((writes.length + goal) / 2)
      await until(() => this.#throwIfCrashed() && writes.length >= half, last)
    }
  }

  /** Resolves when a gateway has decided this many more requests. */
  async decided({ name }: FleetGateway, more: number): Promise<void> {
    const { decided } = this.tally
    const goal = (decided.get(name) ?? 0) + more
    const isDone = () => this.#throwIfCrashed() && (decided.get(name) ?? 0) >= goal
    await until(isDone, () => `gateway ${name} decides nothing`)
  }

  /** Ends the writers; the readers continue. */
  endWrites(): void {
    this.#ending = true
  }

  /** Stops a gateway or some of its processes meanwhile, with pipelined requests about each write in its sockets. */
  async whileStopped(
    gateway: FleetGateway,
    { stop, go }: { stop(): Promise<void> | void; go(): void },
    meanwhile: () => Promise<unknown>,
  ): Promise<void> {
    const pipelined = await Promise.all(
      Array.from({ length: PIPELINED }, () => PipelinedConnection.open(gateway)),
    )
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
    for (const connection of pipelined) connection.close()
  }

  readonly writable = (): FleetGateway[] => {
    const { through = () => true } = this.#options
    return this.fleet.gateways.filter((gateway) => gateway.awake && through(gateway))
  }

  readonly stopped = (gateway: FleetGateway): boolean => this.#pipelined.has(gateway)

  readonly probe = (subjects: readonly Subject[]): void => {
    for (const [gateway, client] of this.#probes) {
      const requesters = [byClient(client), ...(this.#pipelined.get(gateway) ?? [])]
      for (const subject of subjects)
        for (const requester of requesters) void this.#checker.ask(gateway, requester, subject)
    }
  }

  /** @param during the scenario */
  async run(during: (load: Load) => Promise<void>): Promise<Tally> {
    const { readers = 4, writers = SCRIPTS.length } = this.#options
    const writing = Array.from({ length: writers }, (_, turn) => write(this, turn, () => this.#ending))
    const readersOf = (gateway: FleetGateway) => Array.from({ length: readers }, () => this.#read(gateway))
    const reading = this.fleet.gateways.flatMap(readersOf)
    const written = Promise.all(writing)
    try {
      const failed = new Promise<never>((_, reject) => void written.catch(reject))
      await Promise.race([during(this), failed])
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
