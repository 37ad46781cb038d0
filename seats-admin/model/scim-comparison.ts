/** What a tenant's users have by their latest sign-in, and what they would have by their SCIM groups. */

/** A user who has signed in. */
export interface ComparedUser {
  readonly sub: string
  readonly email: string | null
  /** Names of Seats, in order. */
  readonly bySignIn: readonly string[]
  readonly byGroups: readonly string[]
  /** Whether SCIM has the user: `inactive` users have no Seats; `unknown` ones have none either. */
  readonly scim: 'active' | 'inactive' | 'unknown'
  /** Whether the provider left out the groups at the latest sign-in, so that `bySignIn` may lack some. */
  readonly areGroupsLeftOut: boolean
}

/** A SCIM user who has not signed in, and those that no caller is, as they have no member key. */
export interface UnseenUser {
  /** The id of the SCIM user. */
  readonly id: string
  readonly userName: string
  readonly active: boolean
  /** Names of Seats by groups, in order. */
  readonly byGroups: readonly string[]
}

export interface ComparisonPage {
  readonly limit: number
  /** The page contains users after this one: a `sub`, or the id of a SCIM user. */
  readonly after: string | null
}
