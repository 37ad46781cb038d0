/**
 * The lines of an MCP server. A lookup of a name costs the same whatever the number of lines. That of a URI
 * also depends on the slashes in the longest pattern.
 */

import { hasDotSegment, type McpKind } from '../../model/mcp.ts'
import type { McpEndpoint, Route } from '../../model/route.ts'

type Settings = Pick<McpEndpoint, 'resource' | 'filtersLists' | 'bodyTimeout'>

export class McpServer implements McpEndpoint {
  readonly path: string
  readonly resource: string
  readonly filtersLists: boolean
  readonly bodyTimeout: number | null
  readonly lines: Route[] = []
  /** The lines by kind and whole name. */
  readonly #exact = new Map<string, Route>()
  /** The lines of resources that end with a `*`, by the URI before it. */
  readonly #beginnings = new Map<string, Route>()
  /** The most slashes of a beginning. */
  #slashes = 0

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
    if (kind !== 'resource' || !name.endsWith('/*')) return void this.#exact.set(keyOf(kind, name), line)
    const beginning = name.slice(0, -1)
    this.#beginnings.set(beginning, line)
    this.#slashes = Math.max(this.#slashes, beginning.split('/').length - 1)
  }

  /** The line of exactly this name, or else the one with the longest beginning of the URI. */
  find(kind: McpKind, name: string): Route | null {
    const exact = this.#exact.get(keyOf(kind, name))
    if (exact !== undefined || kind !== 'resource' || this.#slashes === 0) return exact ?? null
    let line: Route | null = null
    for (let at = name.indexOf('/'), n = 0; at >= 0 && n < this.#slashes; at = name.indexOf('/', at + 1), n++)
      line = this.#beginnings.get(name.slice(0, at + 1)) ?? line
    // A server that resolves dot segments would read another resource than the one that was decided on.
    return line === null || hasDotSegment(name) ? null : line
  }

  /** Records show the target of a route. */
  toJSON(): Settings {
    const { resource, filtersLists, bodyTimeout } = this
    return { resource, filtersLists, bodyTimeout }
  }
}

const NO_NAME = { kind: 'method', name: '' } as const

function keyOf(kind: McpKind, name: string): string {
  return `${kind} ${name}`
}
