/** An instance of a fleet whose store, bus and deciders belong to the test. */

import type { NumberedChange } from '../../seats-admin/model/change.ts'
import { NOTHING_OPEN, type OpenCounts } from '../../seats-admin/model/revocation.ts'
import type { Acknowledgement, Announcement, Bus, BusReceiver } from '../../src/coherence/bus.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import type { Decider } from '../../src/coherence/deciders.ts'
import { Instance, type WriteResult } from '../../src/coherence/instance.ts'
import { FakeStore, ManualClock } from './support.ts'

/** A bus whose messages the test delivers. */
class FakeBus implements Bus {
  up = true
  receiver: BusReceiver | null = null
  readonly announced: Announcement[] = []
  readonly acknowledged: Acknowledgement[] = []
  isClosed = false

  open(_id: string, receiver: BusReceiver): void {
    this.receiver = receiver
  }

  announce(announcement: Announcement): void {
    this.announced.push(announcement)
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    this.acknowledged.push(acknowledgement)
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

/** A decider that confirms at once unless `answer` is set. */
export class FakeDecider implements Decider {
  readonly readings: Reading[] = []
  readonly announced: string[] = []
  answer: Promise<void> | null = null
  /** What it has cut for revocations. */
  cut: Promise<OpenCounts | null> = Promise.resolve(NOTHING_OPEN)
  /** Marks of the revocations that it was asked about. */
  readonly cutsAsked: number[] = []

  cutBy(mark: number): Promise<OpenCounts | null> {
    this.cutsAsked.push(mark)
    return this.cut
  }

  applyReading(reading: Reading): Promise<void> | void {
    this.readings.push(reading)
    return this.answer ?? undefined
  }

  applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> | void {
    this.announced.push(...changes.map(({ key, seq }) => `${key} ${seq}`))
    return this.answer ?? undefined
  }
}

/** Instance `me`, of a fleet or alone, with or without a bus. */
export function setUp({
  isAlone = false,
  hasBus = true,
  acknowledgesFrom = 0,
  checkFiles = () => Promise.resolve(),
} = {}) {
  const clock = new ManualClock()
  const store = new FakeStore()
  const bus = new FakeBus()
  const decider = new FakeDecider()
  const events = { answered: [] as WriteResult[], acknowledged: [] as number[] }
  const instance = new Instance({
    id: 'me',
    name: 'host 1',
    source: store,
    list: isAlone ? null : store,
    bus: hasBus ? bus : null,
    clock,
    acknowledgesFrom,
    checkFiles,
    listener: {
      feed: () => {},
      answered: (answered) => void events.answered.push(answered),
      acknowledged: (after) => void events.acknowledged.push(after),
    },
  })
  instance.join(decider)
  const write = (...keys: string[]) => {
    const state = { isAnswered: false }
    void instance.announce(store.commit(...keys)).then(() => {
      state.isAnswered = true
    })
    return state
  }
  return { clock, store, bus, decider, events, instance, write }
}
