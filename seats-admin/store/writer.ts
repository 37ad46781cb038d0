/** Who makes a write, and its result. */

import type { ActorKind } from '../model/audit.ts'
import type { Committed, KeyAdministration } from '../model/change.ts'
import type { IfMatch } from '../model/entity-tag.ts'
import type { Scope } from '../model/scope.ts'

/**
 * What the audit says of an author beside the id. `name` is the user's email, or the provider's host; null if
 * it is not known.
 */
export interface Actor {
  readonly kind: ActorKind
  readonly name: string | null
}

/** The author of a write, their scope, and the time in ms since the epoch. */
export interface Writer {
  readonly tenant: string
  /** The token's `sub` or the API key's id: stored as created_by, updated_by. Of a provider: its issuer. */
  readonly by: string
  /**
   * The author for the audit; a command if absent. The name of an API key is looked up in the transaction.
   */
  readonly actor?: Actor
  /** The id of the request; absent for a command, and if no request caused the write. */
  readonly requestId?: string
  readonly scope: Scope
  readonly now: number
  /** Limit of a Seat's size in bytes; none if absent. See `seatSize`. */
  readonly seatBytes?: number
  /** The condition that the transaction checks; none if absent. */
  readonly ifMatch?: IfMatch | null
}

/** The result of a write that may leave a tenant without an administrator. */
export interface AdministrativeWrite<V> extends Written<V>, KeyAdministration {}

/** The result of a durable write. */
export interface Written<V> extends Committed {
  readonly value: V
}
