/**
 * From the parser's nodes to plain data: variables replaced, aliases read out, equal keys and what this configuration
 * does not know (merge keys, tags) reported.
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
import { InvalidValue, quote } from './invalid-value.ts'
import type { Data, Document, Spot, Spots, Value } from './document.ts'
import { substitute } from './environment.ts'

/** Nested deeper than any setting. */
const MAX_DEPTH = 32
/** Values that aliases may stand for, all taken together. */
const MAX_ALIASED = 10_000
const CORE_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
)

export class Composer {
  readonly #document: Document
  readonly #env: NodeJS.ProcessEnv
  readonly #anchors = new Map<string, Node>()
  /** How many aliases deep this is. */
  #expanding = 0
  #aliased = 0

  constructor(document: Document, env: NodeJS.ProcessEnv) {
    this.#document = document
    this.#env = env
  }

  /** Null when aliases stand for too much: an alias bomb is one fault, however many of its parts were met. */
  compose(root: YAMLMap): Data | null {
    const data = this.#map(root, 0)
    if (this.#aliased <= MAX_ALIASED) return data
    this.#document.faults.length = 0
    this.#document.fault(
      root.range?.[0] ?? 0,
      'the aliases (*) in this file stand for too much: write the values out',
    )
    return null
  }

  #map(node: YAMLMap, depth: number): Data {
    const data: Data = Object.create(null)
    const spots = this.#document.enter(data)
    for (const pair of node.items as Pair<Scalar<string>, Node>[]) {
      const key = pair.key.value
      const at = pair.key.range?.[0] ?? 0
      const message = this.#faultOfKey(key, spots)
      if (message === null) data[key] = this.#entry(spots, key, at, pair.value, depth)
      else this.#document.fault(at, message)
    }
    return data
  }

  #faultOfKey(key: string, spots: Spots): string | null {
    const before = spots.get(key)
    if (before !== undefined)
      return `${quote(key)} stands twice: first in line ${this.#document.place(before.key).line}`
    if (key === '<<') return '<< (merge) is not part of YAML 1.2: write the entries out'
    return key.includes('${') ? 'variables are replaced in values only, not in keys' : null
  }

  #list(node: YAMLSeq, depth: number): Value[] {
    const list: Value[] = []
    const spots = this.#document.enter(list)
    for (const [index, item] of (node.items as Node[]).entries())
      list.push(this.#entry(spots, String(index), item.range?.[0] ?? 0, item, depth))
    return list
  }

  #entry(spots: Spots, key: string, at: number, node: Node | null, depth: number): Value {
    const offset = node?.range?.[0] ?? at
    const known = this.#document.faults.length
    const spot: Spot = { key: at, value: offset, written: writtenIn(node), faulty: false }
    spots.set(key, spot)
    const value = this.#value(node, offset, depth + 1)
    // A fault inside a map or list is the inner entry's own.
    spot.faulty = this.#document.faults.length > known && (typeof value !== 'object' || value === null)
    return value
  }

  #value(node: Node | null, offset: number, depth: number): Value {
    if (node === null) return null
    if (isAlias(node)) return this.#alias(node.source, offset, depth)
    if (this.#expanding > 0 && ++this.#aliased > MAX_ALIASED) return null
    if (node.tag !== undefined && !CORE_TAGS.has(node.tag))
      return this.#none(offset, 'a tag (!…) that is not known here')
    if (depth > MAX_DEPTH) return this.#none(offset, 'maps and lists are nested too deeply')
    const value = this.#content(node, offset, depth)
    // After its content: within itself an anchor does not stand for anything yet.
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
    return replaced instanceof InvalidValue ? this.#none(offset, `the value ${replaced.message}`) : replaced
  }

  /** Reads the node once more that the alias stands for, so that every entry has a place of its own. */
  #alias(name: string, offset: number, depth: number): Value {
    const target = this.#anchors.get(name)
    if (target === undefined)
      return this.#none(
        offset,
        'a value that begins with * must be in quotes: as an alias it stands for nothing',
      )
    this.#expanding++
    const value = this.#value(target, offset, depth)
    this.#expanding--
    return value
  }

  #none(offset: number, message: string): null {
    this.#document.fault(offset, message)
    return null
  }
}

function writtenIn(node: Node | null): string | null {
  if (isAlias(node)) return `*${node.source}`
  return isScalar(node) && typeof node.value === 'string' && node.value.includes('${') ? node.value : null
}
