/**
 * The state that the writes of a cycle make, and the answer to each credential that follows from it
 * (docs/seats-api.md, docs/tokens.md). Pure, and written apart from the code that decides requests: a checker
 * must not share its faults.
 */

import { ALLOW } from './staleness.ts'

export interface CycleState {
  /** The Seat of the cycle; null if there is none now. */
  readonly seat: {
    readonly id: string
    readonly name: string
    /** Whether it holds `canary:read`. */
    readonly granted: boolean
  } | null
  /** How often each name has been given to a Seat. */
  readonly uses: ReadonlyMap<string, number>
  /** The ids of revoked API keys. */
  readonly revoked: ReadonlySet<string>
  /** The ids of sign-in sessions that have ended. */
  readonly ended: ReadonlySet<string>
  /** Whether the user of the tokens is blocked. */
  readonly blocked: boolean
  /** Whether the entry of the route tables requires `canary:read`, and no permission that no Seat holds. */
  readonly allowsEntry: boolean
  /** The texts of the tokens that a revocation of their user has voided. */
  readonly voided: ReadonlySet<string>
}

export type Credential =
  | {
      readonly kind: 'key'
      readonly text: string
      readonly id: string
      readonly seatId: string
      /** The path of the entry of the route tables that is asked in place of the canary. */
      readonly entry?: string
    }
  /** `use`: the use of the name that it is for. `session`: the session that it ends with, or null. */
  | {
      readonly kind: 'token'
      readonly text: string
      readonly name: string
      readonly use: number
      readonly session: string | null
    }

/** The state before the first write. */
export const NOTHING: CycleState = {
  seat: null,
  uses: new Map(),
  revoked: new Set(),
  ended: new Set(),
  blocked: false,
  allowsEntry: false,
  voided: new Set(),
}

/**
 * The answers to a credential. A key holds its Seat by id and follows a rename. It also holds a Seat without
 * permissions, so that it always has a Seat in the space. A token names a Seat, and is issued for one use of
 * the name.
 */
export function answersTo(credential: Credential, state: CycleState): readonly string[] {
  const { seat, uses, revoked, ended, blocked, voided, allowsEntry } = state
  if (credential.kind === 'key') {
    if (revoked.has(credential.id)) return ['api_key_revoked']
    const isAllowed = credential.entry === undefined || allowsEntry
    return [isAllowed && seat?.id === credential.seatId && seat.granted ? ALLOW : 'permission_denied']
  }
  if (credential.session !== null && ended.has(credential.session)) return ['token_invalid']
  if (voided.has(credential.text)) return ['token_revoked']
  if (blocked) return ['caller_blocked']
  const isNamed = seat?.name === credential.name && uses.get(credential.name) === credential.use
  return [isNamed && seat.granted ? ALLOW : 'permission_denied']
}

/** The state after a Seat takes a name. */
export function named(
  { uses }: CycleState,
  seat: NonNullable<CycleState['seat']>,
): Pick<CycleState, 'seat' | 'uses'> {
  return { seat, uses: new Map(uses).set(seat.name, useOf({ uses }, seat.name) + 1) }
}

/** How often the name has been given to a Seat. */
export function useOf({ uses }: Pick<CycleState, 'uses'>, name: string): number {
  return uses.get(name) ?? 0
}
