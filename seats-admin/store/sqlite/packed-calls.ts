/**
 * Calls with long lists between the main thread and the store's threads. The lists are sent as JSON, in pieces that the main
 * thread makes and reads in slices: to copy thousands of objects from one thread to another stops the event loop.
 */

import { type AdminRefusal, isRefusal } from '../../model/refusal.ts'
import type { Change } from '../../model/change.ts'
import type { AppliedSeats, PlannedSeat, SeatsPlan } from '../../model/planned-seats.ts'
import type { WantedSeat, WantedSeats } from '../../model/seat.ts'
import { inShares } from '../../model/time-share.ts'
import type { AdminStore } from '../store.ts'

type SeatsFileMethods = Pick<AdminStore, 'planSeats' | 'applySeats'>
type Arguments<M extends keyof SeatsFileMethods> = Parameters<SeatsFileMethods[M]>

/** A list as JSON texts of lists. */
type Packed = Uint8Array<ArrayBuffer>[]

interface PackedSeats extends Omit<WantedSeats, 'seats'> {
  readonly packed: Packed
}

interface PackedPlan extends Omit<SeatsPlan, 'changes'> {
  readonly packed: Packed
}

interface PackedApplied extends Omit<AppliedSeats, 'changes'> {
  readonly packed: Packed
  /** The changes of the feed. */
  readonly packedChanges: Packed
}

export interface PackedCalls {
  planSeats(reader: Arguments<'planSeats'>[0], wanted: PackedSeats): Promise<PackedPlan | AdminRefusal>
  applySeats(
    author: Arguments<'applySeats'>[0],
    wanted: PackedSeats,
    versions: Arguments<'applySeats'>[2],
  ): Promise<PackedApplied | AdminRefusal>
}

/** In the main thread. */
export function unpackedCalls({ planSeats, applySeats }: PackedCalls): SeatsFileMethods {
  return {
    async planSeats(reader, wanted) {
      const plan = await planSeats(reader, await packedSeats(wanted))
      if (isRefusal(plan)) return plan
      const { packed, ...rest } = plan
      return { ...rest, changes: await unpack<PlannedSeat>(packed) }
    },
    async applySeats(author, wanted, versions) {
      const applied = await applySeats(author, await packedSeats(wanted), versions)
      if (isRefusal(applied)) return applied
      const { packed, packedChanges, committed, ...rest } = applied
      const changes = await unpack<AppliedSeats['changes'][number]>(packed)
      return { ...rest, changes, committed: { ...committed, changes: await unpack<Change>(packedChanges) } }
    },
  }
}

/** In a thread of the store. */
export function packedCalls({ planSeats, applySeats }: SeatsFileMethods): PackedCalls {
  return {
    async planSeats(reader, wanted) {
      const plan = await planSeats(reader, await unpackedSeats(wanted))
      if (isRefusal(plan)) return plan
      const { changes, ...rest } = plan
      return { ...rest, packed: await pack(changes) }
    },
    async applySeats(author, wanted, versions) {
      const applied = await applySeats(author, await unpackedSeats(wanted), versions)
      if (isRefusal(applied)) return applied
      const { changes, committed, ...rest } = applied
      const packedChanges = await pack(committed.changes)
      return { ...rest, packed: await pack(changes), packedChanges, committed: { ...committed, changes: [] } }
    },
  }
}

/** The memory of packed lists in the result of a call: a message moves it. */
export function movable(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null || !('packed' in value)) return []
  return (value as { packed: Packed }).packed.map(({ buffer }) => buffer)
}

async function packedSeats({ seats, prune }: WantedSeats): Promise<PackedSeats> {
  return { prune, packed: await pack(seats) }
}

async function unpackedSeats({ packed, prune }: PackedSeats): Promise<WantedSeats> {
  return { prune, seats: await unpack<WantedSeat>(packed) }
}

/** Characters of a piece. */
const PIECE = 64 * 1024

function pack(items: readonly unknown[]): Promise<Packed> {
  return inShares(packing(items))
}

function* packing(items: readonly unknown[]): Generator<void, Packed> {
  const encoder = new TextEncoder()
  const pieces: Packed = []
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

function unpack<T>(pieces: Packed): Promise<T[]> {
  return inShares(unpacking<T>(pieces))
}

function* unpacking<T>(pieces: Packed): Generator<void, T[]> {
  const decoder = new TextDecoder()
  const items: T[] = []
  for (const piece of pieces) {
    const some: T[] = JSON.parse(decoder.decode(piece))
    for (const item of some) items.push(item)
    yield
  }
  return items
}
