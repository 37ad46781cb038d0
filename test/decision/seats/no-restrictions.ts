/** A store in which no user is blocked, and nothing revoked. */

const asOf = <V>(value: V) => Promise.resolve({ seq: Number.MAX_SAFE_INTEGER, value })

export const NO_RESTRICTIONS = {
  restrictions: () => asOf({ now: 0, users: [], issuers: {}, tenant: null }),
  userRestriction: () => asOf({ now: 0, restriction: null }),
}
