/**
 * The permission grammar, whose one owner this is: `<resource>:<operation>`, or exactly `*`, which grants
 * all. Pure.
 */

export const PERMISSION = /^[A-Za-z0-9._-]+:[A-Za-z0-9._-]+$/

/** Grants every permission. `trainings:*` is none: it reads like a wildcard and would grant nothing. */
export const EVERY_PERMISSION = '*'

export function isPermission(text: string): boolean {
  return text === EVERY_PERMISSION || PERMISSION.test(text)
}

/**
 * Resources of the permissions that the gateway's own endpoints ask for, and of those that they may ask for
 * one day.
 */
const OWN_RESOURCES: ReadonlySet<string> = new Set([
  'seats',
  'users',
  'api-keys',
  'blocks',
  'grants',
  'revocations',
  'audit',
  'sessions',
  'access',
  'routes',
  'tables',
  'fleet',
  'decisions',
  'canary',
])

/** Whether a Seat that holds the permission may open an endpoint of the gateway itself. */
export function isOwnPermission(permission: string): boolean {
  return PERMISSION.test(permission) && OWN_RESOURCES.has(permission.slice(0, permission.indexOf(':')))
}

/**
 * Whether a Seat, or a caller, with these permissions holds that one. `*` itself is held through `*` only.
 */
export function holds(permissions: ReadonlySet<string>, permission: string): boolean {
  return permissions.has(EVERY_PERMISSION) || permissions.has(permission)
}
