/**
 * A fleet under load. Readers ask all gateways all the time, each on a connection of its own; writers change what is
 * asked about; and when a write has been answered, every gateway is asked at once about whom it concerned.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { until } from '../support/servers/wait.ts'
import { type Board, pick, type Subject, Tally } from './board.ts'
import type { Fleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { byClient, Judge } from './judge.ts'
import { Line } from './line.ts'
import { write } from './writers.ts'

export interface LoadOptions {
  /** Connections for each gateway that ask all the time. */
  readonly readers?: number
  readonly writers?: number
  /** Gateways that writes go through; left out: those that are awake. */
  readonly through?: (gateway: FleetGateway) => boolean
}

/** Milliseconds between an answer and a reader's next question, at most: the machine has other work too. */
const PAUSE = 20
/** Connections to one gateway for what is asked after a write; many wait while it stands still. */
const PROBES = 200
/** Connections that stand in line before a gateway that stands still: some for each of its workers. */
const LINES = 6

export class Load implements Board {
  readonly fleet: Fleet
  readonly tally = new Tally()
  readonly subjects = new Set<Subject>()
  readonly clients: ReadonlyMap<FleetGateway, Client>
  readonly #judge = new Judge(this.tally)
  readonly #probes: ReadonlyMap<FleetGateway, Client>
  readonly #lines = new Map<FleetGateway, readonly Line[]>()
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

  /** Resolves when so many more writes have been answered 2xx. */
  async written(more: number): Promise<void> {
    const { writes } = this.tally
    const goal = writes.length + more
    const last = () => `only ${writes.length} of ${goal} writes were answered`
    // Half of it each time, so that a machine with much else to do gets its time.
    while (writes.length < goal) {
      const half = Math.ceil((writes.length + goal) / 2)
      await until(() => this.#mustLive() && writes.length >= half, last)
    }
  }

  /** Resolves when a gateway has decided so many more requests. */
  async decided({ name }: FleetGateway, more: number): Promise<void> {
    const { decided } = this.tally
    const goal = (decided.get(name) ?? 0) + more
    const isDone = () => this.#mustLive() && (decided.get(name) ?? 0) >= goal
    await until(isDone, () => `gateway ${name} decides nothing`)
  }

  /** No more writes; questions go on. */
  endWrites(): void {
    this.#ending = true
  }

  /** Stops a gateway, or processes of it, meanwhile; questions about what is written stand in line before it. */
  async whileStopped(
    gateway: FleetGateway,
    { stop, go }: { stop(): Promise<void> | void; go(): void },
    meanwhile: () => Promise<unknown>,
  ): Promise<void> {
    const lines = await Promise.all(Array.from({ length: LINES }, () => Line.open(gateway)))
    const ask = () =>
      Promise.all(lines.map((line) => this.#judge.ask(gateway, line, pick([...this.subjects]))))
    // Answered, hence accepted: by a worker that may stand still next.
    await ask()
    gateway.interruptions++
    await stop()
    void ask()
    this.#lines.set(gateway, lines)
    try {
      await meanwhile()
    } finally {
      this.#lines.delete(gateway)
      go()
    }
    await this.#judge.settled()
    for (const line of lines) line.close()
  }

  readonly writable = (): FleetGateway[] => {
    const { through = () => true } = this.#options
    return this.fleet.gateways.filter((gateway) => gateway.awake && through(gateway))
  }

  readonly stopped = (gateway: FleetGateway): boolean => this.#lines.has(gateway)

  readonly probe = (subjects: readonly Subject[]): void => {
    for (const [gateway, client] of this.#probes) {
      const askers = [byClient(client), ...(this.#lines.get(gateway) ?? [])]
      for (const subject of subjects)
        for (const asker of askers) void this.#judge.ask(gateway, asker, subject)
    }
  }

  /** @param during what is done to the fleet meanwhile */
  async run(during: (load: Load) => Promise<void>): Promise<Tally> {
    const { readers = 4, writers = 5 } = this.#options
    const writing = Array.from({ length: writers }, (_, turn) => write(this, turn, () => this.#ending))
    const readersOf = (gateway: FleetGateway) => Array.from({ length: readers }, () => this.#read(gateway))
    const reading = this.fleet.gateways.flatMap(readersOf)
    const written = Promise.all(writing)
    try {
      const failed = new Promise<never>((_, reject) => void written.catch(reject))
      await Promise.race([during(this), failed])
      this.#ending = true
      await written
      // What all gateways say in the end is what was written last: nothing that was answered is lost.
      this.probe([...this.subjects])
    } finally {
      this.#ending = true
      this.#ended = true
      await Promise.allSettled([...writing, ...reading])
      await this.#judge.settled()
      for (const client of [...this.clients.values(), ...this.#probes.values()]) client.close()
    }
    return this.tally
  }

  async #read(gateway: FleetGateway): Promise<void> {
    const client = new Client(gateway.port)
    const asker = byClient(client)
    while (!this.#ended) {
      if (this.subjects.size > 0) await this.#judge.ask(gateway, asker, pick([...this.subjects]))
      await sleep(Math.random() * PAUSE)
    }
    client.close()
  }

  /** Nobody waits for what the dead would do. */
  #mustLive(): true {
    for (const { name, crash } of this.fleet.gateways)
      if (crash !== null) throw new Error(`gateway ${name} has ended:\n${crash}`)
    return true
  }
}
