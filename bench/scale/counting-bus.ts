/** A bus that counts the messages of one instance. */

import type { Acknowledgement, Announcement, Bus, BusReceiver } from '../../src/coherence/bus.ts'

/** Redis counts published messages, including heartbeats of its subscribers, but not their receivers. */
export class CountingBus implements Bus {
  readonly #bus: Bus
  sent = 0
  received = 0

  constructor(bus: Bus) {
    this.#bus = bus
  }

  get up(): boolean {
    return this.#bus.up
  }

  open(id: string, receiver: BusReceiver): void {
    this.#bus.open(id, {
      announced: (announcement) => {
        this.received++
        receiver.announced(announcement)
      },
      acknowledged: (acknowledgement) => {
        this.received++
        receiver.acknowledged(acknowledgement)
      },
    })
  }

  announce(announcement: Announcement): void {
    this.sent++
    this.#bus.announce(announcement)
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    this.sent++
    this.#bus.acknowledge(acknowledgement)
  }

  close(): Promise<void> {
    return this.#bus.close()
  }
}
