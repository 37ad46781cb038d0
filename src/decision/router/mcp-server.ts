/**
 * The lines of an MCP server. A lookup of a name costs the same whatever the number of lines. That of a URI
 * also depends on the slashes in the longest pattern.
 */

import { hasDotSegment, type McpKind, plainUri } from '../../model/mcp.ts'
import type { McpEndpoint, Route } from '../../model/route.ts'

type Settings = Pick<McpEndpoint, 'resource' | 'filtersLists' | 'bodyTimeout'>

export class McpServer implements McpEndpoint {
  readonly path: string
  readonly resource: string
  readonly filtersLists: boolean
  readonly bodyTimeout: number | null
  readonly lines: Route[] = []
  /** The lines of tools, prompts and methods by kind and name. */
  readonly #named = new Map<string, Route>()
  /** The lines of resources by URI, and by the URI as a lenient reader sees it. */
  readonly #resources = new ResourceLines()
  readonly #plain = new ResourceLines()

  /** @param path with the prefix of its table */
  constructor(path: string, { resource, filtersLists, bodyTimeout }: Settings) {
    this.path = path
    this.resource = resource
    this.filtersLists = filtersLists
    this.bodyTimeout = bodyTimeout
  }

  /** Adds a line that it does not have yet. */
  add(line: Route): void {
    const { kind, name } = line.mcp ?? NO_NAME
    this.lines.push(line)
    if (kind !== 'resource') return void this.#named.set(`${kind} ${name}`, line)
    this.#resources.add(name, line)
    this.#plain.add(plainUri(name), line)
  }

  /**
   * The line of exactly this name, or else the one with the longest beginning of the URI. Null: there is none,
   * or some server reads the URI as one that another line is for, or resolves a part of it.
   */
  find(kind: McpKind, name: string): Route | null {
    if (kind !== 'resource') return this.#named.get(`${kind} ${name}`) ?? null
    const exact = this.#resources.exact.get(name)
    if (exact !== undefined) return exact
    const line = this.#resources.longest(name)
    return line === null || hasDotSegment(name) || this.#mayBeOther(name, line) ? null : line
  }

  /**
   * Otherwise `docs://handbook/pa\ty`, which the line of `docs://handbook/*` allows, would read
   * `docs://handbook/pay`, which needs another permission.
   */
  #mayBeOther(uri: string, line: Route): boolean {
    const plain = plainUri(uri)
    const withoutQuery = plain.replace(/[?#;].*$/s, '')
    const { exact } = this.#plain
    return exact.has(plain) || exact.has(withoutQuery) || this.#plain.longest(plain) !== line
  }

  /** Records show the target of a route. */
  toJSON(): Settings {
    const { resource, filtersLists, bodyTimeout } = this
    return { resource, filtersLists, bodyTimeout }
  }
}

const NO_NAME = { kind: 'method', name: '' } as const

class ResourceLines {
  /** The lines of one URI. */
  readonly exact = new Map<string, Route>()
  /** The lines that end with a `*`, by the URI before it. */
  readonly #beginnings = new Map<string, Route>()
  /** The most slashes of a beginning. */
  #slashes = 0

  add(uri: string, line: Route): void {
    if (!uri.endsWith('/*')) return void this.exact.set(uri, line)
    const beginning = uri.slice(0, -1)
    this.#beginnings.set(beginning, line)
    this.#slashes = Math.max(this.#slashes, beginning.split('/').length - 1)
  }

  /** The line with the longest beginning of the URI. */
  longest(uri: string): Route | null {
    let line: Route | null = null
    for (let at = uri.indexOf('/'), n = 0; at >= 0 && n < this.#slashes; at = uri.indexOf('/', at + 1), n++)
      line = this.#beginnings.get(uri.slice(0, at + 1)) ?? line
    return line
  }
}
