/** A store in which no user is blocked or has a grant, nothing is revoked, and no group is known. */

const asOf = <V>(value: V) => Promise.resolve({ seq: Number.MAX_SAFE_INTEGER, value })

export const NO_RESTRICTIONS = {
  restrictions: () => asOf({ now: 0, users: [], issuers: {}, tenant: null }),
  userRestriction: () => asOf({ now: 0, restriction: null }),
  groups: () => asOf({ user: null }),
  grants: () => asOf({ now: 0, users: [] }),
  userGrants: () => asOf({ now: 0, grants: [] }),
}

/** Memory in which no user has a group or a grant. */
export const NO_HOLDERS = { groupsOf: () => null, grantsOf: () => null }
