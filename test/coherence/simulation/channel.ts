/**
 * A process channel: it neither loses nor reorders messages while both processes run. The product's channel of
 * `src/runtime/workers/` uses it.
 */

import { Channel } from '../../../src/runtime/workers/channel.ts'
import { delay } from './context.ts'
import type { Process } from './process.ts'

/** Messages in flight in one direction, in order. */
function pipeTo(process: Process) {
  const { context } = process
  const { timeline } = context
  const messages: unknown[] = []
  let receive: (message: unknown) => void = () => {}
  /** Arrival time of the newest message. */
  let last = 0
  return {
    /** Each arrival event delivers the oldest message, so the order is kept. */
    send(message: unknown): void {
      messages.push(message)
      last = Math.max(last, timeline.now + delay(context) / 4)
      timeline.after(last - timeline.now, process, () => receive(messages.shift()))
    },
    onMessage(next: typeof receive): void {
      receive = next
    },
  }
}

/** @returns the channel of each process */
export function channelBetween(one: Process, other: Process): [Channel, Channel] {
  const [toOne, toOther] = [pipeTo(one), pipeTo(other)]
  return [
    new Channel({ send: toOther.send, onMessage: toOne.onMessage }),
    new Channel({ send: toOne.send, onMessage: toOther.onMessage }),
  ]
}
