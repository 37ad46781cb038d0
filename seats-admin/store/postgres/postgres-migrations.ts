/** The database schema as a list of migrations. A released migration never changes; new ones are appended. */

import { counterRow, integer } from '../rows.ts'
import { supported } from '../schema-parts.ts'
import { sharedMigrations } from '../shared-migrations.ts'
import type { Connection } from './postgres-connection.ts'
import { checkSchema } from './postgres-schema.ts'

const text = 'text COLLATE "C"'
const TEXT = `${text} NOT NULL`

const shared = sharedMigrations({
  text,
  integer: 'bigint',
  bytes: 'bytea',
  end: '',
  byKey: '',
  position: (text, part) => `strpos(${text}, ${part})`,
  member: 'user_digest bytea',
})

/**
 * As in SQLite, `spaces` and `permissions` are JSON arrays of strings, written by JSON.stringify: equal text
 * means equal spaces. Times are ms since the epoch, `names_given_up.at` whole seconds. Indexed values must be
 * short: `short_spaces` fits any single space, and users are identified by a digest.
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
 * The few Seats that may administrate a tenant. A write that takes this from one of them looks for another.
 * The database uses the index only if the text of its condition is that of `administrating` in `rows.ts`.
 */
const administrators = `
CREATE INDEX administrators ON seats (tenant, short_spaces, id) WHERE
  (strpos(permissions, '"*"') > 0 OR (strpos(permissions, '"seats:update"') > 0 AND strpos(permissions, '"seats:grant"') > 0));
`

/**
 * The content hash of an instance's route tables. Nullable: instances of an older version write rows without
 * it.
 */
const configOfInstances = `
ALTER TABLE instances ADD COLUMN config text COLLATE "C";
`

/**
 * Counts the writes to a Seat or an API key. The lock of the counter comes first, as in each write: the
 * tables are then free of writers. A reader that holds a table for long, such as a backup, would make all
 * reads wait behind this migration: it gives up soon, and the start tries again.
 */
const versions = `
SET LOCAL lock_timeout = 1000;
SELECT 1 FROM counter FOR UPDATE;
ALTER TABLE seats ADD COLUMN version integer NOT NULL DEFAULT 1;
ALTER TABLE api_keys ADD COLUMN version integer NOT NULL DEFAULT 1;
`

const providerSessions = `
ALTER TABLE sessions ADD COLUMN provider_session bytea, ADD COLUMN created_at bigint;
${shared.logouts}
`

/** Instances of versions without an audit may still be running: their changes are refused. */
const audit = `
${shared.audit}
ALTER TABLE changes ADD COLUMN audited boolean NOT NULL DEFAULT false;
ALTER TABLE changes ADD CONSTRAINT written_by_a_version_with_an_audit
  CHECK (audited OR kind NOT IN ('seat', 'seat-name', 'api-key')) NOT VALID;
`

/**
 * What an instance tells of itself. `started_at` is in ms since the epoch. Nullable: instances of an older
 * version write rows without them. While the table waits for a reader such as a backup, no instance can give
 * a sign of life: the migration gives up soon, and the start tries again.
 */
const aboutInstances = `
SET LOCAL lock_timeout = 1000;
ALTER TABLE instances ADD COLUMN started_at bigint, ADD COLUMN version text COLLATE "C", ADD COLUMN url text COLLATE "C";
`

/**
 * What an instance understands and has cut, as JSON. Nullable: instances of an older version write rows
 * without them. The locks as in {@link versions} and {@link aboutInstances}.
 */
const revocations = `
SET LOCAL lock_timeout = 1000;
SELECT 1 FROM counter FOR UPDATE;
ALTER TABLE instances ADD COLUMN understands text COLLATE "C", ADD COLUMN cuts text COLLATE "C";
${shared.revocations}
`

/**
 * A user may have a block of each origin. Those of before are of `admin`, and instances of the version before
 * make no others. The locks as in {@link versions}.
 */
const blockOrigins = `
SET LOCAL lock_timeout = 1000;
SELECT 1 FROM counter FOR UPDATE;
ALTER TABLE blocks ADD COLUMN origin text COLLATE "C" NOT NULL DEFAULT 'admin';
ALTER TABLE blocks DROP CONSTRAINT IF EXISTS blocks_tenant_sub_digest_key;
ALTER TABLE blocks ADD UNIQUE (tenant, sub_digest, origin);
`

/**
 * What an instance tells of its files, as JSON. Nullable: instances of an older version write rows without
 * them. The lock as in {@link aboutInstances}.
 */
const filesOfInstances = `
SET LOCAL lock_timeout = 1000;
ALTER TABLE instances ADD COLUMN refused text COLLATE "C", ADD COLUMN secrets text COLLATE "C";
`

/** The locks as in {@link versions}: sessions and users get a column. */
const scim = `
SET LOCAL lock_timeout = 1000;
SELECT 1 FROM counter FOR UPDATE;
${shared.scim}
`

/**
 * The instances that were removed from the list for their silence, as revocations name them for some time.
 * The lock as in {@link aboutInstances}.
 */
const goneInstances = `
SET LOCAL lock_timeout = 1000;
ALTER TABLE instances ADD COLUMN process text COLLATE "C";
CREATE TABLE gone_instances (
  id ${TEXT} PRIMARY KEY,
  name ${TEXT},
  process text COLLATE "C",
  gone_at timestamptz NOT NULL
);
`

/**
 * Where an instance has its route tables. Nullable: instances of an older version write rows without it. The
 * lock as in {@link aboutInstances}.
 */
const tables = `
SET LOCAL lock_timeout = 1000;
ALTER TABLE instances ADD COLUMN tables_from text COLLATE "C";
${shared.tables}
`

/** `schema_version` is the number of applied migrations. */
export const MIGRATIONS: readonly string[] = [
  first,
  shared.sessions,
  administrators,
  shared.blocks,
  configOfInstances,
  versions,
  shared.users,
  providerSessions,
  audit,
  shared.keyUses,
  shared.wildcards,
  aboutInstances,
  revocations,
  shared.leftOutGroups,
  blockOrigins,
  shared.grants,
  filesOfInstances,
  scim,
  shared.usersByEmail,
  shared.voidTokens,
  shared.scimNames,
  goneInstances,
  tables,
  shared.formerScimSubs,
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
  const [schema] = await connection.query(FIND, {})
  const applied = schema?.made === true ? await versionOf(connection, steps) : null
  await checkSchema(connection, steps, applied)
  return applied
}

async function versionOf(connection: Connection, steps: readonly string[]): Promise<number> {
  const [row] = await connection.query(READ_VERSION, {})
  return supported(integer(counterRow(row), 'version'), steps.length)
}

/** The schema may exist already; even IF NOT EXISTS requires the right to create it. */
async function createVersion(connection: Connection): Promise<void> {
  const [schema] = await connection.query(FIND, {})
  if (schema?.schema !== true) await connection.run('CREATE SCHEMA seatgate')
  await connection.run(CREATE_VERSION)
}
