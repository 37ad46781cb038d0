/**
 * The grammar of paths and of filters (RFC 7644, sections 3.4.2.2 and 3.5.2). Only `eq` and `and` are
 * accepted. Any other text is refused as a whole, and never read as less than it says.
 */

import { ENTERPRISE_URN } from './scim-attributes.ts'

/** Characters of a filter, or of the path of a change. */
const MAX_TEXT = 4096

export interface ScimPath {
  /** The extension that the attribute belongs to, with its name in lower case; null: the schema itself. */
  readonly extension: string | null
  /** In lower case; '' for the extension as a whole. */
  readonly attribute: string
  /** Conditions on the values of the attribute; empty: none. */
  readonly where: readonly ScimCondition[]
  /** In lower case; null: the values themselves. */
  readonly sub: string | null
}

export interface ScimCondition {
  readonly path: ScimPath
  readonly value: string | boolean
}

/** An attribute name (RFC 7643, section 2.1), and one after a point. */
const NAME = /^(?:[a-z][\w-]*|\$ref)$/
const TOKEN = /[ \t]*(?:("(?:[^"\\]|\\.)*")|([A-Za-z0-9$_.:-]+)|([[\]]))/y

type Token =
  | { readonly text: string; readonly isWord: true }
  | { readonly text: string; readonly isWord: false }
  | { readonly bracket: string }

/** @param urn of the schema of the resource, with which names may begin */
export function parsePath(text: string, urn: string): ScimPath | null {
  const reader = Reader.of(text, urn)
  const path = reader?.path(true) ?? null
  return reader?.isAtEnd === true ? path : null
}

/** The conditions that a value must meet, each of them; null: the filter is not understood. */
export function parseFilter(text: string, urn: string): readonly ScimCondition[] | null {
  const reader = Reader.of(text, urn)
  const conditions = reader?.conditions(true) ?? null
  return reader?.isAtEnd === true ? conditions : null
}

class Reader {
  readonly #tokens: readonly Token[]
  readonly #urn: string
  #at = 0

  private constructor(tokens: readonly Token[], urn: string) {
    this.#tokens = tokens
    this.#urn = urn
  }

  static of(text: string, urn: string): Reader | null {
    const tokens = text.length > MAX_TEXT ? null : tokensOf(text)
    return tokens === null ? null : new Reader(tokens, urn)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length
  }

  /** @param nested whether its values may have conditions */
  path(nested: boolean): ScimPath | null {
    const name = this.#word()
    const named = name === null ? null : nameParts(name, this.#urn)
    if (named === null || !nested || !this.#takes('[')) return named
    const where = named.sub === null && named.attribute !== '' ? this.conditions(false) : null
    if (where === null || !this.#takes(']')) return null
    const next = this.#tokens[this.#at]
    if (next === undefined || !('isWord' in next) || !next.isWord || !next.text.startsWith('.'))
      return { ...named, where }
    this.#at++
    const sub = next.text.slice(1).toLowerCase()
    return NAME.test(sub) ? { ...named, where, sub } : null
  }

  conditions(nested: boolean): ScimCondition[] | null {
    const all: ScimCondition[] = []
    do {
      const path = this.path(nested)
      if (path === null || path.attribute === '' || this.#word()?.toLowerCase() !== 'eq') return null
      const value = this.#value()
      if (value === null) return null
      all.push({ path, value })
    } while (this.#takesWord('and'))
    return all
  }

  #value(): string | boolean | null {
    const token = this.#tokens[this.#at++]
    if (token === undefined || !('isWord' in token)) return null
    if (!token.isWord) return token.text
    const word = token.text.toLowerCase()
    return word === 'true' ? true : word === 'false' ? false : null
  }

  #word(): string | null {
    const token = this.#tokens[this.#at++]
    return token !== undefined && 'isWord' in token && token.isWord ? token.text : null
  }

  #takes(bracket: string): boolean {
    const token = this.#tokens[this.#at]
    if (token === undefined || !('bracket' in token) || token.bracket !== bracket) return false
    this.#at++
    return true
  }

  #takesWord(word: string): boolean {
    const token = this.#tokens[this.#at]
    if (token === undefined || !('isWord' in token) || !token.isWord || token.text.toLowerCase() !== word)
      return false
    this.#at++
    return true
  }
}

function tokensOf(text: string): Token[] | null {
  const tokens: Token[] = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text)
    if (match === null) return null
    const [, string, word, bracket] = match
    if (string !== undefined) {
      const value = stringOf(string)
      if (value === null) return null
      tokens.push({ text: value, isWord: false })
    } else if (word !== undefined) tokens.push({ text: word, isWord: true })
    else tokens.push({ bracket: bracket ?? '' })
  }
  return tokens
}

/** A string of JSON (RFC 7644, section 3.4.2.2), which can be the value of an attribute. */
function stringOf(json: string): string | null {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : null
  } catch {
    return null
  }
}

/** Null also for names of an unknown extension: {@link isForeign} finds them in paths. */
function nameParts(name: string, urn: string): ScimPath | null {
  const lower = name.toLowerCase()
  if (lower === ENTERPRISE_URN.toLowerCase()) return { extension: lower, attribute: '', where: [], sub: null }
  const prefix = [urn, ENTERPRISE_URN]
    .map((each) => `${each.toLowerCase()}:`)
    .find((each) => lower.startsWith(each))
  const [attribute = '', sub = null, ...more] = lower.slice(prefix?.length ?? 0).split('.')
  if (!NAME.test(attribute) || (sub !== null && !NAME.test(sub)) || more.length > 0) return null
  const extension = prefix === undefined || prefix === `${urn.toLowerCase()}:` ? null : prefix.slice(0, -1)
  return { extension, attribute, where: [], sub }
}

/**
 * Whether the name is one of an extension that the gateway does not have, which is taken and dropped. Names
 * of the core schemas are none: with a typing error in them, `active` would be dropped too.
 */
export function isForeign(name: string): boolean {
  const lower = name.toLowerCase()
  return (
    /^urn:[a-z0-9][a-z0-9-]+:[\w.:$-]+$/.test(lower) &&
    !lower.startsWith('urn:ietf:params:scim:schemas:core:')
  )
}
