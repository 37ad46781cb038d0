/** Counts of lookups in the caches of a process, for metrics. */

export class Lookups {
  hits = 0
  misses = 0
}

/**
 * `tokens`: verified bearer tokens; `api_keys`: addresses of accepted keys; `authorizations`: of callers with
 * many Seats; `seat_names`, `seats`, `api_key_records`, `sessions`: records in memory; `memberships`: groups
 * of users in memory; `grants`, `blocks`: grants, and blocks and revocations, in memory; `identities`: JWTs
 * for upstreams; `redis`: records shared by a fleet.
 */
export class CacheLookups {
  readonly tokens = new Lookups()
  readonly api_keys = new Lookups()
  readonly authorizations = new Lookups()
  readonly seat_names = new Lookups()
  readonly seats = new Lookups()
  readonly api_key_records = new Lookups()
  readonly sessions = new Lookups()
  readonly memberships = new Lookups()
  readonly grants = new Lookups()
  readonly blocks = new Lookups()
  readonly identities = new Lookups()
  readonly redis = new Lookups()
}
