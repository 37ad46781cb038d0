/** The database schema as a list of migrations. A released migration never changes; new ones are appended. */

import { counted, integer } from '../rows.ts'
import { UnusableStore } from '../unavailable.ts'
import type { Connection } from './postgres-connection.ts'
import { checkSchema } from './postgres-schema.ts'

/** Names are compared bytewise, independent of the database's collation. */
const TEXT = 'text COLLATE "C" NOT NULL'

/**
 * As in SQLite, `spaces` and `permissions` are JSON arrays of strings, written by JSON.stringify: equal text means equal
 * spaces. Times are ms since the epoch, `names_given_up.at` whole seconds. Indexed values must be short: `short_spaces`
 * fits any single space, and users are identified by a digest.
 */
const first = `
CREATE TABLE counter (
  one integer PRIMARY KEY CHECK (one = 1),
  seq bigint NOT NULL,
  mark integer NOT NULL,
  id_time bigint NOT NULL
);
INSERT INTO counter VALUES (1, 0, 0, 0);

CREATE TABLE changes (
  seq bigint PRIMARY KEY,
  mark integer NOT NULL,
  tenant ${TEXT},
  kind ${TEXT},
  key ${TEXT}
);

CREATE TABLE seats (
  tenant ${TEXT},
  id ${TEXT},
  name ${TEXT},
  spaces ${TEXT},
  short_spaces text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN octet_length(spaces) <= 200 THEN spaces END) STORED,
  permissions ${TEXT},
  member_count integer NOT NULL DEFAULT 0,
  created_by ${TEXT},
  created_at bigint NOT NULL,
  updated_by text COLLATE "C",
  updated_at bigint,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
);
CREATE INDEX seats_of_spaces ON seats (tenant, short_spaces, id);

CREATE TABLE names_given_up (
  tenant ${TEXT},
  name ${TEXT},
  at bigint NOT NULL,
  PRIMARY KEY (tenant, name)
);

CREATE TABLE api_keys (
  tenant ${TEXT},
  id ${TEXT},
  name ${TEXT},
  hash bytea NOT NULL,
  created_by ${TEXT},
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  PRIMARY KEY (tenant, id)
);

CREATE TABLE api_key_seats (
  tenant ${TEXT},
  api_key_id ${TEXT},
  position integer NOT NULL,
  seat_id ${TEXT},
  PRIMARY KEY (tenant, api_key_id, seat_id),
  FOREIGN KEY (tenant, api_key_id) REFERENCES api_keys (tenant, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant, seat_id) REFERENCES seats (tenant, id) ON DELETE CASCADE
);
CREATE INDEX api_keys_of_seat ON api_key_seats (tenant, seat_id);

CREATE TABLE members (
  tenant ${TEXT},
  user_digest bytea NOT NULL,
  seat_id ${TEXT},
  PRIMARY KEY (tenant, user_digest, seat_id),
  FOREIGN KEY (tenant, seat_id) REFERENCES seats (tenant, id) ON DELETE CASCADE
);
CREATE INDEX members_of_seat ON members (tenant, seat_id);

CREATE TABLE instances (
  id ${TEXT} PRIMARY KEY,
  name ${TEXT},
  beat bigint NOT NULL,
  applied bigint NOT NULL,
  seen_at timestamptz NOT NULL
);
`

/**
 * Browser sessions (with a cookie) and refresh families (with a handle). `sub`, `email` and `name` are JSON strings.
 * `claimed_until` is 0 without a pending renewal. `issued_at` is in whole seconds.
 */
const sessions = `
CREATE TABLE sessions (
  tenant ${TEXT},
  id ${TEXT},
  cookie_hash bytea,
  family_hash bytea,
  handle_hash bytea,
  sub ${TEXT},
  email text COLLATE "C",
  name text COLLATE "C",
  hash_perm ${TEXT},
  issued_at bigint NOT NULL,
  renew_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint,
  claimed_until bigint NOT NULL DEFAULT 0,
  sealed ${TEXT},
  PRIMARY KEY (tenant, id),
  CHECK ((family_hash IS NULL) = (cookie_hash IS NOT NULL)),
  CHECK ((family_hash IS NULL) = (handle_hash IS NULL))
);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
`

/**
 * The few Seats that may administrate a tenant. A write that takes this from one of them looks for another. The condition
 * must equal that of `administrating` in `rows.ts` textually.
 */
const administrators = `
CREATE INDEX administrators ON seats (tenant, short_spaces, id) WHERE
  (strpos(permissions, '"*"') > 0 OR (strpos(permissions, '"seats:update"') > 0 AND strpos(permissions, '"seats:grant"') > 0));
`

/** `sub` is a JSON string; `sub_digest` its SHA-256. Times are ms since the epoch. */
const blocks = `
CREATE TABLE blocks (
  tenant ${TEXT},
  id ${TEXT},
  sub ${TEXT},
  sub_digest bytea NOT NULL,
  until bigint,
  reason text COLLATE "C",
  created_by ${TEXT},
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, sub_digest)
);
`

/** The content hash of an instance's route tables. Nullable: instances of an older version write rows without it. */
const configOfInstances = `
ALTER TABLE instances ADD COLUMN config text COLLATE "C";
`

/**
 * Counts the writes to a Seat or an API key. The lock of the counter comes first, as in each write: the tables are then free
 * of writers. A reader that holds a table for long, such as a backup, would make all reads wait behind this migration: it
 * gives up soon, and the start tries again.
 */
const versions = `
SET LOCAL lock_timeout = 1000;
SELECT 1 FROM counter FOR UPDATE;
ALTER TABLE seats ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE api_keys ADD COLUMN version integer NOT NULL DEFAULT 1;
`

/**
 * The users who have signed in. Earlier ones appear with their next sign-in, because `members` has only a digest of `sub`,
 * which is at most 765 bytes here. Until then an instance of the version before may record members alone. `last_sign_in` is
 * in ms since the epoch.
 */
const users = `
CREATE TABLE users (
  tenant ${TEXT},
  sub ${TEXT},
  email text COLLATE "C",
  name text COLLATE "C",
  last_sign_in bigint,
  PRIMARY KEY (tenant, sub)
);
`

/**
 * Sessions by user and by the provider's session, for administration and for logouts at the provider. `provider_logouts`
 * has digests of what was logged out and of used logout tokens, each with the time of its record.
 */
const providerSessions = `
ALTER TABLE sessions ADD COLUMN provider_session bytea, ADD COLUMN created_at bigint;
CREATE INDEX sessions_of_user ON sessions (tenant, sub, id) WHERE ended_at IS NULL;
CREATE INDEX sessions_of_provider_session ON sessions (tenant, provider_session, id) WHERE ended_at IS NULL;

CREATE TABLE provider_logouts (
  tenant ${TEXT},
  digest bytea NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (tenant, digest)
);
CREATE INDEX provider_logouts_by_time ON provider_logouts (at);
`

/**
 * The audit: an entry for each change, chained by hashes in a chain for each tenant. `audit_heads` has the newest entry of
 * each chain, `audit_starts` the oldest one kept, once retention has deleted any: a cut at either end is found. Instances of
 * versions without an audit may still be running: their changes are refused.
 */
const audit = `
CREATE TABLE audit (
  tenant ${TEXT},
  id ${TEXT},
  seq bigint NOT NULL,
  at bigint NOT NULL,
  actor_kind ${TEXT},
  actor_id ${TEXT},
  actor_name text COLLATE "C",
  request_id text COLLATE "C",
  action ${TEXT},
  target_kind ${TEXT},
  target_id ${TEXT},
  target_name text COLLATE "C",
  space ${TEXT},
  prev text COLLATE "C",
  hash ${TEXT},
  visible_in text COLLATE "C",
  before text COLLATE "C",
  after text COLLATE "C",
  PRIMARY KEY (tenant, id)
);
CREATE INDEX audit_by_actor ON audit (tenant, substr(actor_id, 1, 64), id);
CREATE INDEX audit_by_target ON audit (tenant, substr(target_id, 1, 64), id);
CREATE INDEX audit_by_time ON audit (tenant, at);
CREATE INDEX audit_by_space ON audit (tenant, visible_in, id) WHERE visible_in IS NOT NULL;
CREATE TABLE audit_heads (tenant ${TEXT} PRIMARY KEY, seq bigint NOT NULL, hash ${TEXT});
CREATE TABLE audit_starts (tenant ${TEXT} PRIMARY KEY, seq bigint NOT NULL, prev text COLLATE "C");

ALTER TABLE changes ADD COLUMN audited boolean NOT NULL DEFAULT false;
ALTER TABLE changes ADD CONSTRAINT written_by_a_version_with_an_audit
  CHECK (audited OR kind NOT IN ('seat', 'seat-name', 'api-key')) NOT VALID;
`

/** In ms since the epoch. An instance of the version before writes and reads without it. */
const keyUses = `
ALTER TABLE api_keys ADD COLUMN last_used_at bigint;
`

/** The few Seats with `*`. The condition must equal that of `range-listings.ts` textually. */
const wildcards = `
CREATE INDEX wildcards ON seats (tenant, id) WHERE strpos(permissions, '"*"') > 0;
`

/**
 * What an instance tells of itself. `started_at` is in ms since the epoch. Nullable: instances of an older version write rows
 * without them. While the table waits for a reader such as a backup, no instance can give a sign of life: the migration gives up
 * soon, and the start tries again.
 */
const aboutInstances = `
SET LOCAL lock_timeout = 1000;
ALTER TABLE instances ADD COLUMN started_at bigint, ADD COLUMN version text COLLATE "C", ADD COLUMN url text COLLATE "C";
`

/** `schema_version` is the number of applied migrations. */
export const MIGRATIONS: readonly string[] = [
  first,
  sessions,
  administrators,
  blocks,
  configOfInstances,
  versions,
  users,
  providerSessions,
  audit,
  keyUses,
  wildcards,
  aboutInstances,
]

/** The key of the advisory lock, "Seat" in ASCII; the same in all versions. */
const LOCK = 0x53656174

/** Reads the catalog tables: `to_regclass` may use a cache from before the lock was granted. */
const FIND = `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'seatgate') AS schema,
     EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = 'seatgate' AND tablename = 'schema_version') AS made`
const READ_VERSION = 'SELECT version FROM seatgate.schema_version'
const SET_VERSION = 'UPDATE seatgate.schema_version SET version = :version'

const BEGIN = `BEGIN; SELECT pg_advisory_xact_lock(${LOCK})`
const CREATE_VERSION = `CREATE TABLE seatgate.schema_version (one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL);
  INSERT INTO seatgate.schema_version VALUES (1, 0)`

/** @throws for a store of a newer version, and for one that lacks tables or columns */
export async function migrate(connection: Connection, steps = MIGRATIONS): Promise<void> {
  // An up-to-date schema requires neither a lock nor the right to create tables.
  if ((await appliedSteps(connection, steps)) === steps.length) return
  await connection.run(BEGIN)
  // Read again under the lock: another instance may have migrated.
  const applied = await appliedSteps(connection, steps)
  if (applied === null) await createVersion(connection)
  for (const step of steps.slice(applied ?? 0)) await connection.run(step)
  await connection.query(SET_VERSION, { version: steps.length })
  await connection.run('COMMIT')
}

/**
 * @returns null for a database without a store
 * @throws for a store of a newer version, and for one that lacks tables or columns
 */
export async function appliedSteps(connection: Connection, steps: readonly string[]): Promise<number | null> {
  const [found] = await connection.query(FIND, {})
  const applied = found?.made === true ? await versionOf(connection, steps) : null
  await checkSchema(connection, steps, applied)
  return applied
}

async function versionOf(connection: Connection, steps: readonly string[]): Promise<number> {
  const applied = integer(counted((await connection.query(READ_VERSION, {}))[0]), 'version')
  if (applied <= steps.length) return applied
  throw new UnusableStore(
    'NEWER_SCHEMA',
    `the store has version ${applied}, from a newer Seatgate; this one supports up to ${steps.length}`,
  )
}

/** The schema may exist already; even IF NOT EXISTS requires the right to create it. */
async function createVersion(connection: Connection): Promise<void> {
  const [found] = await connection.query(FIND, {})
  if (found?.schema !== true) await connection.run('CREATE SCHEMA seatgate')
  await connection.run(CREATE_VERSION)
}
