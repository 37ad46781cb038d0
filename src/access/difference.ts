/** The exact difference of two route tables, over all requests that there can be. */

import type { Leaf } from '../decision/router/tree.ts'
import type { Node } from '../decision/router/tree.ts'
import type { Route } from '../model/route.ts'
import { pathClasses, type Position } from './path-classes.ts'
import { entryFor, exceptionsOf, methodsAt, marksOf, type Tables, targetOf } from './tables.ts'

/** A request that the two tables answer differently. */
export interface Witness {
  readonly method: string
  readonly path: string
}

/** A pair of entries that answer the same requests differently; null: no entry answers. */
export interface Difference {
  readonly before: Route | null
  readonly after: Route | null
  /** No witness has fewer path segments. */
  readonly witness: Witness
}

/** One for each pair of entries whose answers differ, shortest witness first. None: the tables are equal. */
export function differences(before: Tables, after: Tables): Difference[] {
  const sides = [before, after]
  const found = new Map<string, Difference>()
  const roots = sides.map(({ table }) => table.root)
  for (const { path, leaves } of pathClasses(roots, {
    marks: marksOf(sides),
    skip: equalRests(before, after),
  })) {
    const [old = [], now = []] = leaves
    const target = targetOf(path)
    for (const method of methodsAt([...old, ...now], sides)) {
      const pair = {
        before: entryFor(before, old, method, target),
        after: entryFor(after, now, method, target),
      }
      if (isSameAnswer(pair.before, pair.after)) continue
      const key = `${pair.before?.id} ${pair.after?.id}`
      if (!found.has(key)) found.set(key, { ...pair, witness: { method, path } })
    }
  }
  return [...found.values()]
}

/** Whether the two entries require the same, lead to the same place, and have the same limits. */
function isSameAnswer(one: Route | null, other: Route | null): boolean {
  return one === null || other === null ? one === other : answerOf(one) === answerOf(other)
}

function answerOf(route: Route): string {
  const { requirement, target, maxBody, responseTimeout, signIn } = route
  const place = target.kind === 'upstream' ? `to ${target.name}` : route.id
  return JSON.stringify([requirement, place, String(maxBody), responseTimeout, signIn])
}

/**
 * Whether two positions match the same, so that nothing behind them can differ: two versions of a large table are mostly
 * equal. Nodes with equal content get equal numbers.
 */
function equalRests(before: Tables, after: Tables): (positions: readonly Position[]) => boolean {
  const numbers = new Map<string, number>()
  const known = new Map<object, number>()
  const numberOf = (key: string) => numbers.get(key) ?? (numbers.set(key, numbers.size), numbers.size - 1)
  const remember = (one: object, compute: () => string) => {
    const number = known.get(one) ?? numberOf(compute())
    known.set(one, number)
    return number
  }
  const ofLeaf = (side: Tables, leaf: Leaf): number =>
    remember(leaf, () => {
      const entries = [...leaf.methods, ...(leaf.any === null ? [] : [['ANY', leaf.any] as const])]
      const contents = entries.map(([method, { route }]) => {
        if (route === null) return [method]
        const { allowSemicolons, allowEncodedSlashes } = exceptionsOf(side, route)
        return [method, answerOf(route), allowSemicolons, allowEncodedSlashes]
      })
      return `leaf ${JSON.stringify(contents.toSorted())}`
    })
  const ofNode = (side: Tables, node: Node): number =>
    remember(node, () => {
      const statics = [...node.statics].map(([text, child]) => [text, ofNode(side, child)])
      const { param, leaf, rest } = node
      return JSON.stringify([
        param === null ? null : ofNode(side, param),
        leaf === null ? null : ofLeaf(side, leaf),
        rest === null ? null : ofLeaf(side, rest),
        statics.toSorted(),
      ])
    })
  const ofPosition = (side: Tables, position: Position) =>
    position.map((each) => ('statics' in each ? ofNode(side, each) : ofLeaf(side, each))).join(' ')
  const sameMethods = before.methods.symmetricDifference(after.methods).size === 0
  return ([old = [], now = []]) => sameMethods && ofPosition(before, old) === ofPosition(after, now)
}
