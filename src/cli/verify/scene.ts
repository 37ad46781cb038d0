/**
 * The invocations of writers in a scene. A scene is a few new names: its writers give them to Seats, take them
 * away, and conflict with each other all the time. Short scenes keep the search for an order small, and a
 * write without an answer does not affect the next scene.
 */

import type { Answer, Invocation, SeatOfFile } from './tenant-operations.ts'

/** The permission that the route of the reads requires: a Seat grants this or nothing. */
export const NEEDED = 'canary:read'
const LISTS = ['', NEEDED] as const

/** The answers so far, which may be out of date. */
export class Scene {
  readonly names: readonly string[]
  readonly #anchor: string | null
  /** The Seats by id. */
  readonly #seats = new Map<string, { name: string; tag: string | null }>()
  readonly #keys = new Map<string, { tag: string | null }>()

  /** Begins a scene. @param anchor the name of a Seat that each key holds */
  constructor(names: readonly string[], anchor: string | null = null) {
    this.names = names
    this.#anchor = anchor
  }

  learn(invocation: Invocation, answer: Answer): void {
    if (answer.code === 'seat_not_found' && 'id' in invocation) this.#seats.delete(invocation.id)
    if (answer.code !== 'ok') return
    if (invocation.kind === 'delete Seat') this.#seats.delete(invocation.id)
    for (const { id, name } of answer.changes ?? []) this.#seats.set(id, { name, tag: null })
    const id = 'id' in invocation ? invocation.id : answer.id
    if (id === undefined) return
    const tag = answer.tag ?? null
    if (invocation.kind.endsWith('key')) this.#keys.set(id, { tag })
    else if (invocation.kind !== 'delete Seat') this.#seats.set(id, { name: answer.name ?? '', tag })
  }

  /** The next invocation. @param random a function that returns numbers from 0 up to 1 */
  next(random: () => number): Invocation {
    const pick = <V>(list: readonly V[]): V | undefined => list[Math.floor(random() * list.length)]
    const name = () => pick(this.names) ?? ''
    const permissions = () => pick(LISTS) ?? ''
    const [seat, key] = [pick([...this.#seats]), pick([...this.#keys])]
    const create: Invocation = { kind: 'create Seat', name: name(), permissions: permissions() }
    const turn = random()
    if (seat === undefined || turn < 0.12) return create
    const [id, { name: held, tag }] = seat
    const anchor = this.#anchor === null ? {} : { anchor: this.#anchor }
    const createKey = { kind: 'create key', seats: [...new Set([held, name()])], ...anchor } as const
    // If there are no keys and no tokens, a caller has nothing to ask with.
    if (key === undefined && turn < 0.6) return { ...createKey, seats: [held] }
    const condition = tag !== null && random() < 0.5 ? { ifMatch: tag } : {}
    if (turn < 0.28) return { kind: 'read Seat', id }
    if (turn < 0.46) return { kind: 'update Seat', id, permissions: permissions(), ...condition }
    if (turn < 0.58) return { kind: 'update Seat', id, name: name(), ...condition }
    if (turn < 0.66) return { kind: 'delete Seat', id, ...condition }
    if (turn < 0.8) return this.#move(random)
    if (key === undefined || turn < 0.88) return createKey
    if (turn < 0.94) return { kind: 'read key', id: key[0] }
    const keyTag = key[1].tag
    return {
      kind: 'revoke key',
      id: key[0],
      ...(keyTag !== null && random() < 0.5 ? { ifMatch: keyTag } : {}),
    }
  }

  /** A move of the permission from one Seat to another, in one write; sometimes one of them is renamed. */
  #move(random: () => number): Invocation {
    const [from = '', to = '', other = ''] = this.names
      .map((name) => ({ name, at: random() }))
      .toSorted((one, next) => one.at - next.at)
      .map(({ name }) => name)
    const seats: readonly SeatOfFile[] = [
      { name: from, permissions: '' },
      { name: to, permissions: NEEDED, ...(random() < 0.3 ? { was: other } : {}) },
    ]
    const tags = new Map([...this.#seats.values()].map((each) => [each.name, each.tag]))
    const areKnown = seats.every((each) => each.was === undefined && typeof tags.get(each.name) === 'string')
    const versions =
      areKnown && random() < 0.7
        ? Object.fromEntries(seats.map((each) => [each.name, tags.get(each.name) ?? null]))
        : null
    return { kind: 'apply', seats, versions }
  }
}
