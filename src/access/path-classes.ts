/**
 * Divides all paths into classes that several route tables at once can't tell apart: two paths of a class
 * match the same entries in each table, in the same order. A walk over the product of the tables' trees finds
 * every class and an example of each. Nothing is sampled.
 *
 * Static segments are the only texts that a table knows, so a segment is one of them, or any other text.
 * Precedence does not depend on the text of a parameter or of a `*`.
 */

import { type Leaf, Node } from '../decision/router/tree.ts'

/**
 * What the rest of a path can still match in one table, in order of precedence: nodes of its tree, and leaves
 * of `*` entries, which match any rest.
 */
export type Position = readonly (Node | Leaf)[]

/** A text that some tables do not accept in every path. */
export interface Mark {
  /** The suffix that adds the text to a segment. */
  readonly suffix: string
  isIn(path: string): boolean
}

interface WalkOptions {
  /** The texts that also matter, if they occur anywhere in the path, such as `;`. */
  readonly marks?: readonly Mark[]
  /** Whether the classes after these positions are not needed. There is one position for each table. */
  readonly skip?: (positions: readonly Position[]) => boolean
}

/**
 * One path of each class, in order of the number of segments; no path of the class has fewer. Each comes with
 * the leaves that match in each table, in order of precedence.
 *
 * @param roots the roots of the tables' trees
 */
export function* pathClasses(roots: readonly Node[], { marks = [], skip = () => false }: WalkOptions = {}) {
  const seen = new Seen()
  const suffixes = combinations(marks.map(({ suffix }) => suffix))
  const isNew = (positions: readonly Position[], path: string) =>
    positions.some(({ length }) => length > 0) &&
    !skip(positions) &&
    seen.add(positions, marks.map((mark) => mark.isIn(path)).join())
  const start = roots.map((root): Position => [root])
  let level = skip(start) ? [] : [{ prefix: '/', positions: start }]
  // The walk goes level by level: paths are kept for two levels only.
  while (level.length > 0) {
    const next: typeof level = []
    for (const { prefix, positions } of level)
      for (const text of segmentsOf(positions, suffixes)) {
        const path = prefix + text
        yield { path, leaves: positions.map((each) => leavesAt(each, text)) }
        // Only the last segment may be empty.
        if (text === '') continue
        const rests = positions.map((each) => positionAfter(each, text))
        if (isNew(rests, path)) next.push({ prefix: `${path}/`, positions: rests })
      }
    level = next
  }
}

/** One text of each kind that the positions can tell apart. */
function segmentsOf(positions: readonly Position[], suffixes: readonly string[]): Set<string> {
  const nodes = positions.flat().filter((each) => each instanceof Node)
  const texts = new Set(nodes.flatMap(({ statics }) => [...statics].map(([text]) => text)))
  // Texts that no entry names come first, as they make the simplest examples.
  return new Set(['', ...suffixes.map((suffix) => unusedText(texts, suffix)), ...texts])
}

/** All combinations: `['', ';', '%2F', ';%2F']` for two suffixes. */
function combinations(suffixes: readonly string[]): string[] {
  return suffixes.reduce((all, suffix) => [...all, ...all.map((each) => each + suffix)], [''])
}

/** A text that is not in the set. It ends with the suffix. */
export function unusedText(texts: ReadonlySet<string>, suffix: string): string {
  let text = `x${suffix}`
  for (let number = 1; texts.has(text); number++) text = `x${number}${suffix}`
  return text
}

/** The leaves that match when the text is the last segment. */
function leavesAt(position: Position, text: string): Leaf[] {
  return position.flatMap((each) => {
    if (!(each instanceof Node)) return each
    const wide = text === '' ? null : (each.param?.leaf ?? null)
    return [each.statics.get(text)?.leaf ?? null, wide, each.rest].filter((leaf) => leaf !== null)
  })
}

/** The position after a segment that is not the last one. */
function positionAfter(position: Position, text: string): Position {
  const next: (Node | Leaf)[] = []
  for (const each of position) {
    const children = each instanceof Node ? [each.statics.get(text), each.param, each.rest] : [each]
    for (const one of children) {
      if (one === null) continue
      next.push(one)
      // It matches every request, so nothing after it is reached.
      if (!(one instanceof Node) && one.any !== null) return next
    }
  }
  return next
}

/** The combinations of positions so far. */
class Seen {
  readonly #keys = new Set<string>()
  readonly #numbers = new Map<object, number>()

  /**
   * Adds a combination.
   *
   * @param marks the marks of the path
   * @returns false if it is not new
   */
  add(positions: readonly Position[], marks: string): boolean {
    const key = [marks, ...positions.map((each) => each.map((one) => this.#numberOf(one)).join(' '))].join(
      '|',
    )
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    return true
  }

  #numberOf(one: object): number {
    const number = this.#numbers.get(one) ?? this.#numbers.size
    this.#numbers.set(one, number)
    return number
  }
}
