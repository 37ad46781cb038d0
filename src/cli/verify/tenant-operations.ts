/** The invocations of administrators and callers, the answers, and the text of both. Pure. */

import type { TimedOperation } from './linearizability.ts'

export interface SeatOfFile {
  readonly name: string
  /** The former name of a Seat that is renamed. */
  readonly was?: string
  readonly permissions: string
}

/** An invocation. Its permissions are one text, as {@link listed} writes them. */
export type Invocation =
  | { readonly kind: 'create Seat'; readonly name: string; readonly permissions: string }
  | {
      readonly kind: 'update Seat'
      readonly id: string
      readonly name?: string
      readonly permissions?: string
      readonly ifMatch?: string
    }
  | { readonly kind: 'delete Seat'; readonly id: string; readonly ifMatch?: string }
  | { readonly kind: 'read Seat'; readonly id: string }
  /** `versions`: the version of each Seat that the write changes, by name; null for one that it makes. */
  | {
      readonly kind: 'apply'
      readonly seats: readonly SeatOfFile[]
      readonly versions: Readonly<Record<string, string | null>> | null
    }
  /** `anchor`: the name of a Seat without permissions that it holds too, and that nothing changes. */
  | { readonly kind: 'create key'; readonly seats: readonly string[]; readonly anchor?: string }
  | { readonly kind: 'revoke key'; readonly id: string; readonly ifMatch?: string }
  | { readonly kind: 'read key'; readonly id: string }
  /** A request through a route that requires the permission. */
  | { readonly kind: 'decide by key'; readonly id: string; readonly permission: string }
  /** A request with a token that was issued before any of the names was given up. */
  | { readonly kind: 'decide by token'; readonly names: readonly string[]; readonly permission: string }

export interface AppliedChange {
  readonly action: string
  readonly name: string
  readonly was?: string
  readonly id: string
}

export interface Answer {
  /** `ok`, `allow`, or the code of the refusal. */
  readonly code: string
  readonly id?: string
  /** The entity tag. */
  readonly tag?: string
  readonly name?: string
  readonly permissions?: string
  /** The names of the Seats of a key, in their order. */
  readonly seats?: string
  readonly revoked?: boolean
  readonly changes?: readonly AppliedChange[]
}

export interface Operation {
  readonly invocation: Invocation
  /** The answer; null if the result is unknown. */
  readonly answer: Answer | null
  readonly began: number
  readonly ended: number
  /** The asker and the address. */
  readonly by: string
  readonly place: string
  readonly requestId: string
}

export type TenantOperation = Operation & TimedOperation

/** Texts in one text, as comparisons need it. */
export function listed(texts: readonly string[]): string {
  return texts.toSorted().join(' ')
}

/**
 * The operations with their records. A Seat is a record by its id and by each name that it ever has in the
 * history; a key is one by its id, and by the Seats that it may hold. Invocations without a result that change
 * nothing are left out.
 */
export function operationsOf(history: readonly Operation[]): TenantOperation[] {
  const names = new Map<string, Set<string>>()
  const ids = new Map<string, Set<string>>()
  const held = new Map<string, readonly string[]>()
  const holds = (id: string | undefined, name: string | undefined) => {
    if (id === undefined || name === undefined) return
    addTo(names, id, name)
    addTo(ids, name, id)
  }
  for (const { invocation, answer } of history) {
    if (invocation.kind === 'create Seat') holds(answer?.id, invocation.name)
    else if (invocation.kind === 'update Seat') holds(invocation.id, invocation.name)
    else if (invocation.kind === 'read Seat') holds(invocation.id, answer?.name)
    else if (invocation.kind === 'create key' && answer?.id !== undefined)
      held.set(answer.id, invocation.seats)
    for (const { id, name, was } of answer?.changes ?? []) {
      holds(id, name)
      holds(id, was)
    }
  }
  const seatRecords = (id: string) => [
    `id ${id}`,
    ...[...(names.get(id) ?? [])].map((name) => `name ${name}`),
  ]
  const nameRecords = (name: string) => [`name ${name}`, ...[...(ids.get(name) ?? [])].flatMap(seatRecords)]
  const keyRecords = (id: string) => [`key ${id}`, ...(held.get(id) ?? []).flatMap(nameRecords)]
  const ofKind = { seatRecords, nameRecords, keyRecords }
  return history.flatMap((record): TenantOperation[] => {
    const { invocation, answer } = record
    const writes = mayChange(invocation) && (answer === null || answer.code === 'ok')
    if (answer === null && (!writes || invocation.kind === 'create key')) return []
    const records = [...new Set(recordsOf(invocation, answer, ofKind))]
    return [{ ...record, records, writes, weak: invocation.kind.startsWith('decide') }]
  })
}

interface Records {
  seatRecords(id: string): string[]
  nameRecords(name: string): string[]
  keyRecords(id: string): string[]
}

function recordsOf(invocation: Invocation, answer: Answer | null, records: Records): string[] {
  const { seatRecords, nameRecords, keyRecords } = records
  switch (invocation.kind) {
    case 'create Seat':
      return answer?.id === undefined ? [`name ${invocation.name}`] : seatRecords(answer.id)
    case 'update Seat':
    case 'delete Seat':
    case 'read Seat':
      return [...seatRecords(invocation.id), ...('name' in invocation ? [`name ${invocation.name}`] : [])]
    case 'apply':
      return invocation.seats.flatMap(({ name, was }) => [
        ...nameRecords(name),
        ...(was === undefined ? [] : nameRecords(was)),
      ])
    case 'create key':
      return answer?.id === undefined ? invocation.seats.flatMap(nameRecords) : keyRecords(answer.id)
    case 'decide by token':
      return invocation.names.map((name) => `name ${name}`)
    default:
      return keyRecords(invocation.id)
  }
}

/** Whether the invocation changes something unless it is refused. */
export function mayChange({ kind }: Invocation): boolean {
  return !kind.startsWith('decide') && !kind.startsWith('read')
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([value]))
  else set.add(value)
}

/** An operation on one line. @param zero the start of the run */
export function operationText({ invocation, answer, began, ended, by, place }: Operation, zero = 0): string {
  const at = (moment: number) => (moment === Infinity ? '?' : (moment - zero).toFixed(1))
  const result = answer === null ? 'no answer so far' : answerText(answer)
  return `[${at(began)}, ${at(ended)}] ${by} at ${place}: ${invocationText(invocation)} → ${result}`
}

export function invocationText(invocation: Invocation): string {
  const { kind } = invocation
  const condition = 'ifMatch' in invocation ? ` If-Match ${invocation.ifMatch}` : ''
  switch (invocation.kind) {
    case 'create Seat':
      return `${kind} ${quoted(invocation.name)} {${invocation.permissions}}`
    case 'update Seat': {
      const name = invocation.name === undefined ? '' : ` name ${quoted(invocation.name)}`
      const lists = invocation.permissions === undefined ? '' : ` {${invocation.permissions}}`
      return `${kind} ${invocation.id}${name}${lists}${condition}`
    }
    case 'apply': {
      const seats = invocation.seats.map(
        ({ name, was, permissions }) =>
          `${was === undefined ? '' : `${quoted(was)} as `}${quoted(name)} {${permissions}}`,
      )
      const versions = invocation.versions === null ? '' : ` versions ${JSON.stringify(invocation.versions)}`
      return `${kind} ${seats.join(', ')}${versions}`
    }
    case 'create key':
      return `${kind} of ${invocation.seats.map(quoted).join(', ')}`
    case 'decide by key':
      return `${invocation.permission} by key ${invocation.id}`
    case 'decide by token':
      return `${invocation.permission} by token of ${invocation.names.map(quoted).join(', ')}`
    default:
      return `${kind} ${invocation.id}${condition}`
  }
}

/** An answer as text; parts of it may be absent. */
export function answerText({ code, id, tag, name, permissions, seats, revoked, changes }: Answer): string {
  return [
    code,
    ...(id === undefined ? [] : [id]),
    ...(name === undefined ? [] : [quoted(name)]),
    ...(permissions === undefined ? [] : [`{${permissions}}`]),
    ...(seats === undefined ? [] : [`of ${seats}`]),
    ...(revoked === true ? ['revoked'] : []),
    ...(tag === undefined ? [] : [tag]),
    ...(changes ?? []).map((change) => `${change.action} ${quoted(change.name)}`),
  ].join(' ')
}

function quoted(name: string): string {
  return JSON.stringify(name)
}
