/**
 * Lists between the main thread and the store's threads. They are sent as JSON, in pieces that each
 * thread writes and reads in slices: to copy thousands of objects from one thread to another stops the event
 * loop.
 */

import { inShares } from '../../model/time-share.ts'

/** The length from which a list is packed. A list of records is always packed: each may have long lists. */
const LONG = 100

/** Characters of a piece. */
const PIECE = 64 * 1024

/** A list as JSON texts of lists. */
interface Packed {
  readonly pieces: readonly Uint8Array<ArrayBuffer>[]
}

/** An argument or the result of a call, with its lists packed. These have JSON values alone. */
export async function pack(value: unknown): Promise<unknown> {
  if (!Array.isArray(value)) return mapped(value, pack)
  if (value.length < LONG && !value.some(isPlain)) return value
  return { pieces: await inShares(packing(value)) } satisfies Packed
}

/** What was packed. */
export async function unpack(value: unknown): Promise<unknown> {
  return isPacked(value) ? inShares(unpacking(value)) : mapped(value, unpack)
}

/** The memory of the packed lists of a result: a message moves it. */
export function buffersIn(value: unknown): ArrayBuffer[] {
  if (isPacked(value)) return value.pieces.map(({ buffer }) => buffer)
  return isPlain(value) ? Object.values(value).flatMap(buffersIn) : []
}

/** A copy of a plain object with other members; any other value as it is. */
async function mapped(value: unknown, of: (each: unknown) => Promise<unknown>): Promise<unknown> {
  if (!isPlain(value)) return value
  const members = Object.entries(value).map(async ([name, each]) => [name, await of(each)] as const)
  return Object.fromEntries(await Promise.all(members))
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

function isPacked(value: unknown): value is Packed {
  return isPlain(value) && 'pieces' in value
}

function* packing(items: readonly unknown[]): Generator<void, Uint8Array<ArrayBuffer>[]> {
  const encoder = new TextEncoder()
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let texts: string[] = []
  let length = 0
  for (const item of items) {
    const text = JSON.stringify(item)
    texts.push(text)
    length += text.length
    if (length < PIECE) continue
    pieces.push(encoder.encode(`[${texts.join()}]`))
    texts = []
    length = 0
    yield
  }
  pieces.push(encoder.encode(`[${texts.join()}]`))
  return pieces
}

function* unpacking({ pieces }: Packed): Generator<void, unknown[]> {
  const decoder = new TextDecoder()
  const items: unknown[] = []
  for (const piece of pieces) {
    const some: unknown[] = JSON.parse(decoder.decode(piece))
    for (const item of some) items.push(item)
    yield
  }
  return items
}
