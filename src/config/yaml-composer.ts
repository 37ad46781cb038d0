/**
 * Turns the YAML parser's nodes into plain data: replaces variables, expands aliases, and reports duplicate keys, merge
 * keys and unknown tags.
 */

import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { InvalidValue, quote, Undetermined } from './invalid-value.ts'
import type { Data, Document, Spot, Spots, Value } from './positioned-document.ts'
import { literalKey, substitute } from './environment.ts'

/** Levels of maps and lists; no setting needs that many. */
const MAX_DEPTH = 32
export const NESTED = `maps and lists are nested too deeply: at most ${MAX_DEPTH} levels`
export const UNKNOWN_TAG = 'unknown tag (!…): a value that begins with ! must be in quotes'
/** Values that all aliases of a file may expand to, together: protects against alias bombs. */
const MAX_ALIASED = 10_000
const VARIABLE_KEY = 'variables are replaced in values only, not in keys (write $${ for a literal ${)'
const MERGE_KEY =
  '<< (merge) is not part of YAML 1.2: write the entries out, or write "<<" in quotes where it is a name'
const CORE_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
)

/** Whether a value can't be left out where its variables are not set. @param path its keys, from the root */
export type IsNeeded = (path: readonly string[]) => boolean

export class Composer {
  readonly #document: Document
  readonly #env: NodeJS.ProcessEnv
  readonly #isNeeded: IsNeeded
  /** Keys of the value that is being composed. */
  readonly #path: string[] = []
  readonly #anchors = new Map<string, Node>()
  /** Depth of nested alias expansions. */
  #aliasDepth = 0
  #aliased = 0
  /** Values that were left out. */
  #undetermined = 0

  constructor(document: Document, env: NodeJS.ProcessEnv, isNeeded: IsNeeded) {
    this.#document = document
    this.#env = env
    this.#isNeeded = isNeeded
  }

  /** @returns null when aliases expand to too many values; that fault replaces all others */
  compose(root: YAMLMap): Data | null {
    const data = this.#map(root, 0)
    if (this.#aliased <= MAX_ALIASED) return data
    this.#document.faults.length = 0
    this.#document.fault(
      root.range?.[0] ?? 0,
      'the aliases (*) in this file expand to too many values: write the values out',
    )
    return null
  }

  #map(node: YAMLMap, depth: number): Data {
    const data: Data = Object.create(null)
    const spots = this.#document.register(data)
    for (const pair of node.items as Pair<Scalar<string>, Node>[]) {
      const at = pair.key.range?.[0] ?? 0
      const key = literalKey(pair.key.value)
      if (key === null) {
        this.#document.fault(at, VARIABLE_KEY)
        continue
      }
      const message = this.#keyFault(key, pair.key, spots)
      if (message === null) data[key] = this.#entry(spots, key, at, pair.value, depth)
      else this.#document.fault(at, message)
    }
    return data
  }

  #keyFault(key: string, { type }: Scalar, spots: Spots): string | null {
    const first = spots.get(key)
    if (first !== undefined)
      return `${quote(key)} is a duplicate key, first in line ${this.#document.place(first.key).line}: remove one`
    // In quotes it is a name like any other: in YAML 1.1 too, only the plain key merges.
    return key === '<<' && type === 'PLAIN' ? MERGE_KEY : null
  }

  #list(node: YAMLSeq, depth: number): Value[] {
    const list: Value[] = []
    const spots = this.#document.register(list)
    for (const [index, item] of (node.items as Node[]).entries())
      list.push(this.#entry(spots, String(index), item.range?.[0] ?? 0, item, depth))
    return list
  }

  #entry(spots: Spots, key: string, at: number, node: Node | null, depth: number): Value {
    const offset = node?.range?.[0] ?? at
    const faultsBefore = this.#document.faults.length
    const spot: Spot = { key: at, value: offset, written: writtenIn(node), faulty: false }
    spots.set(key, spot)
    const undetermined = this.#undetermined
    this.#path.push(key)
    const value = this.#value(node, offset, depth + 1)
    this.#path.pop()
    // A fault inside a map or a list marks the inner entry only.
    const isWrong = this.#document.faults.length > faultsBefore || this.#undetermined > undetermined
    spot.faulty = isWrong && (typeof value !== 'object' || value === null)
    return value
  }

  #value(node: Node | null, offset: number, depth: number): Value {
    if (node === null) return null
    if (isAlias(node)) return this.#alias(node.source, offset, depth)
    if (this.#aliasDepth > 0 && ++this.#aliased > MAX_ALIASED) return null
    if (node.tag !== undefined && !CORE_TAGS.has(node.tag)) return this.#invalid(offset, UNKNOWN_TAG)
    if (depth > MAX_DEPTH) return this.#invalid(offset, NESTED)
    const value = this.#content(node, offset, depth)
    // Registered after its content: an anchor can't refer to itself.
    if ('anchor' in node && node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    return value
  }

  #content(node: Node, offset: number, depth: number): Value {
    if (isMap(node)) return this.#map(node, depth)
    if (isSeq(node)) return this.#list(node, depth)
    const value = isScalar(node) ? node.value : null
    if (typeof value === 'number' || typeof value === 'boolean') return value
    if (typeof value !== 'string') return null
    const replaced = substitute(value, this.#env)
    if (!(replaced instanceof InvalidValue)) return replaced
    if (!(replaced instanceof Undetermined) || this.#isNeeded(this.#path))
      return this.#invalid(offset, `the value ${replaced.message}`)
    this.#undetermined++
    return null
  }

  /** Composes the anchor's node again, so that every entry has its own location. */
  #alias(name: string, offset: number, depth: number): Value {
    const target = this.#anchors.get(name)
    if (target === undefined)
      return this.#invalid(offset, 'an alias without an anchor: a value that begins with * must be in quotes')
    this.#aliasDepth++
    const value = this.#value(target, offset, depth)
    this.#aliasDepth--
    return value
  }

  #invalid(offset: number, message: string): null {
    this.#document.fault(offset, message)
    return null
  }
}

function writtenIn(node: Node | null): string | null {
  if (isAlias(node)) return `*${node.source}`
  return isScalar(node) && typeof node.value === 'string' && node.value.includes('${') ? node.value : null
}
