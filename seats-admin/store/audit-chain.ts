/** The chain of the audit log: each entry has the hash of the one before it. Entries as rows of the store. */

import {
  type AuditAction,
  type AuditActor,
  type AuditEntry,
  type AuditHead,
  auditHash,
  type AuditTarget,
  type AuditTexts,
  auditTexts,
} from '../model/audit.ts'
import type { JsonObject } from '../model/canonical-json.ts'
import { ulid } from '../model/ulid.ts'
import { type Columns, integer, type Row, text, textOrNull } from './rows.ts'
import { replaceUnstorable } from './storable-text.ts'
import type { Actor, Writer } from './store.ts'

/** What a write changes. The states are JSON as `GET` shows them, without any secret. */
export interface AuditEvent {
  readonly action: AuditAction
  readonly target: AuditTarget
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

/** The states come last: they may be large, and the other columns are read without them. */
export const AUDIT_COLUMNS: Columns<keyof AuditRow> = {
  tenant: 'text',
  id: 'text',
  seq: 'bigint',
  at: 'bigint',
  actor_kind: 'text',
  actor_id: 'text',
  actor_name: 'text',
  request_id: 'text',
  action: 'text',
  target_kind: 'text',
  target_id: 'text',
  target_name: 'text',
  space: 'text',
  prev: 'text',
  hash: 'text',
  visible_in: 'text',
  before: 'text',
  after: 'text',
}

/** A row of the table `audit`. `before` and `after` are canonical JSON, `at` is in ms since the epoch. */
type AuditRow = ReturnType<typeof rowOf>

const COMMAND: Actor = { kind: 'command', name: null }

/** The entries that one write appends to a tenant's chain. */
export class AuditChain {
  #entries: AuditRow[] = []
  readonly writer: Writer
  readonly actor: AuditActor
  #head: AuditHead | null
  /** The newest entry of the write; null: it has none. */
  newest: AuditHead | null = null

  /**
   * @param head null: the chain has no entry yet
   * @param keyName the name of the API key that makes the change; null for other actors
   */
  constructor(writer: Writer, head: AuditHead | null, keyName: string | null) {
    const { kind, name } = writer.actor ?? COMMAND
    const actorName = keyName ?? name
    this.writer = writer
    this.actor = {
      kind,
      id: replaceUnstorable(writer.by),
      ...(actorName === null ? {} : { name: replaceUnstorable(actorName) }),
    }
    this.#head = head
  }

  /** @param idTime the time part of the entry's id */
  append(idTime: number, event: AuditEvent): AuditHead {
    const { tenant, now, scope, requestId = null } = this.writer
    const body = {
      id: ulid(idTime),
      seq: (this.#head?.seq ?? 0) + 1,
      at: new Date(now).toISOString(),
      tenant,
      actor: this.actor,
      request_id: requestId,
      space: scope.space,
      ...event,
      prev: this.#head?.hash ?? null,
    }
    const states = auditTexts(body)
    const hash = auditHash(body, states)
    const head = { seq: body.seq, hash }
    this.#head = head
    this.newest = head
    this.#entries.push(rowOf({ ...body, hash }, states))
    return head
  }

  /** The entries since the last call. */
  take(): AuditRow[] {
    const entries = this.#entries
    this.#entries = []
    return entries
  }
}

function rowOf({ actor, target, before, after, at, ...plain }: AuditEntry, states: AuditTexts) {
  return {
    ...plain,
    at: Date.parse(at),
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name ?? null,
    target_kind: target.kind,
    target_id: target.id,
    target_name: target.name,
    visible_in: visibleIn(target, [before, after]),
    before: before === null ? null : states.before,
    after: after === null ? null : states.after,
  }
}

/**
 * The space, besides the admin space, in which an entry may be seen: the only space of a Seat, before and
 * after the change. All other entries are seen in the admin space only.
 */
function visibleIn({ kind }: AuditTarget, states: readonly (JsonObject | null)[]): string | null {
  if (kind !== 'seat') return null
  const [first, ...others] = states.filter((state) => state !== null).map(soleSpace)
  return first === undefined || others.some((other) => other !== first) ? null : first
}

function soleSpace({ spaces }: JsonObject): string | null {
  const [space, ...others]: readonly unknown[] = Array.isArray(spaces) ? spaces : []
  return typeof space === 'string' && others.length === 0 ? space : null
}

/** @throws for a row that no version of Seatgate wrote */
export function auditEntry(row: Row): AuditEntry {
  const name = textOrNull(row, 'actor_name')
  return {
    id: text(row, 'id'),
    seq: integer(row, 'seq'),
    at: new Date(integer(row, 'at')).toISOString(),
    tenant: text(row, 'tenant'),
    actor: {
      kind: text(row, 'actor_kind') as AuditActor['kind'],
      id: text(row, 'actor_id'),
      ...(name === null ? {} : { name }),
    },
    request_id: textOrNull(row, 'request_id'),
    action: text(row, 'action') as AuditAction,
    target: {
      kind: text(row, 'target_kind') as AuditTarget['kind'],
      id: text(row, 'target_id'),
      name: textOrNull(row, 'target_name'),
    },
    space: text(row, 'space'),
    before: stateOf(row, 'before'),
    after: stateOf(row, 'after'),
    prev: textOrNull(row, 'prev'),
    hash: text(row, 'hash'),
  }
}

/** Whether the row is exactly the one that was written: its hash, and what is derived from the entry. */
export function isIntact(row: Row): boolean {
  try {
    const entry = auditEntry(row)
    const states = auditTexts(entry)
    const written: Row = rowOf(entry, states)
    return (
      auditHash(entry, states) === entry.hash &&
      Object.keys(written).every((name) => row[name] === written[name])
    )
  } catch {
    return false
  }
}

export function stateOf(row: Row, column: 'before' | 'after'): JsonObject | null {
  const state = textOrNull(row, column)
  return state === null ? null : JSON.parse(state)
}

export const headQuery = 'SELECT seq, hash FROM audit_heads WHERE tenant = :tenant'

export function auditHead(row: Row | undefined): AuditHead | null {
  return row === undefined ? null : { seq: integer(row, 'seq'), hash: text(row, 'hash') }
}
