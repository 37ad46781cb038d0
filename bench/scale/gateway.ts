/** A gateway in a process of its own, as an operator would start it, and what can be seen of it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { unwatch, watch } from '../../test/support/servers/watch.ts'
import { liveHeap } from './inspector.ts'
import { cpuOf, memoryOf } from './process-cost.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/seatgate.js', import.meta.url))
const FRONT = /listening on (http:\/\/[^ ]+) \(front door\)/
const OPS = /listening on (http:\/\/[^ ]+) \(\/livez/

/** Decisions so far, by the slowest place that they took a Seat from. */
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
  /** Milliseconds from the start of the process to connections accepted. */
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

  /** @param folder goes, and the process with it, at the latest with this one */
  static async start(file: string, folder: string): Promise<ScaleGateway> {
    const begun = performance.now()
    // Any free port, if it is told to open its inspector.
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

  /** Bytes that are reachable. Its inspector is open from then on: to be asked when its speed counts no more. */
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

/** The two URLs, from what `start` prints once it accepts. What it prints later is thrown away. */
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
