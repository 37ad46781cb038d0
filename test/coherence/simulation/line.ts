/**
 * A process channel: nothing is lost or overtaken while both processes live. The real channel of `src/runtime/workers/` runs
 * over it.
 */

import { Channel } from '../../../src/runtime/workers/channel.ts'
import { delay, type Nature } from './nature.ts'
import type { Process } from './process.ts'

/** What is under way to one end, in order. */
class Pipe {
  readonly #nature: Nature
  readonly #to: Process
  readonly #messages: unknown[] = []
  #receive: (message: unknown) => void = () => {}
  /** When the last one arrives. */
  #last = 0

  constructor(nature: Nature, to: Process) {
    this.#nature = nature
    this.#to = to
  }

  /** Whichever of the events happens first, it brings the oldest message. */
  send(message: unknown): void {
    const { timeline } = this.#nature
    this.#messages.push(message)
    this.#last = Math.max(this.#last, timeline.now + delay(this.#nature) / 4)
    timeline.after(this.#last - timeline.now, this.#to, () => this.#receive(this.#messages.shift()))
  }

  onMessage(receive: (message: unknown) => void): void {
    this.#receive = receive
  }
}

/** @returns the channel as each of the two has it */
export function channelBetween(nature: Nature, one: Process, other: Process): [Channel, Channel] {
  const [toOne, toOther] = [new Pipe(nature, one), new Pipe(nature, other)]
  return [channelOf(toOther, toOne), channelOf(toOne, toOther)]
}

function channelOf(out: Pipe, into: Pipe): Channel {
  return new Channel({
    send: (message) => out.send(message),
    onMessage: (receive) => into.onMessage(receive),
  })
}
