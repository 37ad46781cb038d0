/** The exact difference of two route tables, over all possible requests. */

import { exceptionsOf } from '../decision/router/pattern.ts'
import type { Leaf, Node } from '../decision/router/tree.ts'
import type { Route } from '../model/route.ts'
import { rateLimitText } from '../model/rate-limit.ts'
import { sourceText } from '../model/space-source.ts'
import { lineDifferences } from './mcp-lines.ts'
import { pathClasses, type Position } from './path-classes.ts'
import { entryFor, hostClasses, marksOf, methodsAt, type Tables, targetOf } from './tables.ts'

/** A request that the two tables answer differently. */
export interface Witness {
  readonly method: string
  /** The host; absent for each host that no table names. */
  readonly host?: string
  readonly path: string
}

/** A pair of entries that answer the same requests differently; null if no entry answers. */
export interface Difference {
  readonly before: Route | null
  readonly after: Route | null
  /** A request; no other witness has fewer path segments. */
  readonly witness: Witness
}

/** One difference for each pair of entries, shortest witness first. Equal tables have none. */
export function differences(before: Tables, after: Tables): Difference[] {
  return [...differenceSteps(before, after)].filter((each) => each !== null)
}

/**
 * The differences in small steps, for a process that has other work; null is a step without one. Each step
 * adds at most one entry to the memory of the walk.
 */
export function* differenceSteps(before: Tables, after: Tables): Generator<Difference | null, void> {
  const sides = [before, after]
  const pairs = new Set<string>()
  const skip = yield* equalRests(before, after)
  for (const { host, roots } of rootsByHost(sides))
    for (const { path, leaves } of pathClasses(roots, { marks: marksOf(sides), skip })) {
      yield null
      const [old = [], now = []] = leaves
      const target = targetOf(path)
      for (const method of methodsAt([...old, ...now], sides)) {
        const pair = {
          before: entryFor(before, old, method, target),
          after: entryFor(after, now, method, target),
        }
        const key = `${pair.before?.id} ${pair.after?.id}`
        if (isSameAnswer(pair.before, pair.after) || isNewServer(pair) || pairs.has(key)) continue
        pairs.add(key)
        yield { ...pair, witness: { method, ...(host === null ? {} : { host }), path } }
      }
    }
  yield* lineDifferences([before, after], isSameAnswer)
}

/** Whether an MCP server is where nothing else was, or is left: the differences of its lines say that. */
function isNewServer({ before, after }: Pick<Difference, 'before' | 'after'>): boolean {
  return (before === null || after === null) && (before ?? after)?.target.kind === 'mcp'
}

/** Each combination of the tables' trees that some host has, with one such host. */
function rootsByHost(sides: readonly Tables[]): { host: string | null; roots: Node[] }[] {
  const met = new Map<Node | undefined, Set<Node | undefined>>()
  return hostClasses(sides).flatMap((host) => {
    const roots = sides.map(({ table }) => table.rootOf(host))
    const [first, second] = roots
    const others = met.get(first) ?? new Set()
    if (others.has(second)) return []
    met.set(first, others.add(second))
    return [{ host, roots }]
  })
}

/** Whether the two entries require the same, lead to the same place, and have the same limits. */
function isSameAnswer(one: Route | null, other: Route | null): boolean {
  return one === null || other === null ? one === other : answerOf(one) === answerOf(other)
}

/** The answer of an entry: its requirement, tenant and space, its target, and its limits. */
function answerOf(route: Route): string {
  const { requirement, target, rewrite, maxBody, responseTimeout, signIn, tenant, rateLimits } = route
  const place = target.kind === 'upstream' ? `to ${target.name}` : placeOf(route)
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

function placeOf({ id, target }: Route): string {
  return target.kind === 'mcp' ? `to ${target.name}: ${JSON.stringify(target.endpoint)}` : id
}

/** The source of the space; null if none is read. A parameter is a segment of the path, whatever its name. */
export function spaceOf({ requirement, space, path }: Route): string | null {
  if (requirement === 'public') return null
  return space.kind === 'param' ? `segment ${path.split('/').indexOf(`{${space.name}}`)}` : sourceText(space)
}

/**
 * Finds the parts of the tables with equal answers, so that they need no comparison: two versions of a large
 * table are mostly equal. Nodes with equal content get equal numbers. Each step handles one node.
 *
 * @returns whether two positions match the same, so that nothing after them can differ
 */
function* equalRests(
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

/** The roots of a table. Hosts with the same entries share one. */
function rootsOf({ table }: Tables): Set<Node> {
  return new Set([table.root, ...(table.hosts?.roots ?? [])])
}

/** The number of each node and leaf, which is the same for the same content. */
class Numbers {
  readonly #byContent = new Map<string, number>()
  readonly #known = new Map<object, number>()

  add(one: object, content: string): void {
    const number = this.#byContent.get(content) ?? this.#byContent.size
    this.#byContent.set(content, number)
    this.#known.set(one, number)
  }

  /** The number of a node or leaf; null if there is none. */
  of(one: object | null): number | null {
    return one === null ? null : (this.#known.get(one) ?? null)
  }
}

/** Numbers the nodes from the ends up to the root. */
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
    const { allowSemicolons, allowEncodedSlashes } = exceptionsOf(side.upstreams, route)
    return [method, answerOf(route), allowSemicolons, allowEncodedSlashes]
  })
  return `leaf ${JSON.stringify(contents.toSorted())}`
}
