/** A simulated fleet: instances in a few processes, and the calls to them. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Channel } from '../../src/runtime/workers/channel.ts'
import type { Messages, Places, Target, WriteTimes } from './simulated-instance.ts'

const PROCESSES = 5
const PROGRAM = fileURLToPath(new URL('./instances-process.ts', import.meta.url))

interface Member {
  readonly child: ChildProcess
  readonly channel: Channel
  readonly instances: number
}

export class SimulatedFleet {
  readonly #members: readonly Member[]
  /** The process of each instance. */
  readonly #seating: readonly { readonly channel: Channel; readonly index: number }[]

  private constructor(members: readonly Member[]) {
    this.#members = members
    this.#seating = members.flatMap(({ channel, instances }) =>
      Array.from({ length: instances }, (_, index) => ({ channel, index })),
    )
  }

  static async start(places: Places, size: number): Promise<SimulatedFleet> {
    const processes = Math.min(PROCESSES, size)
    const members = Array.from({ length: processes }, (_, i) => begin(Math.floor((size + i) / processes)))
    const fleet = new SimulatedFleet(members)
    try {
      await Promise.all(
        members.map(({ channel, instances: count }) => channel.call('begin', { places, count })),
      )
      return fleet
    } catch (cause) {
      await fleet.#gone()
      throw cause
    }
  }

  /** Writes by each instance in turn. */
  async write(turn: number, target: Target, permissions: readonly string[]): Promise<WriteTimes> {
    const place = this.#seating[turn % this.#seating.length]
    if (place === undefined) throw new Error('an empty fleet')
    const { channel, index } = place
    return (await channel.call('write', { index, target, permissions })) as WriteTimes
  }

  /** The number of instances that could decide on a state from before this change. */
  stale(seq: number): Promise<number> {
    return this.#sum('stale', seq)
  }

  /** The messages of all instances together. */
  async messages(): Promise<Messages> {
    return { sent: await this.#sum('sent'), received: await this.#sum('received') }
  }

  async end(): Promise<void> {
    await Promise.all(this.#members.map(({ channel }) => channel.call('end')))
    await this.#gone()
  }

  async #sum(method: string, argument?: unknown): Promise<number> {
    const counts = await Promise.all(this.#members.map(({ channel }) => channel.call(method, argument)))
    return counts.reduce<number>((sum, count) => sum + Number(count), 0)
  }

  async #gone(): Promise<void> {
    await Promise.all(this.#members.map(({ child }) => gone(child)))
  }
}

function begin(instances: number): Member {
  const child = fork(PROGRAM)
  const channel = new Channel({
    send: (message) => void (child.connected && child.send(message as object)),
    onMessage: (receive) => child.on('message', receive),
  })
  child.once('exit', () => channel.end())
  return { child, channel, instances }
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (child.connected) child.disconnect()
  await exited
}
