/**
 * One file of the configuration as plain data, with the location of each key and value, and the faults.
 */

import type { LineCounter } from 'yaml'
import type { Place } from '../model/route.ts'
import type { Fault, Warning, WarningCode } from './faults.ts'

export type Value = string | number | boolean | null | Value[] | Data
/** A map without a prototype, in which `__proto__` is a key like any other. */
export type Data = { [key: string]: Value }

/** The offsets of an entry of a map or a list in the text, and the state of its value. */
export interface Spot {
  readonly key: number
  readonly value: number
  /** The text before replacement, for a value with variables or an alias; null: it equals the value. */
  readonly written: string | null
  /** Whether a fault of the value is reported: then the value must not be used. */
  faulty: boolean
}

/** The entries of a map by key, of a list by index. */
export type Spots = Map<string, Spot>

export class Document {
  /** The path that messages show. */
  readonly file: string
  readonly faults: Fault[] = []
  readonly warnings: Warning[] = []
  /** The values; null: the file is not a YAML map, and `faults` has the reason. */
  root: Data | null = null
  /** Whether values that depend on the machine are left out without a fault, unless they are needed. */
  readonly anywhere: boolean
  readonly #lines: LineCounter
  readonly #spots = new Map<object, Spots>()

  constructor(file: string, lines: LineCounter, anywhere = false) {
    this.file = file
    this.anywhere = anywhere
    this.#lines = lines
  }

  place(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset)
    return Object.freeze({ file: this.file, line, column: col })
  }

  spot(container: object, key: string): Spot | undefined {
    return this.#spots.get(container)?.get(key)
  }

  /** Registers a map or a list. The caller adds its entries. */
  register(container: object): Spots {
    const spots: Spots = new Map()
    this.#spots.set(container, spots)
    return spots
  }

  warning(offset: number, code: WarningCode, message: string): void {
    this.warnings.push({ code, place: this.place(offset), message })
  }

  fault(offset: number, message: string): void {
    this.faults.push({ place: this.place(offset), message })
  }
}
