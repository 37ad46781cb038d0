/** The pool of workers: starts them, checks that they respond, replaces those that end, and ends them. */

import cluster, { type Worker } from 'node:cluster'
import type { Patience } from '../extensions.ts'
import { Channel } from './channel.ts'

interface PoolListener {
  /** Called before the worker's first message. */
  forked(worker: PoolWorker): void
  /** The worker has responded to `begin` and serves requests. */
  ready(worker: PoolWorker, response: unknown): void
  /** The worker could not begin, and is killed. */
  failed(worker: PoolWorker, cause: Error): void
  /** The worker's process has ended: by itself, by a crash, or killed because it did not respond. */
  ended(worker: PoolWorker, how: string): void
  /** One or more whole lines of its output. */
  output(lines: string): void
}

export interface PoolWorker {
  /** Increases with each worker. */
  readonly id: number
  readonly pid: number
  readonly channel: Channel
  kill(): void
}

/** Milliseconds until an ended worker is replaced. The delay doubles for workers that crash at once. */
const REPLACE_FIRST = 10
const REPLACE_LAST = 5000
/** Milliseconds of life that reset the delay. */
const STABLE = 10_000
/** Milliseconds between liveness calls. */
const PING_EVERY = 1000
/**
 * Milliseconds before a worker is killed that has never responded: loading its modules takes long on a busy
 * machine.
 */
const STARTING = 60_000

interface PoolOptions {
  /** The number of workers. */
  readonly size: number
  /** The path of the program that each of them runs. */
  readonly worker: string
  readonly patience: Pick<Patience, 'unresponsive'>
}

export class Pool {
  readonly size: number
  readonly #patience: PoolOptions['patience']
  readonly #listener: PoolListener
  readonly #workers = new Map<Worker, PoolWorker>()
  readonly #ready = new Set<PoolWorker>()
  /** True from the beginning of `close` on. */
  closing = false
  #delay = REPLACE_FIRST

  constructor({ size, worker, patience }: PoolOptions, listener: PoolListener) {
    this.size = size
    this.#patience = patience
    this.#listener = listener
    // Workers listen to SIGUSR1 themselves, too: this is for the moment before.
    const execArgv = ['--disable-sigusr1']
    cluster.setupPrimary({ exec: worker, args: [], execArgv, silent: true, serialization: 'advanced' })
  }

  get workers(): PoolWorker[] {
    return [...this.#ready]
  }

  /** Resolves once all are ready; rejects, with all ended, when one can't. */
  async start(): Promise<void> {
    try {
      // The first worker determines the port if the configuration leaves it open.
      await this.#begin(this.#fork())
      const others = Array.from({ length: this.size - 1 }, () => this.#begin(this.#fork()))
      await Promise.all(others)
    } catch (cause) {
      await this.close(() => Promise.resolve())
      throw cause
    }
  }

  /** @param end requests the end of a worker; a worker that runs after that is killed */
  async close(end: (worker: PoolWorker) => Promise<unknown>): Promise<void> {
    this.closing = true
    await Promise.all(
      [...this.#workers].map(async ([clusterWorker, worker]) => {
        const gone = new Promise((resolve) => clusterWorker.once('exit', resolve))
        await end(worker).catch(() => {})
        clusterWorker.process.kill('SIGKILL')
        await gone
      }),
    )
  }

  #fork(): PoolWorker {
    const clusterWorker = cluster.fork(process.env)
    const channel = new Channel({
      send: (message) =>
        void (clusterWorker.isConnected() && clusterWorker.send(message as object, () => {})),
      onMessage: (receive) => clusterWorker.on('message', receive),
    })
    const kill = () => void clusterWorker.process.kill('SIGKILL')
    const worker: PoolWorker = { id: clusterWorker.id, pid: clusterWorker.process.pid ?? 0, channel, kill }
    this.#workers.set(clusterWorker, worker)
    this.#relay(clusterWorker)
    this.#listener.forked(worker)
    const startedAt = performance.now()
    const watch = this.#watch(clusterWorker, channel)
    clusterWorker.once('exit', (code, signal) => {
      watch()
      this.#workers.delete(clusterWorker)
      this.#ready.delete(worker)
      channel.end()
      this.#listener.ended(worker, signal ?? `exit code ${code}`)
      if (!this.closing) this.#replace(performance.now() - startedAt)
    })
    return worker
  }

  #replace(lived: number): void {
    this.#delay = lived > STABLE ? REPLACE_FIRST : Math.min(this.#delay * 2, REPLACE_LAST)
    setTimeout(() => {
      if (this.closing) return
      const worker = this.#fork()
      this.#begin(worker).catch((cause: Error) => this.#giveUp(worker, cause))
    }, this.#delay)
  }

  async #begin(worker: PoolWorker): Promise<void> {
    const response = await worker.channel.call('begin')
    this.#ready.add(worker)
    this.#listener.ready(worker, response)
  }

  /** Kills the worker. Its exit starts a replacement, with a growing delay while no worker can begin. */
  #giveUp(worker: PoolWorker, cause: Error): void {
    if (this.closing) return
    this.#listener.failed(worker, cause)
    worker.kill()
  }

  /** A worker that does not respond would keep its connections waiting. */
  #watch(clusterWorker: Worker, channel: Channel): () => void {
    let respondedAt = performance.now()
    let hasResponded = false
    let pingedAt = respondedAt
    const timer = setInterval(() => {
      const now = performance.now()
      // This process stood still itself: the missing response says nothing about the worker.
      if (now - pingedAt > 2 * PING_EVERY) respondedAt = now
      pingedAt = now
      const { unresponsive } = this.#patience
      if (now - respondedAt > (hasResponded ? unresponsive : Math.max(STARTING, unresponsive)))
        clusterWorker.process.kill('SIGKILL')
      channel.call('alive').then(
        () => {
          respondedAt = performance.now()
          hasResponded = true
        },
        () => {},
      )
    }, PING_EVERY)
    timer.unref()
    return () => clearInterval(timer)
  }

  /** Relays whole lines only, as several workers share one output. */
  #relay(clusterWorker: Worker): void {
    let rest = ''
    clusterWorker.process.stdout?.setEncoding('utf8')
    clusterWorker.process.stdout?.on('data', (text: string) => {
      const end = text.lastIndexOf('\n') + 1
      if (end > 0) this.#listener.output(rest + text.slice(0, end))
      rest = end > 0 ? text.slice(end) : rest + text
    })
    clusterWorker.process.stderr?.on('data', (chunk: Buffer) => process.stderr.write(chunk))
  }
}
