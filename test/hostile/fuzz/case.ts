/** One case: the bytes of one connection, and their division into packets. */

import { validRequest } from './grammar.ts'
import { mutate } from './mutations.ts'
import { Random } from '../../support/random.ts'

export interface Case {
  readonly index: number
  readonly bytes: string
  readonly packets: readonly string[]
  /** Not mutated: each of its requests gets its response. */
  readonly valid: boolean
}

/** Deterministic in seed and index. */
export function makeCase(seed: number, index: number): Case {
  const random = new Random(seed, index)
  let marks = 0
  const request = () => validRequest(random, `${index}.${marks++}`)
  let bytes = request()
  for (let i = random.pick([0, 0, 1, 1, 2, 3]); i > 0; i--) bytes += request()
  const mutations = random.pick([0, 1, 1, 1, 1, 2, 2, 3, 4])
  for (let i = 0; i < mutations; i++) bytes = mutate(bytes, random, request)
  return { index, bytes, packets: split(bytes, random), valid: mutations === 0 }
}

function split(bytes: string, random: Random): string[] {
  const cuts = Array.from({ length: random.pick([0, 0, 0, 1, 2, 5]) }, () => random.below(bytes.length + 1))
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  return edges
    .slice(1)
    .map((end, at) => bytes.slice(edges[at], end))
    .filter((packet) => packet !== '')
}
