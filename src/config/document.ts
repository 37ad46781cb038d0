/**
 * One file of the configuration as plain data, with the place of every key and value and the faults found so far.
 */

import type { Place } from '../model/route.ts'
import type { Fault } from './faults.ts'

export type Value = string | number | boolean | null | Value[] | Data
/** Without a prototype, so that `__proto__` is a key like any other. */
export type Data = { [key: string]: Value }

/** Where an entry of a map or list stands (offsets in the text), and what is known of its value. */
export interface Spot {
  readonly key: number
  readonly value: number
  /** As written, where that is not the value itself: with variables, or as an alias. Null elsewhere. */
  readonly written: string | null
  /** A fault of it was reported: what it says is not to be relied on. */
  faulty: boolean
}

/** The spots of a map by key, of a list by index. */
export type Spots = Map<string, Spot>

/** Tells lines and columns, from 1, of an offset. */
interface Lines {
  linePos(offset: number): { line: number; col: number }
}

export class Document {
  /** As people should see it. */
  readonly file: string
  readonly faults: Fault[] = []
  /** Null when the file is no YAML or no map: then `faults` says why. */
  root: Data | null = null
  readonly #lines: Lines
  readonly #spots = new Map<object, Spots>()

  constructor(file: string, lines: Lines) {
    this.file = file
    this.#lines = lines
  }

  /** Of an offset in the text. */
  place(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset)
    return Object.freeze({ file: this.file, line, column: col })
  }

  spot(container: object, key: string): Spot | undefined {
    return this.#spots.get(container)?.get(key)
  }

  /** A map or list has been met; its spots are filled in as it is read. */
  enter(container: object): Spots {
    const spots: Spots = new Map()
    this.#spots.set(container, spots)
    return spots
  }

  fault(offset: number, message: string): void {
    this.faults.push({ place: this.place(offset), message })
  }
}
