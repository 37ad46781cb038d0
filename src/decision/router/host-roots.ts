/**
 * The trees of a route table by host. A host has one tree, with the entries of all tables that name it, so
 * that a lookup costs the same whatever the number of hosts.
 */

import type { RouteEntry } from '../../config/config.ts'
import { getOrInsertComputed } from '../../lib/get-or-insert.ts'
import { hostMatches, wildcardOf } from '../../model/host.ts'
import { Node } from './tree.ts'

export class HostRoots {
  /** The names that a table or `api_hosts` has; `*.` for one label. */
  readonly names: readonly string[]
  readonly #exact: ReadonlyMap<string, Node>
  readonly #wildcards: ReadonlyMap<string, Node>

  constructor(roots: ReadonlyMap<string, Node>) {
    this.names = [...roots.keys()]
    this.#exact = new Map([...roots].filter(([name]) => !isWildcard(name)))
    this.#wildcards = new Map([...roots].filter(([name]) => isWildcard(name)))
  }

  /** The roots of all names. */
  get roots(): Node[] {
    return [...this.#exact.values(), ...this.#wildcards.values()]
  }

  /**
   * The root of the host. Null: no table names it.
   *
   * @param host canonical
   */
  find(host: string): Node | null {
    const exact = this.#exact.get(host)
    if (exact !== undefined || this.#wildcards.size === 0) return exact ?? null
    const wildcard = wildcardOf(host)
    return wildcard === null ? null : (this.#wildcards.get(wildcard) ?? null)
  }
}

/** A set of hosts with the same entries. */
export interface Branch {
  /** Null: the hosts that no table names. */
  readonly names: (string | null)[]
  readonly root: Node
  /** The entries in the order of the tables. */
  readonly entries: readonly RouteEntry[]
  /** The built-in endpoints answer on them. */
  readonly builtIn: boolean
}

/**
 * The branches. The first is for the hosts that no table names.
 *
 * @param apiHosts hosts of built-in endpoints; null: all
 */
export function branchesOf(entries: readonly RouteEntry[], apiHosts: readonly string[] | null): Branch[] {
  const byHost = new Map<string | null, RouteEntry[]>([[null, []]])
  for (const entry of entries)
    for (const host of entry.hosts ?? [null]) getOrInsertComputed(byHost, host, () => []).push(entry)
  const branches = new Map<string, Branch>()
  const groups = new Groups()
  for (const name of new Set([...byHost.keys(), ...(apiHosts ?? [])])) {
    const own = byHost.get(name) ?? byHost.get(wildcardOf(name ?? '')) ?? byHost.get(null) ?? []
    const builtIn = apiHosts === null || (name !== null && apiHosts.some((each) => hostMatches(each, name)))
    const key = `${groups.keyOf(own)} ${builtIn}`
    const branch = (): Branch => ({ names: [], root: new Node(), entries: own, builtIn })
    getOrInsertComputed(branches, key, branch).names.push(name)
  }
  return [...branches.values()]
}

/**
 * Numbers lists of entries. The entries of one table have one list of hosts, so that few numbers tell them
 * apart.
 */
class Groups {
  readonly #numbers = new Map<unknown, number>()

  keyOf(entries: readonly RouteEntry[]): string {
    const numberOf = (hosts: unknown) => getOrInsertComputed(this.#numbers, hosts, () => this.#numbers.size)
    return [...new Set(entries.map(({ hosts }) => numberOf(hosts)))].join(',')
  }
}

function isWildcard(name: string): boolean {
  return name.startsWith('*.')
}

/** The roots by host. Null: no table names a host, and every host has the first tree. */
export function hostRoots(branches: readonly Branch[]): HostRoots | null {
  const roots = new Map<string, Node>()
  for (const { names, root } of branches) for (const name of names) if (name !== null) roots.set(name, root)
  return roots.size === 0 ? null : new HostRoots(roots)
}
