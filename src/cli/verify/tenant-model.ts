/**
 * The Seats and API keys of a tenant, one operation after the other (docs/seats-api.md, docs/tokens.md).
 * Pure, and written apart from the code of the gateway: a checker must not share its faults.
 *
 * A write without an answer may make a Seat whose id is unknown, and any write of unknown result makes a
 * version whose tag is unknown. The first answer that shows such an id or tag tells it, and it must not be
 * that of another write. A client cannot send a tag as a condition before an answer has told it, so an
 * unknown tag matches none.
 */

import { isDeepStrictEqual } from 'node:util'
import type { HistoryModel } from './linearizability.ts'
import {
  type Answer,
  answerText,
  type AppliedChange,
  mayChange,
  type Invocation,
  type TenantOperation,
} from './tenant-operations.ts'

interface SeatState {
  /** The id, or a name for this Seat while the id is unknown. */
  readonly key: string
  readonly id: string | null
  readonly name: string
  readonly permissions: string
  readonly tag: string | null
}

interface KeyState {
  readonly id: string
  /** The keys of its Seats, including those of deleted Seats. */
  readonly seats: readonly string[]
  /** The name of another Seat, which grants nothing and does not change; null if there is none. */
  readonly anchor: string | null
  readonly revocations: number
  /** The tags by version and names of its Seats. */
  readonly tags: Readonly<Record<string, string>>
}

/** The state: Seats and keys in the order of their ids, names in order. */
export interface TenantState {
  readonly seats: readonly SeatState[]
  readonly keys: readonly KeyState[]
  /** The names that a token from the beginning no longer holds. */
  readonly givenUp: readonly string[]
}

/** The answer of a state, and the next state. */
interface Due {
  readonly answer: Answer
  readonly next: TenantState
}

export const NO_SEATS: TenantState = { seats: [], keys: [], givenUp: [] }

/** The ids and tags in the answers to writes. */
interface AnswerValues {
  readonly ids: ReadonlySet<string>
  readonly tags: ReadonlySet<string>
}

/**
 * The model of a history.
 *
 * @param history the whole history: an id or a tag from a write in another part does not belong to a write
 *   here, although the two parts share no record
 */
export function tenantModelOf(
  history: readonly TenantOperation[],
): HistoryModel<TenantState, TenantOperation> {
  const answers = history.flatMap(({ writes, answer }) => (writes && answer !== null ? [answer] : []))
  const issued = {
    ids: new Set(
      answers.flatMap(({ id, changes = [] }) => [...(id === undefined ? [] : [id]), ...madeIn(changes)]),
    ),
    tags: new Set(answers.flatMap(({ tag }) => tag ?? [])),
  }
  return {
    initial: NO_SEATS,
    step: (state, operation) => stepped(state, operation, issued),
    key: (state) => JSON.stringify(state),
    unanswered(operation) {
      if (!mayChange(operation.invocation) || operation.invocation.kind === 'create key') return null
      return { ...operation, answer: null, ended: Infinity, writes: true }
    },
  }
}

/** The answer that the state would give, in words. */
export function dueText(state: TenantState, operation: TenantOperation): string {
  const issued = { ids: new Set<string>(), tags: new Set<string>() }
  return answerText(dueIn(state, { ...operation, answer: null }, issued).answer)
}

function stepped(state: TenantState, operation: TenantOperation, issued: AnswerValues): TenantState | null {
  const { answer } = operation
  const due = dueIn(state, operation, issued)
  if (answer === null) return due.next
  return isSame(due.answer, answer) ? due.next : null
}

/** Whether the answer has everything that is due; it may have more. */
function isSame(due: Answer, answer: Answer): boolean {
  return Object.entries(due).every(([field, value]) =>
    isDeepStrictEqual(value, answer[field as keyof Answer]),
  )
}

function madeIn(changes: readonly AppliedChange[]): string[] {
  return changes.flatMap(({ action, id }) => (action === 'create' ? [id] : []))
}

function dueIn(
  state: TenantState,
  { invocation, answer, began, by }: TenantOperation,
  issued: AnswerValues,
): Due {
  const refused = (code: string): Due => ({ answer: { code }, next: state })
  switch (invocation.kind) {
    case 'create Seat': {
      const { name, permissions } = invocation
      if (named(state, name) !== undefined) return refused('seat_name_taken')
      const id = answer?.id ?? null
      const made = { key: id ?? `? ${by} ${began}`, id, name, permissions, tag: answer?.tag ?? null }
      return { answer: { code: 'ok', name, permissions }, next: withSeat(state, made) }
    }
    case 'update Seat': {
      const seat = state.seats.find(({ id }) => id === invocation.id)
      if (seat === undefined) return refused('seat_not_found')
      const { name = seat.name, permissions = seat.permissions, ifMatch = seat.tag } = invocation
      if (ifMatch !== seat.tag) return refused('precondition_failed')
      if (name !== seat.name && named(state, name) !== undefined) return refused('seat_name_taken')
      const after = { ...seat, name, permissions, tag: answer?.tag ?? null }
      return { answer: { code: 'ok', name, permissions }, next: withSeat(state, after, seat) }
    }
    case 'delete Seat': {
      const seat = state.seats.find(({ id }) => id === invocation.id)
      if (seat === undefined) return refused('seat_not_found')
      if ((invocation.ifMatch ?? seat.tag) !== seat.tag) return refused('precondition_failed')
      return { answer: { code: 'ok' }, next: withoutSeat(state, seat) }
    }
    case 'read Seat': {
      const seat = state.seats.find(({ id }) => id === invocation.id)
      if (seat === undefined) return refused('seat_not_found')
      const { name, permissions } = seat
      const tag = told(seat.tag, answer?.tag, issued.tags)
      const next = tag === seat.tag ? state : withSeat(state, { ...seat, tag })
      return { answer: { code: 'ok', name, permissions, tag: tag ?? 'another tag' }, next }
    }
    case 'apply':
      return applied(state, invocation, answer, `? ${by} ${began}`, issued)
    default:
      return dueOfKey(state, invocation, answer, issued)
  }
}

function dueOfKey(
  state: TenantState,
  invocation: Extract<Invocation, { kind: `${string}key` | 'decide by token' }>,
  answer: Answer | null,
  issued: AnswerValues,
): Due {
  if (invocation.kind === 'decide by token') {
    const holds = (name: string) =>
      !state.givenUp.includes(name) && grants(named(state, name), invocation.permission)
    const code = invocation.names.some(holds) ? 'allow' : 'permission_denied'
    return { answer: { code }, next: state }
  }
  if (invocation.kind === 'create key') {
    const seats = invocation.seats.map((name) => named(state, name))
    if (!seats.every((seat) => seat !== undefined)) return { answer: { code: 'input_invalid' }, next: state }
    if (answer?.id === undefined) return { answer: { code: 'ok' }, next: state }
    const made = {
      id: answer.id,
      seats: seats.map(({ key }) => key),
      anchor: invocation.anchor ?? null,
      revocations: 0,
      tags: {},
    }
    const tags = answer.tag === undefined ? {} : { [versionOf(state, made)]: answer.tag }
    return { answer: { code: 'ok' }, next: withKey(state, { ...made, tags }) }
  }
  const key = state.keys.find(({ id }) => id === invocation.id)
  if (invocation.kind === 'decide by key')
    return { answer: { code: decidedBy(state, key, invocation.permission) }, next: state }
  if (key === undefined) return { answer: { code: 'api_key_not_found' }, next: state }
  const version = versionOf(state, key)
  const current = key.tags[version] ?? null
  if (invocation.kind === 'revoke key') {
    if ((invocation.ifMatch ?? current) !== current)
      return { answer: { code: 'precondition_failed' }, next: state }
    return { answer: { code: 'ok' }, next: withKey(state, { ...key, revocations: key.revocations + 1 }) }
  }
  const tag = told(current, answer?.tag, issued.tags)
  const next =
    tag === current || tag === null
      ? state
      : withKey(state, { ...key, tags: { ...key.tags, [version]: tag } })
  const seats = namesOf(state, key).join(' ')
  const shown = { code: 'ok', seats, revoked: key.revocations > 0, tag: tag ?? 'another tag' }
  return { answer: shown, next }
}

/** The effect of a file of Seats: all changes, or none. */
function applied(
  state: TenantState,
  { seats, versions }: Extract<Invocation, { kind: 'apply' }>,
  answer: Answer | null,
  unknown: string,
  issued: AnswerValues,
): Due {
  let next = state
  const changes: AppliedChange[] = []
  const before: Record<string, string | null> = {}
  for (const { name, was, permissions } of seats.toSorted(byName)) {
    const [own, former] = [named(state, name), was === undefined ? undefined : named(state, was)]
    if (own !== undefined && former !== undefined) return { answer: { code: 'input_invalid' }, next: state }
    const seat = own ?? former
    if (seat?.name === name && seat.permissions === permissions) continue
    before[name] = seat === undefined ? null : (seat.tag ?? 'unknown')
    const shown = answer?.changes?.find((change) => change.name === name)?.id
    const id = seat === undefined ? (shown ?? null) : told(seat.id, shown, issued.ids)
    const after = { key: seat?.key ?? id ?? `${unknown} ${name}`, id, name, permissions, tag: null }
    next = withSeat(next, after, seat)
    const action = seat === undefined ? 'create' : 'update'
    const renamed = seat === undefined || seat.name === name ? {} : { was: seat.name }
    changes.push({ action, name, ...renamed, id: id ?? 'another id' })
  }
  if (versions !== null && !isSameVersions(before, versions))
    return { answer: { code: 'precondition_failed' }, next: state }
  const inOrder = changes.toSorted((one, other) =>
    one.action < other.action ? -1 : one.action > other.action ? 1 : byName(one, other),
  )
  return { answer: { code: 'ok', changes: inOrder }, next }
}

function isSameVersions(
  due: Readonly<Record<string, string | null>>,
  issued: Readonly<Record<string, string | null>>,
): boolean {
  const names = Object.keys(due)
  return names.length === Object.keys(issued).length && names.every((name) => due[name] === issued[name])
}

function decidedBy({ seats }: TenantState, key: KeyState | undefined, permission: string): string {
  if (key === undefined) return 'api_key_invalid'
  if (key.revocations > 0) return 'api_key_revoked'
  const held = seats.filter((seat) => key.seats.includes(seat.key))
  if (held.length === 0 && key.anchor === null) return 'no_seat_in_space'
  return held.some((seat) => grants(seat, permission)) ? 'allow' : 'permission_denied'
}

function grants(seat: SeatState | undefined, permission: string): boolean {
  return seat !== undefined && seat.permissions.split(' ').includes(permission)
}

/**
 * The id or tag of a state after an answer.
 *
 * @param shown by the answer
 * @param issued by the answers to writes: such a value belongs to another write
 */
function told(current: string | null, shown: string | undefined, issued: ReadonlySet<string>): string | null {
  return current ?? (shown === undefined || issued.has(shown) ? null : shown)
}

function named({ seats }: TenantState, name: string): SeatState | undefined {
  return seats.find((seat) => seat.name === name)
}

function namesOf({ seats }: TenantState, key: KeyState): string[] {
  const names = key.seats.flatMap((held) => seats.find((seat) => seat.key === held)?.name ?? [])
  return key.anchor === null ? names : [...names, key.anchor]
}

function versionOf(state: TenantState, key: KeyState): string {
  return JSON.stringify([key.revocations, ...namesOf(state, key)])
}

function withSeat(state: TenantState, seat: SeatState, before?: SeatState): TenantState {
  const seats = [...state.seats.filter(({ key }) => key !== seat.key), seat].toSorted(byKey)
  return before === undefined || before.name === seat.name
    ? { ...state, seats }
    : givingUp({ ...state, seats }, before.name)
}

function withoutSeat(state: TenantState, { key, name }: SeatState): TenantState {
  return givingUp({ ...state, seats: state.seats.filter((seat) => seat.key !== key) }, name)
}

function givingUp(state: TenantState, name: string): TenantState {
  return { ...state, givenUp: [...new Set([...state.givenUp, name])].toSorted() }
}

function withKey(state: TenantState, key: KeyState): TenantState {
  const keys = [...state.keys.filter(({ id }) => id !== key.id), key]
  return { ...state, keys: keys.toSorted((one, other) => (one.id < other.id ? -1 : 1)) }
}

function byKey(one: SeatState, other: SeatState): number {
  return one.key < other.key ? -1 : 1
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0
}
