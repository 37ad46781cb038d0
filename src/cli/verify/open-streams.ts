/** Event streams that are open while the right to them is taken away: they must end, and deliver nothing meanwhile. */

import { performance } from 'node:perf_hooks'
import type { AskedPlace, OpenStream } from './asked-place.ts'
import type { Credential } from './expected-answers.ts'
import type { RunRecord } from './run-record.ts'
import type { Write } from './staleness.ts'

/** ms after which an open stream must have been cut. */
const PROMISED = 2000
/** After this many ms without an event, the gateway or the network stood still: the time of the promise begins anew. */
const STOOD_STILL = 1000
/** ms after which a stream that neither ends nor delivers anything is given up. */
const GIVEN_UP = 10_000

class Stream {
  readonly #place: string
  readonly #stream: OpenStream
  readonly #record: RunRecord
  readonly #opened = performance.now()
  #lastEvent = 0
  #taken: Write | null = null
  /** Of the events since the right was taken: when the newest uninterrupted sequence began. */
  #sequence = 0
  #ended: number | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(place: string, stream: OpenStream, record: RunRecord) {
    this.#place = place
    this.#stream = stream
    this.#record = record
    stream.body.on('data', () => this.#delivered())
    stream.body.on('close', () => this.#end())
  }

  /** The right is gone: the write was answered. */
  taken(write: Write): void {
    if (this.#ended !== null) {
      // Cut while the write was under way; or ended by itself before.
      if (this.#ended >= write.began) this.#record.cut(Math.max(0, this.#ended - write.answered))
      return
    }
    this.#taken = write
    this.#sequence = this.#lastEvent = performance.now()
    this.#timer = setTimeout(() => {
      this.#record.notTested(
        `an open stream at ${this.#place}`,
        'it neither ended nor delivered anything after its right was taken: the gateway or the network stood still',
      )
      this.discard()
    }, GIVEN_UP)
    this.#timer.unref()
  }

  /** Whether it still has to end. */
  get isEnding(): boolean {
    return this.#taken !== null
  }

  discard(): void {
    this.#taken = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#stream.body.destroy()
  }

  #delivered(): void {
    const now = performance.now()
    if (now - this.#lastEvent > STOOD_STILL) this.#sequence = now
    this.#lastEvent = now
    if (this.#taken === null || now - this.#sequence <= PROMISED) return
    const { requestId } = this.#stream
    const read = { place: this.#place, began: this.#opened, ended: now, answer: 'open', requestId }
    this.#record.violation({
      kind: 'open_stream',
      subject: 'stream',
      read,
      write: this.#taken,
      expected: ['cut'],
    })
    this.discard()
  }

  #end(): void {
    this.#ended = performance.now()
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#taken !== null) this.#record.cut(this.#ended - this.#taken.answered)
    this.#taken = null
  }
}

export class OpenStreams {
  readonly #places: readonly AskedPlace[]
  readonly #record: RunRecord
  #streams: Stream[] = []
  /** Those whose right was taken. */
  #ending: Stream[] = []

  constructor(places: readonly AskedPlace[], record: RunRecord) {
    this.#places = places
    this.#record = record
  }

  /** One at each place. @returns why there is none at all, and none later; null: there are some, or may be later */
  async open(credential: Credential): Promise<string | null> {
    const opened = await Promise.all(
      this.#places.map(async (place) => [place, await place.open(credential)] as const),
    )
    let why: string | null = null
    for (const [place, stream] of opened)
      if ('refused' in stream) why = stream.passing ? why : stream.refused
      else this.#streams.push(new Stream(place.name, stream, this.#record))
    return this.#streams.length > 0 ? null : why
  }

  /** The right to all of them is gone: the write was answered. */
  taken(write: Write): void {
    for (const stream of this.#streams) stream.taken(write)
    for (const stream of this.#ending) stream.discard()
    this.#ending = this.#streams
    this.#streams = []
  }

  /** Whether some still have to end: their right must not come back before, for it would keep them. At most 10 s. */
  get areEnding(): boolean {
    return this.#ending.some((stream) => stream.isEnding)
  }

  /** Nothing is expected of them any more. */
  discard(): void {
    for (const stream of [...this.#streams, ...this.#ending]) stream.discard()
    this.#streams = []
    this.#ending = []
  }
}
