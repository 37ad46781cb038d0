/**
 * Reads the fields of a Protocol Buffers message, one after the other, without a copy.
 *
 * Stricter than the usual libraries: groups, varints with more bytes than they need, values outside the range
 * of their type, strings that are not UTF-8 and known fields of another wire type are refused. The reader of
 * a message decides about a field that comes twice.
 */

import { isUtf8 } from 'node:buffer'
import { FIXED32, FIXED64, LENGTH_DELIMITED, MAX_FIELD_NUMBER, readVarint, VARINT } from './protobuf-wire.ts'

/** The limit on messages within messages. */
export const MAX_DEPTH = 32

/** The bytes are not the expected message. The error says where, and holds nothing of the input. */
export class MalformedMessage extends Error {}

const WIRE_TYPES: ReadonlySet<number> = new Set([VARINT, FIXED64, LENGTH_DELIMITED, FIXED32])

/**
 * `while (reader.next()) switch (reader.field) …`: each field is read by the method of its type, or passed
 * over by not reading it. Each method throws `MalformedMessage`.
 */
export class ProtobufReader {
  /** The number of the field that `next` found. */
  field = 0
  readonly #bytes: Buffer
  readonly #depth: number
  #at = 0
  #wireType = VARINT
  #unread = false

  /** @param depth of the messages around this one */
  constructor(bytes: Uint8Array, depth = 0) {
    if (depth > MAX_DEPTH) throw new MalformedMessage(`nested more than ${MAX_DEPTH} levels deep`)
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#depth = depth
  }

  /**
   * Goes to the next field, over the value of one that was not read.
   *
   * @returns whether there is one
   */
  next(): boolean {
    if (this.#unread) this.#skip()
    if (this.#at === this.#bytes.length) return false
    const tag = Number(this.#varint())
    this.field = Math.floor(tag / 8)
    this.#wireType = tag % 8
    if (this.field < 1 || this.field > MAX_FIELD_NUMBER) throw this.#fault('a field number out of range')
    if (!WIRE_TYPES.has(this.#wireType)) throw this.#fault('a group or an unknown wire type')
    this.#unread = true
    return true
  }

  /** A number from -2^63 to 2^63 - 1. */
  int64(): bigint {
    this.#expect(VARINT)
    return BigInt.asIntN(64, BigInt(this.#varint()))
  }

  /** A view of the message's own memory. */
  bytes(): Buffer {
    this.#expect(LENGTH_DELIMITED)
    const length = this.#length()
    const start = this.#advance(length)
    return this.#bytes.subarray(start, start + length)
  }

  string(): string {
    const bytes = this.bytes()
    if (!isUtf8(bytes)) throw this.#fault('a string that is not UTF-8')
    return bytes.toString('utf8')
  }

  /** A reader of the message within. */
  message(): ProtobufReader {
    return new ProtobufReader(this.bytes(), this.#depth + 1)
  }

  #skip(): void {
    this.#unread = false
    if (this.#wireType === VARINT) this.#varint()
    else if (this.#wireType === LENGTH_DELIMITED) this.#advance(this.#length())
    else this.#advance(this.#wireType === FIXED64 ? 8 : 4)
  }

  #expect(wireType: number): void {
    if (!this.#unread) throw new Error('a field is read once, after next()')
    if (this.#wireType !== wireType) throw this.#fault(`field ${this.field} with another wire type`)
    this.#unread = false
  }

  #length(): number {
    return Number(this.#varint())
  }

  #varint(): bigint | number {
    const varint = readVarint(this.#bytes, this.#at)
    if (varint === null) throw this.#fault('a varint that is cut off or too long')
    this.#at = varint.end
    return varint.value
  }

  /** @returns the position before the bytes */
  #advance(bytes: number): number {
    if (bytes > this.#bytes.length - this.#at) throw this.#fault('a field that is cut off')
    const start = this.#at
    this.#at += bytes
    return start
  }

  #fault(what: string): MalformedMessage {
    return new MalformedMessage(`${what}, at byte ${this.#at} of a message`)
  }
}
