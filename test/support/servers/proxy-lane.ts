/** One way of a connection through proxy.ts: bytes and their end, in order, later or not at all. */

import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/** The sender of what a lane passes on. */
export type Sender = 'client' | 'server'

/** Called with all bytes that arrive, before they are passed on. */
export type Witness = (from: Sender, bytes: Buffer) => void

/** The state of the line. */
export interface Line {
  held: boolean
  delay: number
  witness: Witness | null
}

type Parcel = Buffer | 'end' | 'reset'

/** Bytes that wait in a lane; beyond them, its sender waits. */
const ROOM = 1024 * 1024

export class Lane {
  readonly #from: Socket
  readonly #to: Socket
  readonly #sender: Sender
  readonly #line: Line
  /** What waits, in order of arrival. */
  #waiting: { readonly due: number; readonly parcel: Parcel }[] = []
  #size = 0
  #timer: NodeJS.Timeout | undefined

  constructor(from: Socket, to: Socket, sender: Sender, line: Line) {
    this.#from = from
    this.#to = to
    this.#sender = sender
    this.#line = line
    from.on('data', (bytes: Buffer) => this.#take(bytes))
    from.on('end', () => this.#take('end'))
    // `close` reports it too.
    from.on('error', () => {})
    from.on('close', (failed) => (failed || !from.readableEnded ? this.#take('reset') : undefined))
    to.on('drain', () => this.move())
    to.on('close', () => this.#drop())
  }

  /** Passes on what is due, if the line lets it. */
  move(): void {
    clearTimeout(this.#timer)
    for (let next = this.#waiting[0]; next !== undefined && this.#isOpen; next = this.#waiting[0]) {
      const wait = next.due - performance.now()
      if (wait > 0) {
        this.#timer = setTimeout(() => this.move(), wait)
        break
      }
      this.#waiting.shift()
      this.#pass(next.parcel)
    }
    if (this.#size < ROOM) this.#from.resume()
  }

  get #isOpen(): boolean {
    return !this.#line.held && !this.#to.writableNeedDrain
  }

  #take(parcel: Parcel): void {
    if (this.#to.destroyed) return
    if (typeof parcel !== 'string') this.#line.witness?.(this.#sender, parcel)
    this.#waiting.push({ due: performance.now() + this.#line.delay, parcel })
    if (typeof parcel !== 'string') this.#size += parcel.length
    if (this.#size >= ROOM) this.#from.pause()
    this.move()
  }

  #pass(parcel: Parcel): void {
    if (parcel === 'reset') return void this.#to.destroy()
    if (parcel === 'end') return void this.#to.end()
    this.#size -= parcel.length
    this.#to.write(parcel)
  }

  /** The receiver has gone; the other lane tells the sender. */
  #drop(): void {
    clearTimeout(this.#timer)
    this.#waiting = []
    this.#size = 0
    this.#from.resume()
  }
}
