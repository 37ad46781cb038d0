/** The migrations that both databases have, in their types. A released migration never changes. */

/** The parts in which the databases differ. */
interface SchemaDialect {
  /** Text, compared bytewise, independent of the database's collation. */
  readonly text: string
  /** An integer of 64 bits. */
  readonly integer: string
  readonly bytes: string
  /** Options of a table, and of one that is read by its key alone. */
  readonly end: string
  readonly byKey: string
  position(text: string, part: string): string
  /** The column of `members` that identifies the user, with its type. */
  readonly member: string
}

export function sharedMigrations({ text, integer, bytes, end, byKey, position, member }: SchemaDialect) {
  return {
    /**
     * Browser sessions (with a cookie) and refresh families (with a handle). `sub`, `email` and `name` are
     * JSON strings. `claimed_until` is 0 without a pending renewal. `issued_at` is in whole seconds.
     */
    sessions: `
CREATE TABLE sessions (
  tenant ${text} NOT NULL,
  id ${text} NOT NULL,
  cookie_hash ${bytes},
  family_hash ${bytes},
  handle_hash ${bytes},
  sub ${text} NOT NULL,
  email ${text},
  name ${text},
  hash_perm ${text} NOT NULL,
  issued_at ${integer} NOT NULL,
  renew_at ${integer} NOT NULL,
  expires_at ${integer} NOT NULL,
  ended_at ${integer},
  claimed_until ${integer} NOT NULL DEFAULT 0,
  sealed ${text} NOT NULL,
  PRIMARY KEY (tenant, id),
  CHECK ((family_hash IS NULL) = (cookie_hash IS NOT NULL)),
  CHECK ((family_hash IS NULL) = (handle_hash IS NULL))
)${end};
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
`,

    /** `sub` is a JSON string; `sub_digest` its SHA-256. Times are ms since the epoch. */
    blocks: `
CREATE TABLE blocks (
  tenant ${text} NOT NULL,
  id ${text} NOT NULL,
  sub ${text} NOT NULL,
  sub_digest ${bytes} NOT NULL,
  until ${integer},
  reason ${text},
  created_by ${text} NOT NULL,
  created_at ${integer} NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, sub_digest)
)${end};
`,

    /**
     * The users who have signed in. In PostgreSQL, earlier ones appear with their next sign-in, because
     * `members` has only a digest of `sub`, which is at most 765 bytes here. `last_sign_in` is in ms since
     * the epoch.
     */
    users: `
CREATE TABLE users (
  tenant ${text} NOT NULL,
  sub ${text} NOT NULL,
  email ${text},
  name ${text},
  last_sign_in ${integer},
  PRIMARY KEY (tenant, sub)
)${byKey};
`,

    /**
     * Sessions by user and by the provider's session, for administration and for logouts at the provider.
     * `provider_logouts` has digests of what was logged out and of used logout tokens, each with the time of
     * its record.
     */
    logouts: `
CREATE INDEX sessions_of_user ON sessions (tenant, sub, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_of_provider_session ON sessions (tenant, provider_session, id) WHERE ended_at IS NULL;

CREATE TABLE provider_logouts (
  tenant ${text} NOT NULL,
  digest ${bytes} NOT NULL,
  at ${integer} NOT NULL,
  PRIMARY KEY (tenant, digest)
)${byKey};
CREATE INDEX provider_logouts_by_time ON provider_logouts (at);
`,

    /**
     * The audit: an entry for each change, chained by hashes in a chain for each tenant. `audit_heads` has
     * the newest entry of each chain, `audit_starts` the oldest one kept, once retention has deleted any: a
     * cut at either end is found.
     */
    audit: `
CREATE TABLE audit (
  tenant ${text} NOT NULL,
  id ${text} NOT NULL,
  seq ${integer} NOT NULL,
  at ${integer} NOT NULL,
  actor_kind ${text} NOT NULL,
  actor_id ${text} NOT NULL,
  actor_name ${text},
  request_id ${text},
  action ${text} NOT NULL,
  target_kind ${text} NOT NULL,
  target_id ${text} NOT NULL,
  target_name ${text},
  space ${text} NOT NULL,
  prev ${text},
  hash ${text} NOT NULL,
  visible_in ${text},
  before ${text},
  after ${text},
  PRIMARY KEY (tenant, id)
)${end};
CREATE INDEX audit_by_actor ON audit (tenant, substr(actor_id, 1, 64), id);
CREATE INDEX audit_by_target ON audit (tenant, substr(target_id, 1, 64), id);
CREATE INDEX audit_by_time ON audit (tenant, at);
CREATE INDEX audit_by_space ON audit (tenant, visible_in, id) WHERE visible_in IS NOT NULL;
CREATE TABLE audit_heads (tenant ${text} NOT NULL PRIMARY KEY, seq ${integer} NOT NULL, hash ${text} NOT NULL)${byKey};
CREATE TABLE audit_starts (tenant ${text} NOT NULL PRIMARY KEY, seq ${integer} NOT NULL, prev ${text})${byKey};
`,

    /** In ms since the epoch. An instance of the version before writes and reads without it. */
    keyUses: `
ALTER TABLE api_keys ADD COLUMN last_used_at ${integer};
`,

    /**
     * `cutoffs` has the newest revocation of each user, issuer and tenant, and is kept for good. `subject` is
     * the JSON of a `RevocationSubject`, and `digest` its SHA-256. `at` is in ms since the epoch. `revoked`
     * of a session is 1 if a revocation has ended it. `owner` of an API key is a `sub` as a JSON string,
     * `owner_digest` its SHA-256. An instance of the version before writes and reads without them.
     */
    revocations: `
CREATE TABLE cutoffs (
  tenant ${text} NOT NULL,
  kind ${text} NOT NULL,
  digest ${bytes} NOT NULL,
  subject ${text} NOT NULL,
  at ${integer} NOT NULL,
  revocation ${text} NOT NULL,
  PRIMARY KEY (tenant, kind, digest)
)${byKey};
CREATE TABLE revocations (
  tenant ${text} NOT NULL,
  id ${text} NOT NULL,
  seq ${integer} NOT NULL,
  at ${integer} NOT NULL,
  subject ${text} NOT NULL,
  subject_digest ${bytes} NOT NULL,
  record ${text} NOT NULL,
  answer ${text},
  PRIMARY KEY (tenant, id)
)${end};
CREATE INDEX revocations_of_subject ON revocations (tenant, subject_digest, id);
ALTER TABLE sessions ADD COLUMN revoked ${integer} NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN owner ${text};
ALTER TABLE api_keys ADD COLUMN owner_digest ${bytes};
CREATE INDEX api_keys_of_owner ON api_keys (tenant, owner_digest, id) WHERE owner_digest IS NOT NULL;
`,

    /**
     * 1 if the provider left out the groups at the latest sign-in. An instance of the version before writes
     * and reads without it, so that a mark may stay after a later sign-in there.
     */
    leftOutGroups: `
ALTER TABLE users ADD COLUMN groups_left_out ${integer} NOT NULL DEFAULT 0;
`,

    /**
     * Grants with an end. `sub` is a JSON string; `sub_digest` its SHA-256. The column of `members` is null
     * for a user who is not listed. Times are ms since the epoch.
     */
    grants: `
CREATE TABLE grants (
  tenant ${text} NOT NULL,
  id ${text} NOT NULL,
  sub ${text} NOT NULL,
  sub_digest ${bytes} NOT NULL,
  ${member},
  seat_id ${text} NOT NULL,
  from_at ${integer} NOT NULL,
  until_at ${integer} NOT NULL,
  reason ${text},
  created_by ${text} NOT NULL,
  created_at ${integer} NOT NULL,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, seat_id) REFERENCES seats (tenant, id) ON DELETE CASCADE
)${end};
CREATE INDEX grants_of_user ON grants (tenant, sub_digest, id);
CREATE INDEX grants_of_seat ON grants (tenant, seat_id, id);
CREATE INDEX grants_of_member ON grants (tenant, ${member.split(' ')[0]}, seat_id);
`,

    /**
     * What a provider keeps by SCIM. `user_name_key` and `email_key` are in lower case. `resource` is the
     * JSON of the other attributes of a user; it comes last, and is not read with the columns before it. The
     * counts of a group are kept up to date. `member` of a session is a JSON string; of both it is the claim
     * of mode `claim`. An instance of the version before writes and reads without them.
     */
    scim: `
CREATE TABLE scim_users (
  tenant ${text} NOT NULL,
  id ${text} NOT NULL,
  user_name ${text} NOT NULL,
  user_name_key ${text} NOT NULL,
  external_id ${text},
  active ${integer} NOT NULL,
  email ${text},
  email_key ${text},
  display_name ${text},
  version ${integer} NOT NULL,
  created_at ${integer} NOT NULL,
  modified_at ${integer} NOT NULL,
  resource ${text} NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, user_name_key),
  UNIQUE (tenant, external_id)
)${end};
CREATE INDEX scim_users_by_email ON scim_users (tenant, email_key, id) WHERE email_key IS NOT NULL;
CREATE INDEX scim_users_by_display_name ON scim_users (tenant, display_name, id) WHERE display_name IS NOT NULL;
CREATE TABLE scim_groups (
  tenant ${text} NOT NULL,
  id ${text} NOT NULL,
  display_name ${text} NOT NULL,
  external_id ${text},
  member_count ${integer} NOT NULL,
  active_count ${integer} NOT NULL,
  version ${integer} NOT NULL,
  created_at ${integer} NOT NULL,
  modified_at ${integer} NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, display_name)
)${end};
CREATE INDEX scim_groups_by_external_id ON scim_groups (tenant, external_id, id) WHERE external_id IS NOT NULL;
CREATE TABLE scim_members (
  tenant ${text} NOT NULL,
  group_id ${text} NOT NULL,
  user_id ${text} NOT NULL,
  PRIMARY KEY (tenant, group_id, user_id)
)${byKey};
CREATE INDEX scim_members_of_user ON scim_members (tenant, user_id, group_id);
ALTER TABLE sessions ADD COLUMN member ${text};
ALTER TABLE users ADD COLUMN member ${text};
CREATE INDEX users_of_member ON users (tenant, member, sub) WHERE member IS NOT NULL;
`,

    /** In ms since the epoch. An instance of the version before writes and reads without it. */
    voidTokens: `
ALTER TABLE sessions ADD COLUMN void_until ${integer} NOT NULL DEFAULT 0;
`,

    /** The users of an address. `lower` is that of ASCII letters: columns are compared bytewise. */
    usersByEmail: `
CREATE INDEX users_by_email ON users (tenant, lower(email)) WHERE email IS NOT NULL;
`,

    /** For questions by the name as it is written, in mode `userName`. */
    scimNames: `
CREATE INDEX scim_users_by_name ON scim_users (tenant, user_name);
`,

    /**
     * Versions of the route tables: `files` is the JSON of their texts, and null in an old version. The
     * `base` of a candidate is the version that was active before; its time is by the clock of the store. An
     * instance of the version before writes and reads without these tables.
     */
    tables: `
CREATE TABLE tables_versions (
  tenant ${text} NOT NULL,
  version ${integer} NOT NULL,
  digest ${text} NOT NULL,
  hash ${text} NOT NULL,
  entries ${integer} NOT NULL,
  created_at ${integer} NOT NULL,
  created_by ${text} NOT NULL,
  files ${text},
  PRIMARY KEY (tenant, version)
)${end};
CREATE TABLE tables_candidates (
  tenant ${text} NOT NULL,
  id ${text} NOT NULL,
  base ${integer} NOT NULL,
  digest ${text} NOT NULL,
  created_at ${integer} NOT NULL,
  files ${text} NOT NULL,
  PRIMARY KEY (tenant, id)
)${end};
CREATE TABLE tables_answers (
  tenant ${text} NOT NULL,
  candidate ${text} NOT NULL,
  instance ${text} NOT NULL,
  answer ${text} NOT NULL,
  PRIMARY KEY (tenant, candidate, instance),
  FOREIGN KEY (tenant, candidate) REFERENCES tables_candidates (tenant, id) ON DELETE CASCADE
)${end};
`,

    /**
     * A JSON list: each `sub` that a SCIM user was by a former member key, as long as its revocation may not be
     * closed. An instance of the version before writes and reads without it.
     */
    formerScimSubs: `
ALTER TABLE scim_users ADD COLUMN former ${text};
`,

    /**
     * The few Seats with `*`. The text of the condition is that of `range-listings.ts`, or the index is not
     * used.
     */
    wildcards: `
CREATE INDEX wildcards ON seats (tenant, id) WHERE ${position('permissions', `'"*"'`)} > 0;
`,
  }
}
