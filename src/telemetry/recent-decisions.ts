/**
 * The newest decisions of each tenant, for `GET /v1/decisions`. They are always kept, so that the endpoint knows what was before
 * it was asked; one costs a quarter of a microsecond.
 *
 * A slot of a ring is written again and again: nothing is allocated for a decision but one text, which holds a copy of what
 * comes from the request. A slice would retain the whole request, with its credentials.
 */

import { randomBytes } from 'node:crypto'
import { crockford, ulid } from '../../seats-admin/model/ulid.ts'
import { detachedText } from '../lib/heap-size.ts'
import {
  type DecisionCode,
  type DecisionFilter,
  type DecisionQuestion,
  isAsked,
  type RecentDecision,
} from '../model/activity.ts'
import type { ConsideredSeat, Decision } from '../model/decision.ts'
import type { RefusedCaller } from '../model/errors.ts'
import type { DecisionQueue } from './decision-queue.ts'

/** Decisions of a tenant. */
const PER_TENANT = 1000
/** Tenants with decisions, in a process. */
const MAX_TENANTS = 100
/** Milliseconds between tenants that make room for others: with more tenants than have room, each takes its ring from another. */
const REPLACE_EVERY = 1000
/** Milliseconds that a tenant keeps its ring after it has asked. */
const ASKED_FOR = 10 * 60_000
/** Characters of a path and of a user. */
const MAX_TEXT = 1024
const MAX_SEATS = 20

const NO_SEATS: readonly ConsideredSeat[] = Object.freeze([])

interface Slot {
  at: number
  /** Counts the decisions of the process. */
  number: number
  code: DecisionCode
  method: string
  requestId: string
  /** Space and path, without a separator. */
  text: string
  /** -1: no space. */
  spaceLength: number
  route: string | null
  permission: string | null
  user: string | null
  seats: readonly ConsideredSeat[]
}

interface Ring {
  readonly slots: Slot[]
  /** The slot of the next decision, once all are in use: that of the oldest. */
  next: number
  /** ms since the epoch */
  lastAt: number
  askedAt: number
  readonly queues: Set<DecisionQueue>
}

export class RecentDecisions {
  readonly #rings = new Map<string, Ring>()
  /** Tells the decisions of one process from those of others with the same time. */
  readonly #process = crockford(randomBytes(8))
  #count = 0
  #lastAt = 0
  #replacedAt = 0

  /**
   * @param now ms since the epoch
   * @param code that of the decision, or of the refusal in its place
   */
  record(
    now: number,
    requestId: string,
    decision: Decision,
    code: DecisionCode,
    caller: RefusedCaller,
  ): void {
    const ring = this.#rings.get(caller.tenant) ?? this.#open(caller.tenant, now)
    if (ring === null) return
    const { slots } = ring
    let slot: Slot
    if (slots.length < PER_TENANT) slots.push((slot = newSlot()))
    else {
      slot = slots[ring.next] ?? newSlot()
      ring.next = (ring.next + 1) % PER_TENANT
    }
    // The clock may step back.
    if (now > this.#lastAt) this.#lastAt = now
    ring.lastAt = this.#lastAt
    fill(slot, this.#lastAt, this.#count++, requestId, decision, code, caller)
    if (ring.queues.size > 0) {
      const shown = this.#shown(slot)
      for (const queue of ring.queues) queue.offer(shown)
    }
  }

  /** Newest first. */
  list(question: DecisionQuestion): RecentDecision[] {
    const found: RecentDecision[] = []
    const ring = this.#ask(question.tenant)
    if (ring === null) return found
    const { slots, next } = ring
    for (let back = 1; back <= slots.length && found.length < question.limit; back++) {
      const slot = slots[(next + slots.length - back) % slots.length]
      if (slot === undefined || !isAsked({ code: slot.code, space: spaceOf(slot) }, question)) continue
      const shown = this.#shown(slot)
      const isOlder = question.before === null || shown.id < question.before
      if (isOlder && shown.requestId !== question.requestId) found.push(shown)
    }
    return found
  }

  /** Offers each decision of the tenant from now on to the queue. @returns ends that */
  watch({ tenant }: Pick<DecisionFilter, 'tenant'>, queue: DecisionQueue): () => void {
    const ring = this.#ask(tenant) ?? this.#add(tenant)
    ring.queues.add(queue)
    return () => void ring.queues.delete(queue)
  }

  /** Applies a configuration. */
  retain(tenants: { has(id: string): boolean }): void {
    for (const tenant of this.#rings.keys()) if (!tenants.has(tenant)) this.#rings.delete(tenant)
  }

  #ask(tenant: string): Ring | null {
    const ring = this.#rings.get(tenant) ?? this.#open(tenant, Infinity)
    if (ring !== null) ring.askedAt = Date.now()
    return ring
  }

  /** @param now Infinity: the tenant asks @returns null: others have all the room */
  #open(tenant: string, now: number): Ring | null {
    if (this.#rings.size >= MAX_TENANTS && !this.#makeRoom(now)) return null
    return this.#add(tenant)
  }

  #add(tenant: string): Ring {
    const ring = { slots: [], next: 0, lastAt: 0, askedAt: 0, queues: new Set<DecisionQueue>() }
    this.#rings.set(tenant, ring)
    return ring
  }

  /** Removes the ring that has had no decision for the longest time, of those that no request has asked for lately. */
  #makeRoom(now: number): boolean {
    if (now - this.#replacedAt < REPLACE_EVERY) return false
    const time = Date.now()
    this.#replacedAt = time
    let idle: [string, Ring] | null = null
    for (const each of this.#rings) {
      const [, ring] = each
      if (ring.queues.size > 0 || time - ring.askedAt < ASKED_FOR) continue
      if (idle === null || ring.lastAt < idle[1].lastAt) idle = each
    }
    return idle !== null && this.#rings.delete(idle[0])
  }

  #shown(slot: Slot): RecentDecision {
    const { at, code, method, text, route, permission, user, seats, requestId } = slot
    const space = spaceOf(slot)
    return {
      id: this.#idOf(slot),
      at,
      code,
      method,
      path: text.slice(space?.length ?? 0),
      route,
      permission,
      space,
      user,
      seats: seats.filter(isInSpace).map(({ name }) => name),
      requestId,
    }
  }

  /** The number stands in front of what tells processes apart, so that ids of one process sort as its decisions came. */
  #idOf({ at, number }: Slot): string {
    const digits = Buffer.alloc(8)
    for (let i = 7, rest = number; i >= 0; i--, rest = Math.floor(rest / 32)) digits[i] = rest % 32
    return ulid(at, Buffer.concat([digits, Buffer.alloc(8)])).slice(0, -8) + this.#process
  }
}

function newSlot(): Slot {
  return {
    at: 0,
    number: 0,
    code: 'allow',
    method: '',
    requestId: '',
    text: '',
    spaceLength: -1,
    route: null,
    permission: null,
    user: null,
    seats: NO_SEATS,
  }
}

function fill(
  slot: Slot,
  at: number,
  number: number,
  requestId: string,
  { method, path, route, permission, space, seats }: Decision,
  code: DecisionCode,
  { user }: RefusedCaller,
): void {
  // Entries for another tenant are its own matter.
  const isOwn = code !== 'tenant_mismatch'
  slot.at = at
  slot.number = number
  slot.code = code
  slot.method = method
  // Generated or copied, so that it retains no request: see `requestIdOf` in pipeline/request-input.ts.
  slot.requestId = requestId
  // Both are ASCII where a caller is known.
  slot.text = detachedText((space ?? '') + (path.length > MAX_TEXT ? path.slice(0, MAX_TEXT) : path))
  slot.spaceLength = space === null ? -1 : space.length
  slot.route = isOwn && route !== null ? route.id : null
  slot.permission = isOwn ? permission : null
  slot.user = user !== null && user.length > MAX_TEXT ? Buffer.from(user.slice(0, MAX_TEXT)).toString() : user
  slot.seats = seats.length > MAX_SEATS ? seats.slice(0, MAX_SEATS) : seats
}

function spaceOf({ text, spaceLength }: Slot): string | null {
  return spaceLength < 0 ? null : text.slice(0, spaceLength)
}

/** Seats of other spaces are not shown to those who see this space alone. */
function isInSpace({ verdict }: ConsideredSeat): boolean {
  return verdict === 'grants' || verdict === 'lacks_permission'
}
