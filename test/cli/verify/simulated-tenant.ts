/**
 * A tenant with several administrators and callers in simulated time: histories that have an order, for the checker of orders. It
 * shares nothing with the model of that checker.
 */

import { Scene } from '../../../src/cli/verify/scene.ts'
import type {
  Answer,
  AppliedChange,
  Operation,
  Invocation,
} from '../../../src/cli/verify/tenant-operations.ts'
import type { Random } from '../../support/random.ts'

interface HeldSeat {
  name: string
  permissions: string
  tag: string
}

interface HeldKey {
  seats: string[]
  revoked: boolean
  version: number
}

/** A fault of the tenant: what it answers, or does, in place of the right thing. */
export type Fault = (invocation: Invocation, tenant: SimulatedTenant) => Answer | null

export class SimulatedTenant {
  seats = new Map<string, HeldSeat>()
  keys = new Map<string, HeldKey>()
  givenUp = new Set<string>()
  #made = 0

  copy(): SimulatedTenant {
    const copy = new SimulatedTenant()
    const { seats, keys, givenUp } = structuredClone({
      seats: this.seats,
      keys: this.keys,
      givenUp: this.givenUp,
    })
    return Object.assign(copy, { seats, keys, givenUp })
  }

  idOf(name: string): string | null {
    for (const [id, seat] of this.seats) if (seat.name === name) return id
    return null
  }

  perform(invocation: Invocation): Answer {
    switch (invocation.kind) {
      case 'create Seat': {
        if (this.idOf(invocation.name) !== null) return { code: 'seat_name_taken' }
        const id = `S${++this.#made}`
        return { id, ...this.#put(id, invocation.name, invocation.permissions) }
      }
      case 'apply':
        return this.#apply(invocation)
      case 'create key': {
        const ids = invocation.seats.map((name) => this.idOf(name))
        if (ids.includes(null)) return { code: 'input_invalid' }
        const id = `K${++this.#made}`
        this.keys.set(id, { seats: ids.map(String), revoked: false, version: 1 })
        return { code: 'ok', id, tag: this.#keyTag(id) }
      }
      case 'decide by token': {
        const granted = invocation.names.some((name) => {
          const seat = this.seats.get(this.idOf(name) ?? '')
          return !this.givenUp.has(name) && seat !== undefined && this.#grants(seat, invocation.permission)
        })
        return { code: granted ? 'allow' : 'permission_denied' }
      }
      case 'decide by key':
      case 'read key':
      case 'revoke key':
        return this.#ofKey(invocation)
      default:
        return this.#ofSeat(invocation)
    }
  }

  #ofSeat(invocation: Extract<Invocation, { kind: `${'read' | 'update' | 'delete'} Seat` }>): Answer {
    const seat = this.seats.get(invocation.id)
    if (seat === undefined) return { code: 'seat_not_found' }
    if (invocation.kind === 'read Seat') return { code: 'ok', ...seat }
    if (invocation.ifMatch !== undefined && invocation.ifMatch !== seat.tag)
      return { code: 'precondition_failed' }
    if (invocation.kind === 'delete Seat') {
      this.#remove(invocation.id)
      return { code: 'ok' }
    }
    const { name = seat.name, permissions = seat.permissions } = invocation
    if (name !== seat.name && this.idOf(name) !== null) return { code: 'seat_name_taken' }
    return this.#put(invocation.id, name, permissions)
  }

  #ofKey(invocation: Extract<Invocation, { kind: 'decide by key' | 'read key' | 'revoke key' }>): Answer {
    const key = this.keys.get(invocation.id)
    if (key === undefined)
      return { code: invocation.kind === 'decide by key' ? 'api_key_invalid' : 'api_key_not_found' }
    const seats = key.seats.flatMap((id) => this.seats.get(id) ?? [])
    const { revoked } = key
    if (invocation.kind === 'decide by key') {
      if (revoked) return { code: 'api_key_revoked' }
      if (seats.length === 0) return { code: 'no_seat_in_space' }
      const granted = seats.some((seat) => this.#grants(seat, invocation.permission))
      return { code: granted ? 'allow' : 'permission_denied' }
    }
    const tag = this.#keyTag(invocation.id)
    if (invocation.kind === 'read key')
      return { code: 'ok', seats: seats.map(({ name }) => name).join(' '), revoked, tag }
    if (invocation.ifMatch !== undefined && invocation.ifMatch !== tag) return { code: 'precondition_failed' }
    key.revoked = true
    key.version++
    return { code: 'ok' }
  }

  #apply({ seats, versions }: Extract<Invocation, { kind: 'apply' }>): Answer {
    const due: { name: string; id: string | null; permissions: string; was: string | null }[] = []
    for (const { name, was, permissions } of seats) {
      const [own, former] = [this.idOf(name), was === undefined ? null : this.idOf(was)]
      if (own !== null && former !== null) return { code: 'input_invalid' }
      const seat = this.seats.get(own ?? former ?? '')
      if (seat?.name !== name || seat.permissions !== permissions)
        due.push({ name, id: own ?? former, permissions, was: own === null ? (was ?? null) : null })
    }
    const tagOf = (id: string | null) => (id === null ? null : this.seats.get(id)?.tag)
    const isPlanned = (given: Readonly<Record<string, string | null>>) =>
      Object.keys(given).length === due.length && due.every(({ name, id }) => given[name] === tagOf(id))
    if (versions !== null && !isPlanned(versions)) return { code: 'precondition_failed' }
    const changes = due.map(({ name, id, permissions, was }): AppliedChange => {
      const at = id ?? `S${++this.#made}`
      this.#put(at, name, permissions)
      const renamed = id === null || was === null ? {} : { was }
      return { action: id === null ? 'create' : 'update', name, ...renamed, id: at }
    })
    const rank = ({ action, name }: AppliedChange) => `${action} ${name}`
    return { code: 'ok', changes: changes.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)) }
  }

  #put(id: string, name: string, permissions: string): Answer {
    const before = this.seats.get(id)
    if (before !== undefined && before.name !== name) this.givenUp.add(before.name)
    const tag = `"${++this.#made}"`
    this.seats.set(id, { name, permissions, tag })
    return { code: 'ok', name, permissions, tag }
  }

  #remove(id: string): void {
    this.givenUp.add(this.seats.get(id)?.name ?? '')
    this.seats.delete(id)
    for (const key of this.keys.values()) key.seats = key.seats.filter((held) => held !== id)
  }

  #grants(seat: HeldSeat, permission: string): boolean {
    return seat.permissions.split(' ').includes(permission)
  }

  #keyTag(id: string): string {
    const key = this.keys.get(id)
    const names = (key?.seats ?? []).map((held) => this.seats.get(held)?.name)
    return `"${id} ${key?.version} ${names.join()}"`
  }
}

export interface SimulationOptions {
  readonly administrators: number
  readonly callers: number
  /** Questions of each. */
  readonly invocations: number
  /** Probability that a write has no answer. */
  readonly lost?: number
}

interface Committed {
  readonly tenant: SimulatedTenant
  acknowledged: number
}

/**
 * Each write takes effect at one moment between its invocation and its answer; a lost one later, or never. A decision rests on any one
 * state since the newest that was acknowledged before it began.
 */
export function simulateHistory(
  random: Random,
  options: SimulationOptions,
  fault: Fault = () => null,
): Operation[] {
  const { administrators, callers, invocations, lost = 0 } = options
  const scene = new Scene(['a', 'b', 'c'])
  const tenant = new SimulatedTenant()
  const committed: Committed[] = [{ tenant: tenant.copy(), acknowledged: 0 }]
  const history: Operation[] = []
  /** Keys whose text a caller has. */
  const known = new Set<string>()
  const events: { readonly at: number; readonly run: () => void }[] = []
  const later = (at: number, run: () => void) => events.push({ at, run })
  const ask = (invocation: Invocation, by: string, began: number, next: (moment: number) => void) => {
    const isLost = random.chance(lost)
    const effect = began + random.between(0.1, 3)
    const ended = effect + random.between(0.1, 3)
    const asked = { invocation, by, place: 'x', requestId: '' }
    if (isLost && !invocation.kind.startsWith('read')) {
      if (random.chance(0.6)) later(effect + random.between(0, 20), () => commit(invocation, Infinity))
      history.push({ ...asked, answer: null, began, ended: Infinity })
      return next(ended)
    }
    later(effect, () => {
      const answer = fault(invocation, tenant) ?? commit(invocation, ended)
      later(ended, () => {
        scene.learn(invocation, answer)
        if (invocation.kind === 'create key' && answer.id !== undefined) known.add(answer.id)
        history.push({ ...asked, answer, began, ended })
        next(ended)
      })
    })
  }
  const commit = (invocation: Invocation, acknowledged: number): Answer => {
    const answer = tenant.perform(invocation)
    if (answer.code === 'ok' && !invocation.kind.startsWith('read'))
      committed.push({ tenant: tenant.copy(), acknowledged })
    return answer
  }
  const decide = (by: string, began: number, next: (moment: number) => void) => {
    const ended = began + random.between(0.1, 3)
    const invocation = questionOf(random, [...known])
    later(ended, () => {
      const oldest = committed.findLastIndex(({ acknowledged }) => acknowledged < began)
      const state = committed[oldest + random.below(committed.length - oldest)]?.tenant ?? tenant
      history.push({
        invocation,
        answer: fault(invocation, state) ?? state.perform(invocation),
        by,
        place: 'x',
        requestId: '',
        began,
        ended,
      })
      next(ended)
    })
  }
  const repeat = (count: number, begin: (moment: number, next: (moment: number) => void) => void) => {
    let left = count
    const next = (moment: number) => {
      if (left-- > 0) later(moment + random.between(0.1, 2), () => begin(now, next))
    }
    next(0)
  }
  let now = 0
  for (let at = 0; at < administrators; at++)
    repeat(invocations, (moment, next) =>
      ask(
        scene.next(() => random.next()),
        `administrator ${at}`,
        moment,
        next,
      ),
    )
  for (let at = 0; at < callers; at++)
    repeat(invocations, (moment, next) => decide(`caller ${at}`, moment, next))
  while (events.length > 0) {
    const first = events.reduce((one, other) => (other.at < one.at ? other : one))
    events.splice(events.indexOf(first), 1)
    now = first.at
    first.run()
  }
  return history
}

function questionOf(random: Random, keys: readonly string[]): Invocation {
  const permission = 'canary:read'
  if (keys.length > 0 && random.chance(0.5))
    return { kind: 'decide by key', id: random.pick(keys), permission }
  return { kind: 'decide by token', names: random.pick([['a'], ['b'], ['a', 'b'], ['c', 'a']]), permission }
}
