/**
 * Decides questions by the functions that decide requests: the Seats of the subject are resolved from the
 * memory of the process under its lease, or from the store, and `authorize` compares them. No answer is kept.
 */

import { authorize } from '../../decision/authorize.ts'
import type { MemoryLease } from '../../decision/engine.ts'
import { decideOnOneState } from '../../decision/seats/decision-reads.ts'
import { needsPermission } from '../../model/route.ts'
import { SeatQuestion } from '../../model/decision-seat.ts'
import type { Entity, EvaluationRequest } from './authzen-requests.ts'
import type { Reason } from './decision-reasons.ts'
import { neededFor } from './authzen-resources.ts'
import type { RouteIndex } from './route-index.ts'
import { type Subject, type SubjectDeps, subjectOf } from './subjects.ts'

interface DecisionDeps extends SubjectDeps {
  readonly lease: MemoryLease
  readonly index: () => RouteIndex
}

/** The decisions of one request: it reads each of its subjects once. */
export class Decisions {
  readonly #tenant: string
  readonly #deps: DecisionDeps
  readonly #subjects = new Map<string, Subject | null>()

  constructor(tenant: string, deps: DecisionDeps) {
    this.#tenant = tenant
    this.#deps = deps
  }

  /** Rejects when the store can't be read. */
  async decide(question: EvaluationRequest): Promise<Reason> {
    const needed = neededFor(question, this.#deps.index(), this.#tenant)
    if (typeof needed === 'string') return needed
    const { requirement, space } = needed
    const subject = this.#subject(question.subject)
    if (subject === null) return 'subject_type_unknown'
    const { lease, memory } = this.#deps
    if (!lease.live()) await lease.renewed()
    return decideOnOneState(memory.received, async (reads): Promise<Reason> => {
      const denial = await subject.denial(reads)
      if (denial !== null) return denial
      if (!needsPermission(requirement)) return 'allow'
      if (space === null) return 'space_required'
      const seats = await subject.seats(new SeatQuestion(space, requirement), reads)
      return authorize(seats, space, requirement).code
    })
  }

  #subject(entity: Entity): Subject | null {
    const key = `${entity.type}\0${entity.id}`
    const earlier = this.#subjects.get(key)
    if (earlier !== undefined) return earlier
    const subject = subjectOf(entity, this.#tenant, this.#deps)
    this.#subjects.set(key, subject)
    return subject
  }
}
