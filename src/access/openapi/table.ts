/** Writes entries as a route table, adds them to one, and compares the two. */

import { isMap, isScalar, type Document, type Pair, parseDocument, Scalar, type YAMLMap } from 'yaml'
import { type ImportedEntry, requestKey } from './entries.ts'

export interface TableHead {
  /** The description's file, as it was given. */
  readonly source: string
  /** Its title and version. */
  readonly title: string
  readonly upstream: string
}

/** A new table. */
export function tableText({ source, title, upstream }: TableHead, entries: readonly ImportedEntry[]): string {
  const lines = entries.map((entry) => {
    const comment = commentOf(entry)
    return `  ${quotedKey(keyOf(entry))}: ${quotedValue(entry.permission)}${comment === '' ? '' : ` # ${comment}`}`
  })
  return [
    `# Made by seatgate import from ${oneLine(source)}${title === '' ? '' : `: ${oneLine(title)}`}`,
    '# METHOD /path: the permission that the request needs in its space. A request that no entry matches is not forwarded.',
    '',
    `upstream: ${quotedValue(upstream)}`,
    lines.length === 0 ? 'routes: {}' : 'routes:',
    ...lines,
    '',
  ].join('\n')
}

/** How a table differs from the description. */
export interface Drift {
  /** Operations without an entry. */
  readonly missing: readonly ImportedEntry[]
  /** Entries without an operation, as the table writes them. */
  readonly surplus: readonly string[]
  /** Entries with another permission than `x-seatgate-permission` says. */
  readonly other: readonly { readonly entry: ImportedEntry; readonly written: string }[]
}

export class OpenApiTable {
  readonly #document: Document
  readonly #routes: YAMLMap
  /** By request. */
  readonly #written = new Map<string, Pair>()

  /** @throws Error where the text is no route table */
  constructor(text: string) {
    this.#document = parseDocument(text, { stringKeys: true })
    const { contents, errors } = this.#document
    const routes = isMap(contents) ? contents.get('routes') : null
    if (errors.length > 0 || !isMap(routes))
      throw new Error('is no route table: check it with seatgate check')
    this.#routes = routes
    for (const pair of routes.items) {
      const [method = '', path = ''] = String(isScalar(pair.key) ? pair.key.value : pair.key).split(' ')
      this.#written.set(requestKey({ method, path }), pair)
    }
  }

  drift(entries: readonly ImportedEntry[]): Drift {
    const described = new Set(entries.map(requestKey))
    return {
      missing: entries.filter((entry) => !this.#written.has(requestKey(entry))),
      surplus: [...this.#written]
        .filter(([key]) => !described.has(key))
        .map(([, { key }]) => String(isScalar(key) ? key.value : key)),
      other: entries.flatMap((entry) => {
        const written = this.#permissionOf(entry)
        return !entry.isFixed || written === null || written === entry.permission ? [] : [{ entry, written }]
      }),
    }
  }

  #permissionOf(entry: ImportedEntry): string | null {
    const value = this.#written.get(requestKey(entry))?.value
    const permission = isMap(value) ? value.get('permission') : isScalar(value) ? value.value : null
    return typeof permission === 'string' ? permission : null
  }

  /** Adds the missing entries, and sets the permissions that the description fixes. All else stays as it is written. */
  updated(entries: readonly ImportedEntry[]): string {
    const { missing, other } = this.drift(entries)
    for (const { entry } of other) this.#set(entry)
    for (const entry of missing) {
      const value = new Scalar(entry.permission)
      const comment = commentOf(entry)
      if (comment !== '') value.comment = ` ${comment}`
      this.#routes.add(this.#document.createPair(keyOf(entry), value))
    }
    this.#routes.flow = false
    return this.#document.toString({ lineWidth: 0 })
  }

  #set(entry: ImportedEntry): void {
    const pair = this.#written.get(requestKey(entry))
    if (pair === undefined) return
    if (isMap(pair.value)) pair.value.set('permission', entry.permission)
    else if (isScalar(pair.value)) pair.value.value = entry.permission
  }
}

export function keyOf({ method, path }: ImportedEntry): string {
  return `${method} ${path}`
}

function commentOf({ review, summary }: ImportedEntry): string {
  return [review === '' ? '' : `review: ${review}`, summary].filter((each) => each !== '').join('; ')
}

/** As YAML: plain where that is the same text. */
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

function oneLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').trim()
}
