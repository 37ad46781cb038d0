/** The workers of a primary: started, watched, replaced when they end, told to end. */

import cluster, { type Worker } from 'node:cluster'
import { Channel } from './channel.ts'

export interface PoolOptions {
  readonly size: number
  /** The file a worker runs. */
  readonly exec: string
  readonly env: NodeJS.ProcessEnv
  readonly listener: PoolListener
}

export interface PoolListener {
  /** Before the worker's first message. */
  started(member: Member): void
  /** It has answered to `begin`, and takes part from now on. */
  begun(member: Member, answer: unknown): void
  /** It could not begin, and is ended for it. */
  failed(member: Member, cause: unknown): void
  /** Its process has ended: of itself, by a crash, or for its silence. */
  ended(member: Member, how: string): void
  /** A whole line, or several, of its output. */
  output(lines: string): void
}

export interface Member {
  /** Grows with each worker started. */
  readonly id: number
  readonly pid: number
  readonly channel: Channel
  kill(): void
}

/** Milliseconds until a crashed worker is replaced: at once, but one that crashes at once not ever faster. */
const REPLACE_FIRST = 10
const REPLACE_MOST = 5000
/** Milliseconds of life after which a worker counts as well begun. */
const WELL_BEGUN = 10_000
/** Milliseconds between two questions to a worker, and after which one that does not answer is ended. */
const ASK_EVERY = 1000
const SILENT = 10_000

export class Pool {
  readonly #options: PoolOptions
  readonly #members = new Map<Worker, Member>()
  readonly #begun = new Set<Member>()
  #closing = false
  #delay = REPLACE_FIRST

  constructor(options: PoolOptions) {
    this.#options = options
    cluster.setupPrimary({
      exec: options.exec,
      args: [],
      execArgv: [],
      silent: true,
      serialization: 'advanced',
    })
  }

  get closing(): boolean {
    return this.#closing
  }

  /** Those that take part. */
  get members(): Member[] {
    return [...this.#begun]
  }

  /** Resolves once all have begun; rejects, with all ended, when one of them can't. */
  async start(): Promise<void> {
    try {
      // The first one finds out the port, where any free one will do.
      await this.#begin(this.#fork())
      const others = Array.from({ length: this.#options.size - 1 }, () => this.#begin(this.#fork()))
      await Promise.all(others)
    } catch (cause) {
      await this.close(() => Promise.resolve())
      throw cause
    }
  }

  /**
   * @param end asks one of them to end; whoever has not by then is killed
   */
  async close(end: (member: Member) => Promise<unknown>): Promise<void> {
    this.#closing = true
    await Promise.all(
      [...this.#members].map(async ([worker, member]) => {
        const gone = new Promise((resolve) => worker.once('exit', resolve))
        await end(member).catch(() => {})
        worker.process.kill('SIGKILL')
        await gone
      }),
    )
  }

  #fork(): Member {
    const worker = cluster.fork(this.#options.env)
    const channel = new Channel({
      send: (message) => void (worker.isConnected() && worker.send(message as object, () => {})),
      onMessage: (receive) => worker.on('message', receive),
    })
    const kill = () => void worker.process.kill('SIGKILL')
    const member: Member = { id: worker.id, pid: worker.process.pid ?? 0, channel, kill }
    this.#members.set(worker, member)
    this.#relay(worker)
    this.#options.listener.started(member)
    const begun = performance.now()
    const watch = this.#watch(worker, channel)
    worker.once('exit', (code, signal) => {
      watch()
      this.#members.delete(worker)
      this.#begun.delete(member)
      channel.end()
      this.#options.listener.ended(member, signal ?? `exit code ${code}`)
      if (!this.#closing) this.#replace(performance.now() - begun)
    })
    return member
  }

  #replace(lived: number): void {
    this.#delay = lived > WELL_BEGUN ? REPLACE_FIRST : Math.min(this.#delay * 2, REPLACE_MOST)
    setTimeout(() => {
      if (this.#closing) return
      const member = this.#fork()
      this.#begin(member).catch((cause: unknown) => this.#giveUp(member, cause))
    }, this.#delay)
  }

  async #begin(member: Member): Promise<void> {
    const answer = await member.channel.call('begin')
    this.#begun.add(member)
    this.#options.listener.begun(member, answer)
  }

  /** It is replaced in its turn, ever more slowly while none can begin. */
  #giveUp(member: Member, cause: unknown): void {
    if (this.#closing) return
    this.#options.listener.failed(member, cause)
    member.kill()
  }

  /** A worker that does not answer would keep the connections given to it waiting for ever. */
  #watch(worker: Worker, channel: Channel): () => void {
    let heard = performance.now()
    let asked = heard
    const timer = setInterval(() => {
      const now = performance.now()
      // If it was this process that stood still, nothing is known of the other.
      if (now - asked > 2 * ASK_EVERY) heard = now
      asked = now
      if (now - heard > SILENT) worker.process.kill('SIGKILL')
      channel.call('alive').then(
        () => {
          heard = performance.now()
        },
        () => {},
      )
    }, ASK_EVERY)
    timer.unref()
    return () => clearInterval(timer)
  }

  /** Whole lines only: those of several workers go down one pipe. */
  #relay(worker: Worker): void {
    let rest = ''
    worker.process.stdout?.setEncoding('utf8')
    worker.process.stdout?.on('data', (text: string) => {
      const end = text.lastIndexOf('\n') + 1
      if (end > 0) this.#options.listener.output(rest + text.slice(0, end))
      rest = end > 0 ? text.slice(end) : rest + text
    })
    worker.process.stderr?.on('data', (chunk: Buffer) => process.stderr.write(chunk))
  }
}
