/**
 * The newest decisions of each tenant, for `GET /v1/decisions`. They are always kept, so that the endpoint
 * knows what was before it was asked.
 *
 * A slot of a ring is written again and again. What is made for each request is copied into the texts of the
 * ring: referred to from the slot, V8 would copy it twice, and collect it among old objects. Names of Seats,
 * routes and users of remembered tokens are old already. A slice of the request would also retain all of it,
 * with its credentials.
 */

import { randomBytes } from 'node:crypto'
import { crockford, ulid } from '../../seats-admin/model/ulid.ts'
import {
  type DecisionCode,
  type DecisionFilter,
  type DecisionQuery,
  matchesFilter,
  type RecentDecision,
} from '../model/activity.ts'
import { detachedText } from '../lib/heap-size.ts'
import type { Decision } from '../model/decision.ts'
import type { RefusedCaller } from '../model/errors.ts'
import { takesTenant } from '../model/route.ts'
import type { DecisionQueue } from './decision-queue.ts'
import { TextRing } from './text-ring.ts'

/** Decisions of a tenant. */
const PER_TENANT = 1000
/** Tenants with decisions, in a process. */
const MAX_TENANTS = 100
/**
 * Milliseconds between tenants that make room for others: with more tenants than have room, each takes its
 * ring from another.
 */
const REPLACE_EVERY = 1000
/** Milliseconds that a tenant keeps its ring after it has asked. */
const ASKED_FOR = 10 * 60_000
/** Characters of a path and of a user. */
const MAX_TEXT = 1024
const MAX_SEATS = 20
/** V8 copies a slice that is shorter than this, and refers to the whole text in others. */
const MIN_SLICE = 13

class Slot {
  at = 0
  /** Counts the decisions of the process. */
  number = 0
  code: DecisionCode = 'allow'
  method = ''
  /** The position of request id, space and path in the texts of the ring. */
  position = Infinity
  idLength = 0
  /** The length of the space; -1 if there is none. */
  spaceLength = -1
  pathLength = 0
  route: string | null = null
  permission: string | null = null
  user: string | null = null
  /** The names of this decision, and after them names that are left from others. */
  readonly seats: string[] = []
  seatCount = 0
}

interface Ring {
  readonly slots: Slot[]
  readonly texts: TextRing
  /** The slot of the oldest decision, which the next one takes once all slots are in use. */
  next: number
  /** ms since the epoch */
  lastAt: number
  askedAt: number
  readonly queues: Set<DecisionQueue>
}

export class RecentDecisions {
  readonly #rings = new Map<string, Ring>()
  /** Distinguishes the decisions of this process from decisions of others with the same time. */
  readonly #process = crockford(randomBytes(8))
  #count = 0
  #lastAt = 0
  #replacedAt = 0

  /**
   * @param now ms since the epoch
   * @param code the code of the decision, or of the refusal in its place
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
    const { slots, texts } = ring
    let slot: Slot
    if (slots.length < PER_TENANT) slots.push((slot = new Slot()))
    else {
      slot = slots[ring.next] ?? new Slot()
      ring.next = (ring.next + 1) % PER_TENANT
    }
    // The clock may step back.
    if (now > this.#lastAt) this.#lastAt = now
    ring.lastAt = this.#lastAt
    slot.at = this.#lastAt
    slot.number = this.#count++
    slot.code = code
    fill(slot, decision, caller)
    // The first slot has the oldest text, or the next one once all are in use.
    fillText(slot, texts, slots[ring.next]?.position ?? Infinity, requestId, decision)
    if (ring.queues.size > 0) {
      const shown = this.#shown(ring, slot)
      for (const queue of ring.queues) queue.offer(shown)
    }
  }

  /** Newest first. */
  list(query: DecisionQuery): RecentDecision[] {
    const decisions: RecentDecision[] = []
    const ring = this.#ask(query.tenant)
    if (ring === null) return decisions
    const { slots, next } = ring
    for (let back = 1; back <= slots.length && decisions.length < query.limit; back++) {
      const slot = slots[(next + slots.length - back) % slots.length]
      if (slot === undefined || !matchesFilter({ code: slot.code, space: spaceOf(ring, slot) }, query))
        continue
      const shown = this.#shown(ring, slot)
      const isOlder = query.before === null || shown.id < query.before
      if (isOlder && shown.requestId !== query.requestId) decisions.push(shown)
    }
    return decisions
  }

  /**
   * Offers each decision of the tenant from now on to the queue.
   *
   * @returns ends that
   */
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

  /**
   * @param now Infinity if the tenant asks
   * @returns null if others have all the room
   */
  #open(tenant: string, now: number): Ring | null {
    if (this.#rings.size >= MAX_TENANTS && !this.#makeRoom(now)) return null
    return this.#add(tenant)
  }

  #add(tenant: string): Ring {
    const queues = new Set<DecisionQueue>()
    const ring = { slots: [], texts: new TextRing(), next: 0, lastAt: 0, askedAt: 0, queues }
    this.#rings.set(tenant, ring)
    return ring
  }

  /** Removes the ring without a decision for the longest time, unless a request has asked for it lately. */
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

  #shown(ring: Ring, slot: Slot): RecentDecision {
    const { at, code, method, position, idLength, spaceLength, pathLength, route, permission, user } = slot
    const pathStart = idLength + Math.max(spaceLength, 0)
    return {
      id: this.#idOf(slot),
      at,
      code,
      method,
      path: ring.texts.slice(position, pathStart, pathStart + pathLength),
      route,
      permission,
      space: spaceOf(ring, slot),
      user,
      seats: slot.seats.slice(0, slot.seatCount),
      requestId: ring.texts.slice(position, 0, idLength),
    }
  }

  /**
   * The number stands in front of what tells processes apart, so that ids of one process sort as its
   * decisions came.
   */
  #idOf({ at, number }: Slot): string {
    const digits = Buffer.alloc(8)
    for (let i = 7, rest = number; i >= 0; i--, rest = Math.floor(rest / 32)) digits[i] = rest % 32
    return ulid(at, Buffer.concat([digits, Buffer.alloc(8)])).slice(0, -8) + this.#process
  }
}

function fill(
  slot: Slot,
  { method, route, permission, seats }: Decision,
  { tenant, user }: RefusedCaller,
): void {
  // Entries for another tenant are its own matter, whatever the code.
  const isOwn = route === null || takesTenant(route, tenant)
  slot.method = method.length < MIN_SLICE ? method : detachedText(method)
  slot.route = isOwn && route !== null ? route.id : null
  slot.permission = isOwn ? permission : null
  slot.user = user !== null && user.length > MAX_TEXT ? Buffer.from(user.slice(0, MAX_TEXT)).toString() : user
  slot.seatCount = 0
  for (const { name, verdict } of seats) {
    if (slot.seatCount === MAX_SEATS) break
    // Seats of other spaces are not shown to those who see this space alone.
    if (verdict === 'grants' || verdict === 'lacks_permission') slot.seats[slot.seatCount++] = name
  }
}

/** @param oldest as of `TextRing.add` */
function fillText(
  slot: Slot,
  texts: TextRing,
  oldest: number,
  requestId: string,
  { path, space }: Decision,
): void {
  const beginning = path.length > MAX_TEXT ? path.slice(0, MAX_TEXT) : path
  slot.idLength = requestId.length
  slot.spaceLength = space === null ? -1 : space.length
  slot.pathLength = beginning.length
  // All are ASCII where a caller is known.
  slot.position = texts.add(requestId + (space ?? '') + beginning, oldest)
}

function spaceOf({ texts }: Ring, { position, idLength, spaceLength }: Slot): string | null {
  return spaceLength < 0 ? null : texts.slice(position, idLength, idLength + spaceLength)
}
