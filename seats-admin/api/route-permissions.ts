/** What the route tables ask for: given by the gateway, which has them. */

/** Ids of routes. */
export type RouteIds = readonly string[]

export interface AskedPermissions {
  /** Those that some route requires, and the one that endpoints ask for beside. */
  has(permission: string): boolean
  /** Of the routes that require the permission; of `*` all that require one. */
  routesOf(permission: string): RouteIds
  /** The permission that was perhaps meant; null: none is near. */
  nearest(permission: string): string | null
}
