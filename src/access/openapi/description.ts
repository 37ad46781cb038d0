/** The text of a description, YAML or JSON, as plain data with the places of its members. */

import {
  type Alias,
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
import { endOfString } from '../../lib/json.ts'
import { syntaxFault, TOO_MANY_ALIASES, UNKNOWN_ALIAS } from '../../config/yaml-parser.ts'
import type { Place as FilePlace } from '../../model/route.ts'

export type Place = Pick<FilePlace, 'line' | 'column'>

export interface Description {
  /** Plain data. Aliases are replaced, and merge keys (`<<`) merged after the own keys of a map. */
  readonly value: unknown
  /** The repeated members of objects in a JSON text, as keys from the root; `value` has the last one. */
  readonly twice: readonly (readonly string[])[]
  /** The place of the innermost member that the text has. @param at keys from the root */
  placeOf(at: readonly string[]): Place
}

/** The text is neither YAML nor JSON. */
export class SyntaxFault extends Error {
  readonly place: Place

  constructor(place: Place, message: string) {
    super(message)
    this.place = place
  }
}

/** The most aliases. An alias is a value each time that it is used: this bounds alias bombs. */
const MAX_ALIASES = 1000

/** Reads JSON by its own parser, 100 times faster than YAML's. @throws SyntaxFault if it is neither */
export function readDescription(text: string): Description {
  // RFC 8259, section 8.1, lets a parser ignore a byte order mark; YAML 1.2 allows it, section 5.2.
  const content = text.replace(/^\uFEFF/, '')
  return /^\s*\{/.test(content) ? (readJson(content) ?? readYaml(content)) : readYaml(content)
}

/** A JSON text; null if it is YAML with a brace, or faulty: YAML's parser reports the place. */
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
  // Pretty messages repeat lines of the text.
  const document = parseDocument(text, { merge: true, lineCounter: lines, prettyErrors: false })
  const placeOf = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const fail = (offset: number, message: string): never => {
    throw new SyntaxFault(placeOf(offset), message)
  }
  const [error] = document.errors
  if (error !== undefined) {
    const { at, message } = syntaxFault(document, error, text)
    fail(at, message)
  }
  const wrong = wrongMerge(document)
  if (wrong !== null) fail(wrong, '<< merges maps alone')
  const value = expanded(document)
  if (value === undefined) {
    const unknown = unknownAlias(document)
    if (unknown !== null) fail(unknown, UNKNOWN_ALIAS)
    fail(document.contents?.range?.[0] ?? 0, TOO_MANY_ALIASES)
  }
  return {
    value,
    twice: [],
    placeOf: (at) => placeOf(offsetOf(document.contents, at)),
  }
}

/** The plain value; null for an empty text, undefined for an alias without an anchor or too many aliases. */
function expanded(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (cause) {
    if (cause instanceof ReferenceError) return undefined
    throw cause
  }
}

/**
 * The node of each alias, in order; undefined if none has its anchor. One pass suffices: yaml's own `resolve`
 * reads the document from the start for each alias.
 */
function targetsOf(document: Document): ReadonlyMap<Alias, unknown> {
  const anchors = new Map<string, unknown>()
  const targets = new Map<Alias, unknown>()
  visit(document, {
    Alias: (_, alias) => void targets.set(alias, anchors.get(alias.source)),
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return targets
}

function unknownAlias(document: Document): number | null {
  const [alias] = [...targetsOf(document)].find(([, target]) => target === undefined) ?? []
  return alias === undefined ? null : (alias.range?.[0] ?? 0)
}

/** The offset of a merge key whose value is neither a map nor a list of maps; null if there is none. */
function wrongMerge(document: Document): number | null {
  const targets = targetsOf(document)
  const targetOf = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node)
  let offset: number | null = null
  visit(document, {
    Pair: (_, { key, value }) => {
      // The parser has a symbol for a merge key, and a text for "<<".
      if (!isScalar(key) || typeof key.value !== 'symbol') return undefined
      const sources = targetOf(value)
      if (isMap(sources) || (isSeq(sources) && sources.items.every((each) => isMap(targetOf(each)))))
        return undefined
      offset = key.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

/** The offset of a member; for one from an alias or a merge key, the offset of the key which has it. */
function offsetOf(root: unknown, at: readonly string[]): number {
  let node = root
  let offset = 0
  for (const key of at) {
    const pair = isMap(node)
      ? (node.items as Pair<Node, Node>[]).find(
          (each) => isScalar(each.key) && String(each.key.value) === key,
        )
      : undefined
    if (pair === undefined) break
    offset = pair.key.range?.[0] ?? offset
    node = pair.value
  }
  return offset
}

/** The places of the members of a JSON text, which `JSON.parse` does not tell. */
interface Member {
  /** The offset of its name in the text. */
  readonly at: number
  readonly members: Map<string, Member>
}

/** The levels of objects that are examined; everything that is read of a description is above. */
const LEVELS = 5

const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

interface Level {
  /** The member; null for an array, its content, or what is too deep. */
  readonly member: Member | null
  readonly path: readonly string[]
}

/** The members of a text that `JSON.parse` accepts; of a repeated member, the last one, as there. */
function jsonMembers(text: string): { root: Member; twice: (readonly string[])[] } {
  const root: Member = { at: 0, members: new Map() }
  const twice: (readonly string[])[] = []
  const stack: Level[] = []
  const none: Level = { member: null, path: [] }
  /** The level of the next value. */
  let next: Level = { member: root, path: [] }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_OBJECT) {
      stack.push(stack.length < LEVELS ? next : none)
      next = none
    } else if (code === OPEN_ARRAY) {
      stack.push(none)
      next = none
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) stack.pop()
    else if (code === QUOTE) {
      const end = endOfString(text, at)
      // A string before a colon is the name of a member.
      const holder = stack.at(-1) ?? none
      if (holder.member !== null && isName(text, end + 1)) {
        const name = JSON.parse(text.slice(at, end + 1)) as string
        const path = [...holder.path, name]
        if (holder.member.members.has(name)) twice.push(path)
        const member: Member = { at, members: new Map() }
        holder.member.members.set(name, member)
        next = { member, path }
      }
      at = end
    }
  }
  return { root, twice }
}

function isName(text: string, from: number): boolean {
  let at = from
  while (/\s/.test(text.charAt(at))) at++
  return text.charAt(at) === ':'
}
