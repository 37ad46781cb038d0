/** Event streams that are open while the right to them is taken away: they must end, and deliver no more. */

import type { PlaceClient, NoStream, OpenStream } from './place-client.ts'
import type { Credential } from './expected-answers.ts'
import type { RunRecord } from './run-record.ts'
import type { Write } from './staleness.ts'

/** The time in ms after which an open stream must have been cut. */
const PROMISED = 2000
/** The time in ms without an event after which something was frozen; the promised time starts again. */
const STOOD_STILL = 1000
/** The time in ms after which a stream that neither ends nor delivers anything is given up. */
const GIVEN_UP = 10_000

class Stream {
  readonly #place: string
  readonly #stream: OpenStream
  readonly #record: RunRecord
  /** The places with a stream that was cut, or should have been. */
  readonly #judged: Set<string>
  readonly #opened: number
  #lastEvent = 0
  #taken: Write | null = null
  /** The beginning of the newest uninterrupted sequence of events since the right was taken. */
  #sequence = 0
  #ended: number | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(place: string, stream: OpenStream, record: RunRecord, judged: Set<string>) {
    this.#place = place
    this.#stream = stream
    this.#record = record
    this.#judged = judged
    this.#opened = record.now()
    stream.body.on('data', () => this.#delivered())
    stream.body.on('close', () => this.#end())
  }

  /** Notes that a write with a 2xx has taken the right. */
  taken(write: Write): void {
    if (this.#ended !== null) {
      if (this.#ended >= write.began) this.#cut(Math.max(0, this.#ended - write.answered))
      else this.drop('it ended by itself before its right was taken')
      return
    }
    this.#taken = write
    this.#sequence = this.#lastEvent = this.#record.now()
    const why =
      'it neither ended nor delivered anything after its right was taken: the gateway or the network stood still'
    this.#timer = setTimeout(() => this.drop(why), GIVEN_UP)
    this.#timer.unref()
  }

  /** Whether it still has to end. */
  get isEnding(): boolean {
    return this.#taken !== null
  }

  /** Gives up the stream. @param why it was not tested */
  drop(why: string): void {
    this.#record.notTested(streamAt(this.#place), why)
    this.#close()
  }

  #close(): void {
    this.#taken = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#stream.body.destroy()
  }

  #cut(ms: number): void {
    this.#judged.add(this.#place)
    this.#record.cut(ms)
  }

  #delivered(): void {
    const now = this.#record.now()
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
    this.#judged.add(this.#place)
    this.#close()
  }

  #end(): void {
    this.#ended = this.#record.now()
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#taken !== null) this.#cut(this.#ended - this.#taken.answered)
    this.#taken = null
  }
}

/** The name of a stream among what was not tested. */
function streamAt(place: string): string {
  return `an open stream at ${place}`
}

export class OpenStreams {
  readonly #places: readonly PlaceClient[]
  readonly #record: RunRecord
  #streams: Stream[] = []
  /** The streams whose right was taken. */
  #ending: Stream[] = []
  /** The places with a stream that was cut, or should have been. */
  readonly #judged = new Set<string>()

  constructor(places: readonly PlaceClient[], record: RunRecord) {
    this.#places = places
    this.#record = record
  }

  /**
   * Opens a stream at each place. A place without one is reported as not tested.
   *
   * @returns why there will be none at any place; null if there are some, or may be later
   */
  async open(credential: Credential): Promise<string | null> {
    const opened = await Promise.all(
      this.#places.map(async (place) => [place.name, await place.open(credential)] as const),
    )
    const refused: (NoStream & { readonly place: string })[] = []
    for (const [place, stream] of opened)
      if ('refused' in stream) refused.push({ place, ...stream })
      else this.#streams.push(new Stream(place, stream, this.#record, this.#judged))
    const [first] = refused
    if (first !== undefined && this.#streams.length === 0 && !refused.some(({ passing }) => passing))
      return first.refused
    for (const { place, refused: why } of refused)
      this.#record.notTested(streamAt(place), `GET /v1/decisions gives no event stream: ${why}`)
    return null
  }

  /** Notes that a write with a 2xx has taken the right to all of them. */
  taken(write: Write): void {
    for (const stream of this.#streams) stream.taken(write)
    this.#ending = [...this.#ending, ...this.#streams].filter((stream) => stream.isEnding)
    this.#streams = []
  }

  /** Whether some still have to end: if their right came back, they would stay open. At most 10 s. */
  get areEnding(): boolean {
    return this.#ending.some((stream) => stream.isEnding)
  }

  /** Gives up the streams, as their right will not be taken. @param why they were not tested */
  drop(why: string): void {
    for (const stream of this.#streams) stream.drop(why)
    this.#streams = []
  }

  /** Ends the test. A place without a stream that was cut is reported as not tested. */
  close(): void {
    for (const stream of this.#ending) if (stream.isEnding) stream.drop('the run ended before it was cut')
    for (const { name } of this.#places)
      if (!this.#judged.has(name))
        this.#record.notTested(streamAt(name), 'the run ended before the right to it was taken')
  }
}
