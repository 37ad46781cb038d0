/** Entries of the audit: who changed what, from what to what. Each tenant has a chain of its own. */

import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from './canonical-json.ts'

export const AUDIT_ACTIONS = [
  'seat.create',
  'seat.update',
  'seat.delete',
  'api_key.create',
  'api_key.revoke',
  'block.create',
  'block.delete',
  'session.end',
  'revocation.create',
  'grant.create',
  'grant.delete',
  'scim_user.create',
  'scim_user.update',
  'scim_user.delete',
  'scim_group.create',
  'scim_group.update',
  'scim_group.delete',
  'tables.update',
  'bootstrap',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** `command`: a command of `seatgate` on the store; `provider`: the tenant's identity provider. */
export const ACTOR_KINDS = ['user', 'api-key', 'command', 'provider'] as const

export type ActorKind = (typeof ACTOR_KINDS)[number]

export const TARGET_KINDS = [
  'seat',
  'api-key',
  'block',
  'session',
  'revocation',
  'grant',
  'scim-user',
  'scim-group',
  'tables',
] as const

export interface AuditActor {
  readonly kind: ActorKind
  /** The token's `sub`, the API key's id, the command's name, the provider's issuer, or `scim`. */
  readonly id: string
  /** The user's email, the API key's name or the provider's host; absent if it is not known. */
  readonly name?: string
}

export interface AuditTarget {
  readonly kind: (typeof TARGET_KINDS)[number]
  readonly id: string
  readonly name: string | null
}

/** The JSON form of an entry, from which {@link auditHash} is made. */
export interface AuditEntry {
  /** A ULID: sorts as `seq` does. */
  readonly id: string
  /** Counts the tenant's entries from 1, without gaps. */
  readonly seq: number
  /** RFC 3339, UTC, milliseconds; by the clock of the gateway. */
  readonly at: string
  readonly tenant: string
  readonly actor: AuditActor
  /** The id of the request; null for a command, and if no request caused the change. */
  readonly request_id: string | null
  readonly action: AuditAction
  readonly target: AuditTarget
  /** The space of the request. */
  readonly space: string
  /** The target before the change, as `GET` shows it; null: there was none. */
  readonly before: JsonObject | null
  /** The target after the change; null: there is none. */
  readonly after: JsonObject | null
  /** The hash of the entry before this one; null for the first. */
  readonly prev: string | null
  readonly hash: string
}

/** The end of a chain: its newest entry. */
export interface AuditHead {
  readonly seq: number
  readonly hash: string
}

/** The beginning of a chain: the oldest entry that is kept, and the hash of the entry before it. */
export interface AuditStart {
  readonly seq: number
  readonly prev: string | null
}

export const FIRST: AuditStart = { seq: 1, prev: null }

/** The states of an entry as canonical JSON. */
export interface AuditTexts {
  readonly before: string
  readonly after: string
}

export function auditTexts({ before, after }: Pick<AuditEntry, 'before' | 'after'>): AuditTexts {
  return { before: canonicalJson(before), after: canonicalJson(after) }
}

/**
 * SHA-256, hexadecimal, of the canonical entry without its hash: RFC 8785 orders its names by their letters.
 */
export function auditHash(entry: Omit<AuditEntry, 'hash'>, states: AuditTexts): string {
  const { id, seq, at, tenant, request_id, action, space, prev } = entry
  const [actor, target] = [{ ...entry.actor }, { ...entry.target }]
  const json = canonicalJson
  const { before, after } = states
  const text = `{"action":${json(action)},"actor":${json(actor)},"after":${after},"at":${json(at)},"before":${before},"id":${json(id)},"prev":${json(prev)},"request_id":${json(request_id)},"seq":${json(seq)},"space":${json(space)},"target":${json(target)},"tenant":${json(tenant)}}`
  return hash('sha256', text, 'hex')
}
