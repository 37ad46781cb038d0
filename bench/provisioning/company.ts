/** A company of users in groups. The same seed draws the same company. */

import type { Random } from '../../test/support/random.ts'

/** A group. The Seat of its name is in a space of its own: a decision in this space is about this group. */
export interface Group {
  /** It has another name, and so another Seat and space, after a renaming. */
  name: string
  space: string
  /** The id at the gateway; empty before its creation. */
  id: string
  readonly members: Set<Person>
}

export interface Person {
  /** The `sub`, which is the `externalId`. */
  readonly sub: string
  /** The id at the gateway; empty before its creation. */
  id: string
  /** Whether a credential of now still counts. */
  isValid: boolean
}

export interface Company {
  readonly people: Person[]
  /** Each user is in one of these. */
  readonly departments: readonly Group[]
  /** Each user is in one or two of these. */
  readonly projects: readonly Group[]
}

export function newPerson(number: number): Person {
  return { sub: `user-${number}`, id: '', isValid: true }
}

/** @param groups half of them departments */
export function newCompany(random: Random, users: number, groups: number): Company {
  const people = Array.from({ length: users }, (_, at) => newPerson(at))
  const named = (kind: string) =>
    Array.from({ length: groups / 2 }, (_, at) => newGroup(`${kind} ${at}`, `${kind.toLowerCase()}-${at}`))
  const [departments, projects] = [named('Department'), named('Project')]
  for (const person of people)
    for (const group of [random.pick(departments), random.pick(projects), random.pick(projects)])
      group.members.add(person)
  return { people, departments, projects }
}

function newGroup(name: string, space: string): Group {
  return { name, space, id: '', members: new Set() }
}

/** Takes other items from a list at random, each once. */
export function draw<T>(random: Random, items: readonly T[], count: number): T[] {
  const left = [...items]
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const [item] = left.splice(random.below(left.length), 1)
    if (item === undefined) throw new Error('nothing to draw from')
    return item
  })
}
