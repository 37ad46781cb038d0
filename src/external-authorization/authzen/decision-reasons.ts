/** The reasons of decisions, in `context.reason`. Clients may rely on them: add to them, never rename one. */

export type Reason =
  | 'allow'
  | 'permission_denied'
  | 'no_seat_in_space'
  | 'tenant_mismatch'
  | 'space_required'
  | 'space_conflict'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'permission_malformed'
  | 'resource_type_unknown'
  | 'subject_type_unknown'
  | 'seat_not_found'
  | 'seat_ambiguous'
  | 'api_key_not_found'
  | 'api_key_expired'
  | 'api_key_revoked'
  | 'user_not_found'
  | 'caller_blocked'

/** Why the answer is `false`. */
export type Denial = Exclude<Reason, 'allow'>
