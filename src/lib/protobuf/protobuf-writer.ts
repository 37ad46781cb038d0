/**
 * Writes the fields of a Protocol Buffers message in the order of the calls. Every call writes its field: a
 * caller leaves out the default values that proto3 does not send.
 */

import {
  FIXED32,
  FIXED64,
  LENGTH_DELIMITED,
  MAX_FIELD_NUMBER,
  VARINT,
  varintLength,
  writeLargeVarint,
  writeVarint,
} from './protobuf-wire.ts'

const INITIAL_BYTES = 512
const MAX_VARINT_BYTES = 10
const MAX_TAG_BYTES = 5

/** Each method throws a RangeError for a field number or a value out of range. */
export class ProtobufWriter {
  #bytes: Buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  #length = 0

  /**
   * uint32, uint64, enumerations without negative values.
   *
   * @param value from 0 to 2^64 - 1; a number is a safe integer
   */
  uint(field: number, value: bigint | number): this {
    this.#tag(field, VARINT)
    if (typeof value === 'number') this.#varint(value)
    else this.#largeVarint(value)
    return this
  }

  /**
   * int32, int64.
   *
   * @param value from -2^63 to 2^63 - 1; a number is a safe integer
   */
  int(field: number, value: bigint | number): this {
    if (value >= 0 && value < 2n ** 63n) return this.uint(field, value)
    const signed = BigInt(value)
    if (BigInt.asIntN(64, signed) !== signed) throw new RangeError('an integer of more than 64 bits')
    return this.uint(field, BigInt.asUintN(64, signed))
  }

  bool(field: number, value: boolean): this {
    return this.uint(field, value ? 1 : 0)
  }

  fixed32(field: number, value: number): this {
    this.#tag(field, FIXED32)
    this.#length = this.#room(4).writeUInt32LE(value, this.#length)
    return this
  }

  fixed64(field: number, value: bigint): this {
    this.#tag(field, FIXED64)
    this.#length = this.#room(8).writeBigUInt64LE(value, this.#length)
    return this
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, LENGTH_DELIMITED)
    this.#varint(value.length)
    this.#room(value.length).set(value, this.#length)
    this.#length += value.length
    return this
  }

  /** Lone surrogates become U+FFFD. */
  string(field: number, value: string): this {
    const length = Buffer.byteLength(value)
    this.#tag(field, LENGTH_DELIMITED)
    this.#varint(length)
    this.#length += this.#room(length).write(value, this.#length)
    return this
  }

  /**
   * A message within.
   *
   * @param write writes its fields to this writer
   */
  message(field: number, write: (writer: this) => void): this {
    this.#tag(field, LENGTH_DELIMITED)
    const start = this.#length
    write(this)
    this.#insertLength(start)
    return this
  }

  /** The message: a view of the writer's memory, valid until the writer is used again. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** The length stands before the fields, and is known after them: they are moved by its few bytes. */
  #insertLength(start: number): void {
    const length = this.#length - start
    const shift = varintLength(length)
    this.#room(shift).copyWithin(start + shift, start, this.#length)
    writeVarint(this.#bytes, start, length)
    this.#length += shift
  }

  #tag(field: number, wireType: number): void {
    if (!Number.isInteger(field) || field < 1 || field > MAX_FIELD_NUMBER)
      throw new RangeError('a field number out of range')
    this.#length = writeVarint(this.#room(MAX_TAG_BYTES), this.#length, field * 8 + wireType)
  }

  #varint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a safe integer from 0')
    this.#length = writeVarint(this.#room(MAX_VARINT_BYTES), this.#length, value)
  }

  #largeVarint(value: bigint): void {
    if (BigInt.asUintN(64, value) !== value) throw new RangeError('an integer of more than 64 bits')
    this.#length = writeLargeVarint(this.#room(MAX_VARINT_BYTES), this.#length, value)
  }

  /** The memory, with place for that many bytes more. */
  #room(bytes: number): Buffer {
    const needed = this.#length + bytes
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    return this.#bytes
  }
}
