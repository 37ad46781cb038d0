/** Writes entries as a route table, adds them to one, and compares the two. */

import {
  isMap,
  isNode,
  isScalar,
  type Document,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
} from 'yaml'
import { type ImportedEntry, oneLine, requestKey } from './operation-entries.ts'

/**
 * A new table.
 *
 * @param source the file of the description, as the user wrote it
 * @param title its title and version
 * @param accepts a warning code that the table accepts as a whole, and why; null: none
 */
export function tableText(
  { source, title, upstream }: Readonly<Record<'source' | 'title' | 'upstream', string>>,
  entries: readonly ImportedEntry[],
  accepts: { readonly code: string; readonly reason: string } | null = null,
): string {
  const lines = entries.map((entry) => `  ${lineOf(entry)}`)
  return [
    `# Made by seatgate import from ${oneLine(source)}${title === '' ? '' : `: ${oneLine(title)}`}`,
    '# METHOD /path: the permission that the request needs in its space. A request that no entry matches is not forwarded.',
    '',
    `upstream: ${quotedValue(upstream)}`,
    ...(accepts === null ? [] : [`# ${accepts.reason}`, `# seatgate: accept ${accepts.code}`]),
    lines.length === 0 ? 'routes: {}' : 'routes:',
    ...lines,
    '',
  ].join('\n')
}

/** The differences between a table and a description. Paths of entries follow the table's prefix. */
export type Drift = ReturnType<OpenApiTable['drift']>

export class OpenApiTable {
  readonly #text: string
  readonly #document: Document
  readonly #routes: YAMLMap
  /** The prefix of the table's patterns in the paths of the description; '' if there is none. */
  readonly #prefix: string
  /** The entries by request. */
  readonly #written = new Map<string, Pair>()

  /** Reads a table. @throws Error if the text is no route table */
  constructor(text: string) {
    this.#text = text
    this.#document = parseDocument(text, { stringKeys: true })
    const { contents, errors } = this.#document
    const routes = isMap(contents) ? contents.get('routes') : null
    if (errors.length > 0 || !isMap(contents) || !isMap(routes))
      throw new Error('is no route table: check it with seatgate check')
    this.#routes = routes
    this.#prefix = servedPrefix(contents)
    for (const pair of routes.items) {
      const [method = '', path = ''] = textOf(pair.key).split(' ')
      this.#written.set(requestKey({ method, path }), pair)
    }
  }

  drift(operations: readonly ImportedEntry[]) {
    const isInside = ({ path }: ImportedEntry) => path.startsWith(`${this.#prefix}/`)
    const entries = operations.filter(isInside).map((each) => this.#behindPrefix(each))
    const described = new Set(entries.map(requestKey))
    return {
      // The operations without an entry.
      missing: entries.filter((entry) => !this.#written.has(requestKey(entry))),
      // The operations whose path does not begin with the table's prefix.
      outside: operations.filter((each) => !isInside(each)),
      // The entries without an operation, as the table writes them.
      surplus: [...this.#written].filter(([key]) => !described.has(key)).map(([, { key }]) => textOf(key)),
      // The entries with another permission than `x-seatgate-permission` has.
      other: entries.flatMap((entry) => {
        const written = this.#permissionOf(entry)
        return !entry.isFixed || written === null || written === entry.permission ? [] : [{ entry, written }]
      }),
    }
  }

  /** The key of the table's entry for these requests. */
  keyOf(entry: ImportedEntry): string {
    return requestKey(this.#behindPrefix(entry))
  }

  #behindPrefix(entry: ImportedEntry): ImportedEntry {
    return !entry.path.startsWith(`${this.#prefix}/`)
      ? entry
      : { ...entry, path: entry.path.slice(this.#prefix.length) }
  }

  #permissionOf(entry: ImportedEntry): string | null {
    const value = this.#written.get(requestKey(entry))?.value
    const permission = isMap(value) ? value.get('permission') : isScalar(value) ? value.value : null
    return typeof permission === 'string' ? permission : null
  }

  /**
   * Adds the missing entries, and sets the permissions that the description fixes. The rest of the text is
   * kept.
   *
   * @param prune removes what `prunable` has
   */
  updated(entries: readonly ImportedEntry[], { prune = false }: { readonly prune?: boolean } = {}): string {
    const drift = this.drift(entries)
    const surplus = prune ? this.prunable(entries) : []
    const removals = surplus.length === this.#written.size ? [null] : surplus.map((key) => this.#removal(key))
    const changes = drift.other.map(({ entry }) => this.#edit(entry))
    const edits = [...changes, this.#addition(drift.missing), ...removals]
    const possible = edits.filter((edit) => edit !== null)
    if (possible.length === edits.length) return edited(this.#text, possible)
    // The rewriting changes its document, and this table may be asked again.
    return new OpenApiTable(this.#text).#rewritten(drift, surplus)
  }

  /** The entries without an operation, except those that others use by an alias. */
  prunable(entries: readonly ImportedEntry[]): string[] {
    const surplus = new Set(this.drift(entries).surplus)
    const pairs = [...this.#written.values()].filter(({ key }) => surplus.has(textOf(key)))
    return pairs.filter((pair) => !hasAnchor(pair)).map(({ key }) => textOf(key))
  }

  /** The removal of whole lines, with accepted warnings, which would count for the next entry. */
  #removal(key: string): Edit | null {
    const pair = [...this.#written.values()].find((each) => textOf(each.key) === key)
    const start = isNode(pair?.key) ? pair.key.range?.[0] : undefined
    const ended = isNode(pair?.value) ? pair.value.range?.[1] : undefined
    if (start === undefined || ended === undefined || this.#routes.flow) return null
    let from = this.#text.lastIndexOf('\n', start - 1) + 1
    if (this.#text.slice(from, start).trim() !== '') return null
    let at = from
    for (let above = this.#lineBefore(at); COMMENT.test(above); above = this.#lineBefore(at)) {
      at -= above.length
      if (ACCEPTS.test(above)) from = at
    }
    const end = this.#text.slice(0, ended).trimEnd().length
    const next = this.#text.indexOf('\n', end)
    return { from, to: next < 0 ? this.#text.length : next + 1, text: '' }
  }

  /** The end of a line, with its line end. */
  #lineBefore(offset: number): string {
    return this.#text.slice(this.#text.lastIndexOf('\n', offset - 2) + 1, offset)
  }

  /** The edit of a permission; null if the value has no place of its own. */
  #edit(entry: ImportedEntry): Edit | null {
    const value = this.#written.get(requestKey(entry))?.value
    const written = isMap(value) ? value.get('permission', true) : value
    if (!isScalar(written) || !written.range || written.anchor !== undefined) return null
    const [from, to] = written.range
    return { from, to, text: quotedValue(entry.permission) }
  }

  /** The addition of lines after the last entry; null if the routes are no block of lines. */
  #addition(missing: readonly ImportedEntry[]): Edit | null {
    const last = this.#routes.items.at(-1)
    const ended = isNode(last?.value) ? last.value.range?.[1] : undefined
    const start = isNode(last?.key) ? last.key.range?.[0] : undefined
    if (ended === undefined || start === undefined || this.#routes.flow) return null
    // A map ends with its last line.
    const end = this.#text.slice(0, ended).trimEnd().length
    const line = this.#text.slice(this.#text.lastIndexOf('\n', start - 1) + 1, start)
    const indent = /^ */.exec(line)?.[0] ?? ''
    const [rest = '', newLine = '\n'] = /^[^\r\n]*(\r?\n)?/.exec(this.#text.slice(end)) ?? []
    const from = end + rest.length - (rest.endsWith('\n') ? newLine.length : 0)
    const lines = missing.map((entry) => newLine + indent + lineOf(entry))
    return { from, to: from, text: lines.join('') }
  }

  /** The text as the YAML library writes it: spaces and quotes may change. */
  #rewritten({ missing, other }: Drift, surplus: readonly string[]): string {
    for (const key of surplus) this.#routes.delete(key)
    for (const { entry } of other) this.#set(entry)
    for (const entry of missing) {
      const value = new Scalar(entry.permission)
      const comment = commentOf(entry)
      if (comment !== '') value.comment = ` ${comment}`
      this.#routes.add(this.#document.createPair(keyOf(entry), value))
    }
    this.#routes.flow = this.#routes.items.length === 0
    return this.#document.toString({ lineWidth: 0 })
  }

  #set(entry: ImportedEntry): void {
    const pair = this.#written.get(requestKey(entry))
    if (pair === undefined) return
    if (isMap(pair.value)) pair.value.set('permission', entry.permission)
    else if (isScalar(pair.value)) pair.value.value = entry.permission
  }
}

const COMMENT = /^\s*#/
const ACCEPTS = /^\s*#\s*seatgate:/

function textOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key)
}

function hasAnchor(pair: Pair): boolean {
  let isThere = false
  if (isNode(pair.value))
    visit(pair.value, {
      Value: (_, { anchor }) => {
        if (anchor !== undefined) isThere = true
      },
    })
  return isThere
}

/** The prefix that the service sees: a prefix that is removed is not in its description. */
function servedPrefix(table: YAMLMap): string {
  const prefix = table.get('prefix')
  return typeof prefix !== 'string' || table.get('strip_prefix') === true ? '' : prefix.replace(/\/$/, '')
}

/** An edit, by offsets in the text. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

function edited(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((one, other) => other.from - one.from)
    .reduce((result, { from, to, text: by }) => result.slice(0, from) + by + result.slice(to), text)
}

/** The line of an entry, without its indentation. */
function lineOf(entry: ImportedEntry): string {
  const comment = commentOf(entry)
  return `${quotedKey(keyOf(entry))}: ${quotedValue(entry.permission)}${comment === '' ? '' : ` # ${comment}`}`
}

export function keyOf({ method, path }: ImportedEntry): string {
  return `${method} ${path}`
}

function commentOf({ review, summary }: ImportedEntry): string {
  return [review === '' ? '' : `review: ${review}`, summary].filter((each) => each !== '').join('; ')
}

/** A key of YAML: plain if that has the same meaning. */
function quotedKey(text: string): string {
  return /^[A-Z-]+ \/[A-Za-z0-9._~/{}*:@!$&'()+,;=%-]*$/.test(text) && !text.endsWith(':')
    ? text
    : JSON.stringify(text)
}

function quotedValue(text: string): string {
  return /^[A-Za-z][A-Za-z0-9._-]*(?::[A-Za-z0-9._-]+)?$/.test(text) &&
    !/^(?:true|false|null|yes|no|on|off)$/i.test(text)
    ? text
    : JSON.stringify(text)
}
