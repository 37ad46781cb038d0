/** The admin space: what a Seat grants there counts for the whole tenant. */

/** @typedef {{ readonly spaces: readonly string[], readonly permissions: readonly string[] }} Grants */

/**
 * @param {Grants | null} before null: the Seat is new
 * @param {Grants} after
 * @param {string} adminSpace
 * @returns {string[]} the permissions that the change would grant there, and that it did not grant before
 */
export function newInAdminSpace(before, after, adminSpace) {
  if (!after.spaces.includes(adminSpace)) return []
  const had = before?.spaces.includes(adminSpace) ? before.permissions : []
  if (had.includes('*')) return []
  return after.permissions.filter((each) => !had.includes(each))
}
