/**
 * Finds the parts of two route tables that answer the same, so that nothing in them has to be compared: two versions of a
 * large table are mostly equal. Nodes with equal content get equal numbers.
 */

import type { Leaf, Node } from '../decision/router/tree.ts'
import type { Route } from '../model/route.ts'
import { rateLimitText } from '../model/rate-limit.ts'
import { sourceText } from '../model/space-source.ts'
import type { Position } from './path-classes.ts'
import { exceptionsOf, type Tables } from './tables.ts'

/** What an entry requires, of which tenant and in which space, where it leads, and its limits. */
export function answerOf(route: Route): string {
  const { requirement, target, rewrite, maxBody, responseTimeout, signIn, tenant, rateLimits } = route
  const place = target.kind === 'upstream' ? `to ${target.name}` : route.id
  return JSON.stringify([
    requirement,
    spaceOf(route),
    place,
    rewrite,
    String(maxBody),
    responseTimeout,
    signIn,
    tenant,
    rateLimits?.map(rateLimitText).sort() ?? [],
  ])
}

/** Where the space is read from; null: none is. A parameter is a segment of the path, whatever its name. */
export function spaceOf({ requirement, space, path }: Route): string | null {
  if (requirement === 'public') return null
  return space.kind === 'param' ? `segment ${path.split('/').indexOf(`{${space.name}}`)}` : sourceText(space)
}

/**
 * One node a step.
 *
 * @returns whether two positions match the same, so that nothing behind them can differ
 */
export function* equalRests(
  before: Tables,
  after: Tables,
): Generator<null, (positions: readonly Position[]) => boolean> {
  const numbers = new Numbers()
  for (const side of [before, after])
    for (const root of rootsOf(side)) yield* numberNodes(numbers, side, root)
  const ofPosition = (position: Position) => position.map((each) => numbers.of(each)).join(' ')
  const sameMethods = before.methods.symmetricDifference(after.methods).size === 0
  return ([old = [], now = []]) => sameMethods && ofPosition(old) === ofPosition(now)
}

/** Hosts with the same entries have one. */
function rootsOf({ table }: Tables): Set<Node> {
  return new Set([table.root, ...(table.hosts?.roots ?? [])])
}

/** The number of each node and leaf: the same for the same content. */
class Numbers {
  readonly #byContent = new Map<string, number>()
  readonly #known = new Map<object, number>()

  add(one: object, content: string): void {
    const number = this.#byContent.get(content) ?? this.#byContent.size
    this.#byContent.set(content, number)
    this.#known.set(one, number)
  }

  /** Null: there is nothing. */
  of(one: object | null): number | null {
    return one === null ? null : (this.#known.get(one) ?? null)
  }
}

/** From the ends up to the root. */
function* numberNodes(numbers: Numbers, side: Tables, node: Node): Generator<null, void> {
  const { param, leaf, rest } = node
  for (const [, child] of node.statics) yield* numberNodes(numbers, side, child)
  if (param !== null) yield* numberNodes(numbers, side, param)
  for (const each of [leaf, rest]) if (each !== null) numbers.add(each, contentOf(side, each))
  const statics = [...node.statics].map(([text, child]) => [text, numbers.of(child)])
  numbers.add(
    node,
    JSON.stringify([numbers.of(param), numbers.of(leaf), numbers.of(rest), statics.toSorted()]),
  )
  yield null
}

function contentOf(side: Tables, leaf: Leaf): string {
  const entries = [...leaf.methods, ...(leaf.any === null ? [] : [['ANY', leaf.any] as const])]
  const contents = entries.map(([method, { route }]) => {
    if (route === null) return [method]
    const { allowSemicolons, allowEncodedSlashes } = exceptionsOf(side, route)
    return [method, answerOf(route), allowSemicolons, allowEncodedSlashes]
  })
  return `leaf ${JSON.stringify(contents.toSorted())}`
}
