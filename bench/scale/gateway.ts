/** A gateway in a process of its own, as an operator starts it, and its figures. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { unwatch, watch } from '../../test/support/servers/watch.ts'
import { liveHeap } from './inspector.ts'
import { cpuOf, memoryOf } from './process-cost.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/seatgate.js', import.meta.url))
const FRONT = /listening on (http:\/\/[^ ]+) \(front door\)/
const OPS = /listening on (http:\/\/[^ ]+) \(\/livez/

/** Decisions so far, by the slowest source of their Seats. */
export interface Sources {
  readonly memory: number
  readonly redis: number
  readonly store: number
}

export class ScaleGateway {
  readonly #child: ChildProcess
  readonly #pid: number
  readonly #exited: Promise<unknown>
  readonly url: string
  readonly #ops: string
  /** Milliseconds from the start of the process until it accepts connections. */
  readonly startedIn: number

  private constructor(
    child: ChildProcess,
    pid: number,
    places: readonly [string, string],
    startedIn: number,
  ) {
    this.#child = child
    this.#pid = pid
    this.#exited = once(child, 'exit').then(() => unwatch(pid))
    ;[this.url, this.#ops] = places
    this.startedIn = startedIn
  }

  /** @param folder is removed, and the process stopped, at the latest with this process */
  static async start(file: string, folder: string): Promise<ScaleGateway> {
    const begun = performance.now()
    // Any free port, in case it is told to open its inspector.
    const args = ['--inspect-port=127.0.0.1:0', MAIN, 'start', '--config', file]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    watch(child.pid, folder)
    const places = await listening(child)
    return new ScaleGateway(child, child.pid, places, performance.now() - begun)
  }

  /** Microseconds. */
  cpu(): number {
    return cpuOf(this.#pid)
  }

  /** Bytes, resident. */
  memory(): number {
    return memoryOf(this.#pid)
  }

  /** Reachable bytes. The inspector stays open afterwards, so call it when speed no longer matters. */
  heap(): Promise<number> {
    return liveHeap(this.#child, this.#pid)
  }

  async sources(): Promise<Sources> {
    const text = await (await fetch(`${this.#ops}/metrics`)).text()
    const of = (source: string) => {
      const sample = `seatgate_decisions_by_source_total{source="${source}"} `
      const line = text.split('\n').find((each) => each.startsWith(sample))
      return Number(line?.slice(sample.length) ?? 0)
    }
    return { memory: of('memory'), redis: of('redis'), store: of('store') }
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#exited
  }
}

/** The two URLs, from the output of `start` once it accepts. Later output is discarded. */
function listening(child: ChildProcess): Promise<[front: string, ops: string]> {
  return new Promise((resolve, reject) => {
    let text = ''
    let errors = ''
    const look = (chunk: Buffer) => {
      text += chunk
      const [front, ops] = [FRONT.exec(text)?.[1], OPS.exec(text)?.[1]]
      if (front === undefined || ops === undefined) return
      child.stdout?.off('data', look).resume()
      child.stderr?.off('data', complaint).resume()
      resolve([front, ops])
    }
    const complaint = (chunk: Buffer) => {
      errors += chunk
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', complaint)
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${errors}${text}`)))
  })
}

export function sourcesBetween(before: Sources, after: Sources): Sources {
  return {
    memory: after.memory - before.memory,
    redis: after.redis - before.redis,
    store: after.store - before.store,
  }
}
