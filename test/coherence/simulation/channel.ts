/**
 * A process channel: it neither loses nor reorders messages while both processes run. The product's channel of
 * `src/runtime/workers/` uses it.
 */

import { Channel } from '../../../src/runtime/workers/channel.ts'
import { delay, type Context } from './context.ts'
import type { Process } from './process.ts'

/** Messages in flight in one direction, in order. */
class Pipe {
  readonly #context: Context
  readonly #to: Process
  readonly #messages: unknown[] = []
  #receive: (message: unknown) => void = () => {}
  /** Arrival time of the newest message. */
  #last = 0

  constructor(context: Context, to: Process) {
    this.#context = context
    this.#to = to
  }

  /** Each arrival event delivers the oldest message, so the order is kept. */
  send(message: unknown): void {
    const { timeline } = this.#context
    this.#messages.push(message)
    this.#last = Math.max(this.#last, timeline.now + delay(this.#context) / 4)
    timeline.after(this.#last - timeline.now, this.#to, () => this.#receive(this.#messages.shift()))
  }

  onMessage(receive: (message: unknown) => void): void {
    this.#receive = receive
  }
}

/** @returns the channel of each process */
export function channelBetween(context: Context, one: Process, other: Process): [Channel, Channel] {
  const [toOne, toOther] = [new Pipe(context, one), new Pipe(context, other)]
  return [channelOf(toOther, toOne), channelOf(toOne, toOther)]
}

function channelOf(out: Pipe, into: Pipe): Channel {
  return new Channel({
    send: (message) => out.send(message),
    onMessage: (receive) => into.onMessage(receive),
  })
}
