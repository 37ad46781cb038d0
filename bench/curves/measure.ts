/**
 * The cost of a decision against the size of everything: routes, stored Seats, tenants, cached tokens,
 * entries of a token; and the memory of a connection, a cached token and a Seat.
 */

import { join } from 'node:path'
import type { AuthorizationRequest } from '../../src/model/authorization-request.ts'
import type { Place } from '../place.ts'
import { Subject, type SubjectSetup } from '../micro/subject.ts'
import { costsOf, repeated } from '../micro/timing.ts'
import { SPACE, seatName } from '../names.ts'
import { storeOf } from '../store.ts'
import type { TokenSetup } from '../world.ts'
import { type MemoryCost, memoryCosts } from './memory.ts'

export interface Curve {
  readonly label: string
  readonly points: readonly { readonly size: number; readonly nanoseconds: number }[]
}

export interface Curves {
  readonly curves: readonly Curve[]
  readonly memory: readonly MemoryCost[]
}

/** The growing quantity, and the set-up and requests at each size. */
interface Axis {
  readonly label: string
  readonly sizes: readonly number[]
  readonly setup?: (size: number) => SubjectSetup | Promise<SubjectSetup>
  readonly tokens?: (size: number) => readonly TokenSetup[]
}

interface Case {
  readonly size: number
  readonly subject: Subject
  readonly requests: readonly AuthorizationRequest[]
}

export async function measureCurves(place: Place, quick: boolean): Promise<Curves> {
  // Memory comes first, because objects of the curves would distort it.
  const memory = await memoryCosts(place)
  const curves: Curve[] = []
  for (const [i, axis] of axesOf(place, quick).entries())
    curves.push(await curveOf(place, axis, i, quick ? 5 : 11))
  return { curves, memory }
}

function axesOf({ folder }: Place, quick: boolean): Axis[] {
  const sizes = [10, 100, 1000, 10_000]
  const stored = quick ? [1, 100, 10_000] : [1, 100, 10_000, 1_000_000]
  const entries = [1, 10, 50, 150]
  const store = async (seats: number) => ({
    store: await storeOf(join(folder, `seats-${seats}.db`), seats),
  })
  const inSpaces = (space: (i: number) => string) => (count: number) => [
    { hashPerm: numbers(count).map((i) => `${space(i)}:${seatName(i)}`) },
  ]
  return [
    { label: 'routes', sizes, setup: (routes) => ({ routes }) },
    { label: 'Seats stored', sizes: stored, setup: store },
    { label: 'tenants', sizes, setup: (tenants) => ({ tenants: tenants - 1 }) },
    {
      label: 'tokens remembered, in turn',
      sizes: [1, ...sizes],
      tokens: (count) => numbers(count).map((i) => ({ user: `user-${i}` })),
    },
    {
      label: 'entries of the token, one in the space',
      sizes: entries,
      tokens: inSpaces((i) => (i === 0 ? SPACE : 'elsewhere')),
    },
    { label: 'entries of the token, all in the space', sizes: entries, tokens: inSpaces(() => SPACE) },
  ]
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

async function curveOf(place: Place, axis: Axis, number: number, rounds: number): Promise<Curve> {
  const cases: Case[] = []
  try {
    for (const size of axis.sizes) cases.push(await caseOf(place, axis, size, `curve-${number}-${size}`))
    const timed = cases.map(({ size, subject, requests }) =>
      repeated(`${size}`, (turn) => subject.engine(requests[turn % requests.length] as AuthorizationRequest)),
    )
    const costs = await costsOf(timed, rounds, async () => {
      for (const { subject } of cases) await subject.lease()
    })
    const points = costs.map(({ nanoseconds }, i) => ({ size: axis.sizes[i] ?? 0, nanoseconds }))
    return { label: axis.label, points }
  } finally {
    for (const { subject } of cases) await subject.close()
  }
}

async function caseOf({ world, folder }: Place, axis: Axis, size: number, name: string): Promise<Case> {
  const subject = await Subject.open(world, join(folder, name), (await axis.setup?.(size)) ?? {})
  const requests = (axis.tokens?.(size) ?? [{}]).map((setup) => subject.ask(setup))
  for (const ask of requests) await subject.meet(ask)
  return { size, subject, requests }
}
