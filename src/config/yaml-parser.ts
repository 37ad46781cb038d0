/**
 * Parses the text of a file into a document with plain data. Replaces variables, expands aliases, and reports
 * duplicate keys, merge keys and unknown tags.
 */

import {
  type Document as YamlDocument,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { literalKey, substitute } from './environment.ts'
import { InvalidValue, quote, Undetermined } from './invalid-value.ts'
import { type Data, Document, type Spot, type Spots, type Value } from './positioned-document.ts'
import type { Source } from './read-file.ts'
import { type FileSchema, schemaAt } from './schema.ts'
import type { ValueFiles } from './value-files.ts'

/**
 * Whether a value is needed even if its variables are not set.
 *
 * @param path the keys of the value, from the root
 */
export type IsNeeded = (path: readonly string[]) => boolean

/**
 * @param file the path that messages show
 * @param env null: variables are faults
 * @param isNeeded null: each value is needed. Otherwise values with variables and values that name files are
 *   left out without a fault, because the machine may be another than the gateway's
 * @param files null: the files that values name are not read
 */
export function parse(
  file: string,
  source: Source,
  schema: FileSchema,
  env: NodeJS.ProcessEnv | null,
  isNeeded: IsNeeded | null = null,
  files: ValueFiles | null = null,
): Document {
  const lineCounter = new LineCounter()
  const document = new Document(file, lineCounter, isNeeded !== null)
  if ('message' in source) {
    const { line, column, message } = source
    document.faults.push({ place: { file, line, column }, message })
    return document
  }
  const yaml = parseDocument(source.text, {
    lineCounter,
    prettyErrors: false,
    version: '1.2',
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    // The composer reports duplicate keys: the parser's own check takes quadratic time.
    uniqueKeys: false,
  })
  const { contents } = yaml
  const error = yaml.errors[0] ?? yaml.warnings[0]
  const syntax = error === undefined ? null : syntaxFault(yaml, error, source.text)
  if (syntax !== null) document.fault(syntax.at, syntax.message)
  else if (yaml.directives?.yaml.version !== '1.2')
    document.fault(0, 'only YAML 1.2 is supported: remove the %YAML line')
  else if (isMap(contents))
    document.root = new Composer(document, schema, { env, files }, isNeeded).compose(contents)
  else if (contents === null || (isScalar(contents) && contents.value === null))
    document.fault(0, `the file is empty: it must have ${schema.required.map(quote).join(' and ')}`)
  else document.fault(contents.range?.[0] ?? 0, 'the file must be a map: lines of "key: value"')
  return document
}

/** The maximum number of levels of maps and lists, which is more than any setting needs. */
const MAX_DEPTH = 32
const NESTED = `maps and lists are nested too deeply: at most ${MAX_DEPTH} levels`
const UNKNOWN_TAG = 'unknown tag (!…): a value that begins with ! must be in quotes'
/** The maximum number of values that all aliases of a file expand to, which protects against alias bombs. */
const MAX_ALIASED = 10_000
export const TOO_MANY_ALIASES = 'the aliases (*) in this file expand to too many values: write the values out'
const VARIABLE_KEY = 'variables are replaced in values only, not in keys (write $${ for a literal ${)'
const MERGE_KEY =
  '<< (merge) is not part of YAML 1.2: write the entries out, or write "<<" in quotes where it is a name'
const CORE_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
)

/** What replaces `${…}` in values. */
interface ValueSources {
  /** Null: values have no variables. */
  readonly env: NodeJS.ProcessEnv | null
  readonly files: ValueFiles | null
}

class Composer {
  readonly #document: Document
  readonly #schema: FileSchema
  readonly #sources: ValueSources
  readonly #isNeeded: IsNeeded | null
  /** The keys of the current value, from the root. */
  readonly #path: string[] = []
  readonly #anchors = new Map<string, Node>()
  /** The depth of nested alias expansions. */
  #aliasDepth = 0
  #aliased = 0
  /** The number of values that are left out. */
  #undetermined = 0

  constructor(document: Document, schema: FileSchema, sources: ValueSources, isNeeded: IsNeeded | null) {
    this.#document = document
    this.#schema = schema
    this.#sources = sources
    this.#isNeeded = isNeeded
  }

  /** @returns null if aliases expand to too many values. That fault replaces all others. */
  compose(root: YAMLMap): Data | null {
    const data = this.#map(root, 0)
    if (this.#aliased <= MAX_ALIASED) return data
    this.#document.faults.length = 0
    this.#document.fault(root.range?.[0] ?? 0, TOO_MANY_ALIASES)
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
    // A key in quotes is an ordinary name: in YAML 1.1, too, only the plain key merges.
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
    const composed = this.#value(node, offset, depth + 1)
    const value = spot.written === null ? composed : this.#converted(composed)
    this.#path.pop()
    // For a fault inside a map or a list, only the inner entry is marked.
    const isWrong = this.#document.faults.length > faultsBefore || this.#undetermined > undetermined
    spot.faulty = isWrong && (typeof value !== 'object' || value === null)
    return value
  }

  /** Converts the string of a variable if the schema expects a number or a boolean. */
  #converted(value: Value): Value {
    if (typeof value !== 'string') return value
    const { type } = schemaAt(this.#schema, this.#path)
    if (type === 'boolean' && /^(?:true|false)$/.test(value)) return value === 'true'
    return type === 'integer' && /^(?:0|-?[1-9][0-9]{0,14})$/.test(value) ? Number(value) : value
  }

  #value(node: Node | null, offset: number, depth: number): Value {
    if (node === null) return null
    if (isAlias(node)) return this.#alias(node.source, offset, depth)
    if (this.#aliasDepth > 0 && ++this.#aliased > MAX_ALIASED) return null
    if (node.tag !== undefined && !CORE_TAGS.has(node.tag)) return this.#invalid(offset, UNKNOWN_TAG)
    if (depth > MAX_DEPTH) return this.#invalid(offset, NESTED)
    const value = this.#content(node, offset, depth)
    // After its content, so that an anchor cannot refer to itself.
    if ('anchor' in node && node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    return value
  }

  #content(node: Node, offset: number, depth: number): Value {
    if (isMap(node)) return this.#map(node, depth)
    if (isSeq(node)) return this.#list(node, depth)
    const value = isScalar(node) ? node.value : null
    if (typeof value === 'number' || typeof value === 'boolean') return value
    if (typeof value !== 'string') return null
    const isSecret = value.includes('${') && schemaAt(this.#schema, this.#path).writeOnly === true
    const { env, files } = this.#sources
    const replaced = substitute(value, env, isSecret, files)
    if (!(replaced instanceof InvalidValue)) return replaced
    if (!(replaced instanceof Undetermined) || this.#isNeeded === null || this.#isNeeded(this.#path))
      return this.#invalid(offset, `the value ${replaced.message}`)
    this.#undetermined++
    return null
  }

  /** Composes the anchor's node again, so that each entry has its own location. */
  #alias(name: string, offset: number, depth: number): Value {
    const target = this.#anchors.get(name)
    if (target === undefined) return this.#invalid(offset, UNKNOWN_ALIAS)
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

/** The message for an alias without an anchor before it. */
export const UNKNOWN_ALIAS = 'an alias without an anchor: a value that begins with * must be in quotes'

/**
 * Messages for the YAML parser's errors. The parser's own messages are not used, because some quote the file,
 * which may contain secrets.
 */
const MESSAGES: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: 'a value that begins with * or & must be in quotes, unless it is an alias or an anchor',
  BAD_COLLECTION_TYPE: 'the tag does not match the type of its value: remove it',
  BAD_DIRECTIVE: 'unknown directive: remove the line, or put the value that begins with % in quotes',
  BAD_DQ_ESCAPE: 'unknown escape in double quotes: write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'wrong indentation: all entries of a map or list begin in the same column',
  BAD_SCALAR_START: 'a value that begins with this character must be in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a map cannot begin here: a value that contains ": " must be in quotes, and a nested map begins on its own line',
  BLOCK_IN_FLOW: 'inside [ ] and { }, nested maps and lists also need [ ] and { }',
  DUPLICATE_KEY: 'the map has this key already: remove one',
  KEY_OVER_1024_CHARS: 'a key has more than 1024 characters: shorten it',
  MISSING_CHAR: 'a comma, a colon, a closing quote or a closing bracket is missing here',
  MULTILINE_IMPLICIT_KEY:
    'this line is not "key: value": the colon and the space after the key are missing, or the indentation is wrong',
  MULTIPLE_DOCS: 'a second document begins here: a file must hold one document',
  NON_STRING_KEY: 'a key must be a string, not a map, a list or an alias',
  RESOURCE_EXHAUSTION: NESTED,
  TAB_AS_INDENT: 'a tab in the indentation: YAML allows spaces only',
  TAG_RESOLVE_FAILED: UNKNOWN_TAG,
  UNEXPECTED_TOKEN: 'unexpected character: a value with special characters must be in quotes',
}

/**
 * @param error the first error, which usually causes the others
 * @returns the offset of the error in the text, and the message
 */
export function syntaxFault(
  document: YamlDocument,
  error: YAMLError,
  text: string,
): { at: number; message: string } {
  const at = error.pos[0]
  const open = unclosed(document, error)
  const opening = text[open ?? -1] ?? ''
  if (open !== null)
    return { at: open, message: `this ${opening} is not closed: add ${CLOSING[opening] ?? opening}` }
  if (text.slice(at - 1, at + 1) === '${' || text.slice(at, at + 2) === '${')
    return { at, message: `inside [ ] and { }, a \${…} must be in quotes` }
  return { at, message: MESSAGES[error.code] ?? 'this is not valid YAML' }
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}' }

/** The offset of the unclosed quote or bracket, which the parser reports only at the end of the text. */
function unclosed(document: YamlDocument, error: YAMLError): number | null {
  if (!/^Missing closing|end with a/.test(error.message)) return null
  let offset: number | null = null
  const consider = (node: Node, opens: boolean) => {
    const [start, , end] = node.range ?? [0, 0, 0]
    if (opens && start < error.pos[0] && error.pos[0] <= end) offset = start
  }
  visit(document, {
    Node: (_, node) => {
      if (isCollection(node)) consider(node, node.flow === true)
      else if (isScalar(node)) consider(node, node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE')
    },
  })
  return offset
}
