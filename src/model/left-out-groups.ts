/** What explanations say of a user whose provider left out the groups. */

export const LEFT_OUT =
  'The identity provider left out the groups of the user for their number, so the Seats of these groups are missing.'
