/** The text of a description, YAML or JSON, as plain data with the places of its members. */

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml'
import { jsonMembers } from './json-members.ts'

/** Both count from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

export interface Description {
  /** Plain data. Aliases are replaced, and merge keys (`<<`) merged: what a map says itself counts before them. */
  readonly value: unknown
  /** Keys, from the root, of members that an object of a JSON text has twice: `value` has the last one. */
  readonly twice: readonly (readonly string[])[]
  /** @param at keys from the root @returns where the innermost of them stands that the text has */
  placeOf(at: readonly string[]): Place
}

/** An alias is a value each time that it is used: bounds alias bombs. */
const MAX_ALIASES = 1000

/**
 * JSON is YAML as well, but its own parser takes a hundredth of the time.
 *
 * @throws Error with the reason where it is neither
 */
export function readDescription(text: string): Description {
  // RFC 8259, section 8.1, lets a parser ignore a byte order mark; YAML 1.2 allows it, section 5.2.
  const content = text.replace(/^\uFEFF/, '')
  return /^\s*\{/.test(content) ? (readJson(content) ?? readYaml(content)) : readYaml(content)
}

/** Null: it is YAML that begins with a brace, or faulty, which YAML's parser says with its place. */
function readJson(text: string): Description | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const { root, twice } = jsonMembers(text)
  const placeOf = (at: readonly string[]) => {
    let member = root
    for (const key of at) {
      const next = member.members.get(key)
      if (next === undefined) break
      member = next
    }
    return placeAt(text, member.at)
  }
  return { value, twice, placeOf }
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

function readYaml(text: string): Description {
  const lines = new LineCounter()
  const document = parseDocument(text, { merge: true, lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) throw error
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const wrong = wrongMerge(document)
  if (wrong !== null) {
    const { line, column } = placeOf(wrong)
    throw new Error(`line ${line}, column ${column}: << merges maps alone`)
  }
  return {
    value: document.toJS({ maxAliasCount: MAX_ALIASES }),
    twice: [],
    placeOf: (at) => placeOf(offsetOf(document.contents, at)),
  }
}

/** The offset of a merge key whose value is neither a map nor a list of maps. */
function wrongMerge(document: Document): number | null {
  let found: number | null = null
  const isMergeable = (node: unknown): boolean =>
    isMap(node) || (isAlias(node) && isMap(node.resolve(document)))
  visit(document, {
    Pair: (_, { key, value }) => {
      // The parser has a symbol for a merge key, and a text for "<<".
      if (!isScalar(key) || typeof key.value !== 'symbol') return undefined
      const sources = isAlias(value) ? value.resolve(document) : value
      if (isMergeable(value) || (isSeq(sources) && sources.items.every(isMergeable))) return undefined
      found = key.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return found
}

/** What an alias or a merge key brings stands elsewhere: then it is the place of the key that has it. */
function offsetOf(root: unknown, at: readonly string[]): number {
  let node = root
  let offset = 0
  for (const key of at) {
    const pair = isMap(node)
      ? (node.items as Pair<Node, Node>[]).find((each) => nameOf(each.key) === key)
      : undefined
    if (pair === undefined) break
    offset = pair.key.range?.[0] ?? offset
    node = pair.value
  }
  return offset
}

function nameOf(key: Node): string | null {
  return isScalar(key) ? String(key.value) : null
}
