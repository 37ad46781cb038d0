/** The database schema as a list of migrations. A released migration never changes; new ones are appended. */

import { counted } from '../point-reads.ts'
import { integer } from '../rows.ts'
import { UnusableStore } from '../unavailable.ts'
import type { Connection } from './connection.ts'
import { sql } from './sql.ts'

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

/** `schema_version` is the number of applied migrations. */
export const MIGRATIONS: readonly string[] = [first, sessions, administrators]

/** The key of the advisory lock, "Seat" in ASCII; the same in all versions. */
const LOCK = 0x53656174

/** Reads the catalog tables: `to_regclass` may use a cache from before the lock was granted. */
const FIND = sql(
  `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'seatgate') AS schema,
     EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = 'seatgate' AND tablename = 'schema_version') AS made`,
)
const READ_VERSION = sql('SELECT version FROM seatgate.schema_version')
const SET_VERSION = sql('UPDATE seatgate.schema_version SET version = :version')

const BEGIN = `BEGIN; SELECT pg_advisory_xact_lock(${LOCK})`
const CREATE_VERSION = `CREATE TABLE seatgate.schema_version (one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL);
  INSERT INTO seatgate.schema_version VALUES (1, 0)`

/** @throws for a store of a newer version */
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

/** @returns null for a database without a store */
async function appliedSteps(connection: Connection, steps: readonly string[]): Promise<number | null> {
  const [found] = await connection.query(FIND, {})
  if (found?.made !== true) return null
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
