/** Rules of changing many Seats at once. Pure. */

import { seatTag } from '../model/entity-tag.ts'
import type { Committed, KeyAdministration } from '../model/change.ts'
import type { AppliedSeats, SeatAction, SeatChange, SeatVersions } from '../model/planned-seats.ts'
import { holds } from '../model/permission.ts'
import {
  type AdminFault,
  type AdminRefusal,
  grantExceedsOwn,
  inputInvalid,
  MAX_FAULTS,
  permissionDenied,
  pointerTo,
  preconditionFailed,
} from '../model/refusal.ts'
import { administrates, managerOf, type Scope, SEAT_RIGHTS } from '../model/scope.ts'
import type { ListedSeat, SeatLists, StoredSeat, WantedSeat, WantedSeats } from '../model/seat.ts'
import { everyInShares, TimeShare } from '../model/time-share.ts'
import { endsAdministration, largerThanAllowed, newSeat, seatAfter } from './seat-rules.ts'
import type { Writer } from './store.ts'

/** Seats that one request may create, change and delete. */
export const MAX_CHANGES = 10_000
/** Bytes of the Seats that one request may read, as the store holds them. */
export const MAX_READ = 64 * 1024 * 1024
/** Such a call may take this many times as long as another one. */
export const PATIENCE = 5
/** Names of API keys, and of unnamed Seats, that a plan has. */
export const MAX_KEY_NAMES = 10
export const MAX_UNNAMED = 20

/** What a store has of the Seats that are named. */
export interface SeatsReading {
  /** The visible Seats of every `name` and `was`, and with `prune` all others. */
  readonly seats: readonly ListedSeat[]
  /** Names of Seats that the caller may not see. */
  readonly hidden: ReadonlySet<string>
}

/** The names to look up. */
export function namesOf({ seats }: WantedSeats): string[] {
  return seats.flatMap(({ name, was }) => (was === null ? [name] : [name, was]))
}

/** Faults of the file by itself. */
export function faultsIn({ seats }: WantedSeats): AdminRefusal | null {
  const names = new Set(seats.map(({ name }) => name))
  const former = new Set<string>()
  const faults: AdminFault[] = []
  for (const { name, was } of seats) {
    if (was === null) continue
    const path = pathOf(name, 'was')
    if (names.has(was)) faults.push({ path, message: 'is the name of a Seat of the file' })
    else if (former.has(was)) faults.push({ path, message: 'is the former name of another Seat of the file' })
    former.add(was)
  }
  return faults.length === 0 ? null : inputInvalid(faults.slice(0, MAX_FAULTS))
}

interface DueChanges {
  /** Creations, updates, deletions; each in the order of names. */
  readonly changes: readonly SeatChange[]
  readonly unchanged: number
}

export async function dueChanges(
  wanted: WantedSeats,
  { seats, hidden }: SeatsReading,
  share = new TimeShare(),
): Promise<DueChanges | AdminRefusal> {
  const byName = new Map(seats.map((seat) => [seat.name, seat]))
  // As by single writes, which do not reveal the Seat.
  if (wanted.seats.some(({ name }) => hidden.has(name))) return grantExceedsOwn
  const changes: SeatChange[] = []
  const faults: AdminFault[] = []
  const kept = new Set<string>()
  for (const after of wanted.seats) {
    const rest = share.spent()
    if (rest !== null) await rest
    const { name, was } = after
    const [own, former] = [byName.get(name), was === null ? undefined : byName.get(was)]
    if (own !== undefined && former !== undefined)
      faults.push({
        path: pathOf(name, 'was'),
        message: `names a Seat, and there is one of the new name too`,
      })
    const before = own ?? former ?? null
    if (before !== null) kept.add(before.name)
    if (before === null) changes.push({ action: 'create', name, before, after })
    else if (before.name !== name || !grantsTheSame(before, after))
      changes.push({ action: 'update', name, before, after })
  }
  if (faults.length > 0) return inputInvalid(faults.slice(0, MAX_FAULTS))
  const unchanged = wanted.seats.length - changes.length
  if (wanted.prune)
    for (const before of seats)
      if (!kept.has(before.name)) changes.push({ action: 'delete', name: before.name, before, after: null })
  if (changes.length > MAX_CHANGES) return tooMany(changes.length)
  return { changes: changes.toSorted(inOrder), unchanged }
}

/** A write as {@link dueChanges} wants it. */
export interface SeatWrite {
  readonly action: SeatAction
  readonly before: StoredSeat | null
  readonly after: StoredSeat | null
}

/**
 * The rights of the writer, the versions of the plan, and the Seats after the write.
 *
 * @param idTime gives the time part of the next id
 */
export async function seatWritesDue(
  writer: Writer,
  { changes }: DueChanges,
  versions: SeatVersions | null,
  idTime: () => number,
  share = new TimeShare(),
): Promise<SeatWrite[] | AdminRefusal> {
  const denied = rightsMissing(writer.scope, changes)
  if (denied !== null) return denied
  const mayManage = managerOf(writer.scope)
  const managed = ({ before, after }: SeatChange) =>
    (before === null || mayManage(before)) && (after === null || mayManage(after))
  if (!(await everyInShares(changes, managed, share))) return grantExceedsOwn
  if (versions !== null && !(await isPlanned(changes, versions, share))) return preconditionFailed
  const writes: SeatWrite[] = []
  for (const change of changes) {
    const rest = share.spent()
    if (rest !== null) await rest
    const { action, before, after } = change
    const tooLarge = tooLargeIn(writer, change)
    if (tooLarge !== null) return tooLarge
    writes.push({ action, before, after: after === null ? null : stored(writer, before, after, idTime) })
  }
  return writes
}

/** @returns null if the size of the Seat after the change is allowed */
export function tooLargeIn(
  limit: Pick<Writer, 'seatBytes'>,
  { name, before, after }: SeatChange,
): AdminRefusal | null {
  const refusal = after === null ? null : largerThanAllowed(limit, after, before)
  return refusal === null ? null : within(name, refusal)
}

/** Whether the changes take the administration from a Seat, and give it to none. */
export function mayEndAdministration(writer: Writer, writes: readonly SeatWrite[]): boolean {
  const { space } = writer.scope
  if (writes.some(({ after }) => after !== null && administrates(after, space))) return false
  return writes.some(({ before, after }) => before !== null && endsAdministration(writer, before, after))
}

/** The ids of the Seats that are changed or deleted. */
export function idsBefore(changes: readonly Pick<SeatWrite, 'before'>[]): string[] {
  return changes.flatMap(({ before }) => before?.id ?? [])
}

export function appliedSeats(
  writes: readonly SeatWrite[],
  { unchanged }: DueChanges,
  committed: Committed & Partial<KeyAdministration>,
): AppliedSeats {
  const changes = writes.flatMap(({ action, before, after }) => {
    const seat = after ?? before
    if (seat === null) return []
    const was = before !== null && before.name !== seat.name ? before.name : null
    return [{ action, name: seat.name, was, id: seat.id }]
  })
  return { changes, unchanged, keyAdministers: committed.keyAdministers ?? false, committed }
}

/** A name that the write gives up; null: none. */
export function nameGivenUp({ before, after }: SeatWrite): string | null {
  return before === null || before.name === after?.name ? null : before.name
}

export const readsTooMuch = inputInvalid([
  {
    path: '/seats',
    message: `names Seats that take more than ${MAX_READ / 1024 ** 2} MiB together: split the file`,
  },
])

export function tooMany(count: number): AdminRefusal {
  const message = `makes ${count > MAX_CHANGES ? `more than ${MAX_CHANGES}` : count} changes at once: split the file`
  return inputInvalid([{ path: '/seats', message }])
}

export function versionOf({ before }: Pick<SeatChange, 'before'>): string | null {
  return before === null ? null : seatTag(before)
}

function stored(
  writer: Writer,
  before: StoredSeat | null,
  { name, spaces, permissions }: WantedSeat,
  idTime: () => number,
): StoredSeat {
  const input = { name, spaces, permissions }
  return before === null ? newSeat(writer, idTime(), input) : seatAfter(writer, before, input)
}

/** Each change needs what its single write needs. */
function rightsMissing(scope: Scope, changes: readonly SeatChange[]): AdminRefusal | null {
  const held = new Set(scope.permissions)
  const missing = ORDER.find(
    (each) => !holds(held, SEAT_RIGHTS[each]) && changes.some(({ action }) => action === each),
  )
  return scope.all || missing === undefined ? null : permissionDenied(SEAT_RIGHTS[missing])
}

async function isPlanned(
  changes: readonly SeatChange[],
  versions: SeatVersions,
  share: TimeShare,
): Promise<boolean> {
  if (changes.length !== versions.size) return false
  return everyInShares(changes, (change) => versions.get(change.name) === versionOf(change), share)
}

/** The order of a list has no meaning. */
function grantsTheSame(a: SeatLists, b: SeatLists): boolean {
  return sameTexts(a.spaces, b.spaces) && sameTexts(a.permissions, b.permissions)
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  if (a.every((text, at) => text === b[at])) return true
  const there = new Set(a)
  return b.every((text) => there.has(text))
}

const ORDER: readonly SeatAction[] = ['create', 'update', 'delete']

function inOrder(a: SeatChange, b: SeatChange): number {
  return ORDER.indexOf(a.action) - ORDER.indexOf(b.action) || (a.name < b.name ? -1 : 1)
}

function pathOf(name: string, field: string): string {
  return pointerTo(pointerTo('/seats', name), field)
}

/** The faults of one Seat at its place in the file. */
function within(name: string, refusal: AdminRefusal): AdminRefusal {
  const place = pointerTo('/seats', name)
  return {
    ...refusal,
    faults: (refusal.faults ?? []).map((fault) => ({ ...fault, path: `${place}${fault.path}` })),
  }
}
