/** The permissions that the routes of a table require, and the routes of each. */

import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import { GRANT_ANY } from '../../seats-admin/model/scope.ts'
import { nearest } from '../config/invalid-value.ts'
import { needsPermission, type Route } from '../model/route.ts'

/** The permission for questions of AuthZEN. It counts in the admin space of the API key's tenant. */
export const EVALUATE = 'access:evaluate'

/** The most unknown names whose nearest name is cached. */
const MAX_REMEMBERED = 10_000

/** Known names. Thousands of Seats may have the same wrong name, so the nearest one is cached. */
export class KnownNames {
  readonly all: ReadonlySet<string>
  readonly #nearest = new Map<string, string | null>()

  constructor(all: ReadonlySet<string>) {
    this.all = all
  }

  has(name: string): boolean {
    return this.all.has(name)
  }

  nearest(name: string): string | null {
    const cached = this.#nearest.get(name)
    if (cached !== undefined) return cached
    const suggestion = nearest(name, this.all)
    if (this.#nearest.size < MAX_REMEMBERED) this.#nearest.set(name, suggestion)
    return suggestion
  }
}

/** The permissions of all routes, built-in ones included, and those for grants and for AuthZEN. */
export class RequiredPermissions extends KnownNames {
  readonly #routes: ReadonlyMap<string, readonly string[]>

  constructor(routes: readonly Route[]) {
    const requiring = routes.filter(({ requirement }) => needsPermission(requirement))
    const byPermission = Map.groupBy(requiring, ({ requirement }) => requirement)
    super(new Set([...byPermission.keys(), GRANT_ANY, EVALUATE]))
    this.#routes = new Map([
      ...[...byPermission].map(([permission, of]) => [permission, of.map(({ id }) => id)] as const),
      [EVERY_PERMISSION, requiring.map(({ id }) => id)],
    ])
  }

  routesOf(permission: string): readonly string[] {
    return this.#routes.get(permission) ?? []
  }
}

/** The permissions of the routes that decide at the moment, compiled once for each table. */
export function requiredPermissions(routes: () => readonly Route[]): () => RequiredPermissions {
  let of: readonly Route[] | null = null
  let permissions = new RequiredPermissions([])
  return () => {
    const now = routes()
    if (now !== of) permissions = new RequiredPermissions(now)
    of = now
    return permissions
  }
}
