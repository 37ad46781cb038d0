/** The database schema as a list of migrations. A released migration never changes; new ones are appended. */

import type { DatabaseSync } from 'node:sqlite'
import { supported } from '../schema-parts.ts'
import { sharedMigrations } from '../shared-migrations.ts'
import { UnusableStore } from '../unavailable.ts'

/** Identifies a Seatgate store; "Seat" in ASCII. */
const APPLICATION_ID = 0x53656174

const shared = sharedMigrations({
  text: 'TEXT',
  integer: 'INTEGER',
  bytes: 'BLOB',
  end: ' STRICT',
  byKey: ' STRICT, WITHOUT ROWID',
  position: (text, part) => `instr(${text}, ${part})`,
  member: 'user TEXT',
})

/**
 * Names are compared bytewise (BINARY). `spaces` and `permissions` are JSON arrays of strings, written by
 * JSON.stringify: equal text means equal spaces. Times are ms since the epoch, `names_given_up.at` whole
 * seconds.
 */
const first = `
CREATE TABLE counter (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  seq INTEGER NOT NULL,
  id_time INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (1, 0, 0);

CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL
) STRICT;

CREATE TABLE seats (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  spaces TEXT NOT NULL,
  permissions TEXT NOT NULL,
  member_count INTEGER NOT NULL DEFAULT 0,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_by TEXT,
  updated_at INTEGER,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
) STRICT;
CREATE INDEX seats_of_spaces ON seats (tenant, spaces, id);

CREATE TABLE names_given_up (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  hash BLOB NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE api_key_seats (
  tenant TEXT NOT NULL,
  api_key_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  seat_id TEXT NOT NULL,
  PRIMARY KEY (tenant, api_key_id, seat_id),
  FOREIGN KEY (tenant, api_key_id) REFERENCES api_keys (tenant, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant, seat_id) REFERENCES seats (tenant, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_of_seat ON api_key_seats (tenant, seat_id);

CREATE TABLE members (
  tenant TEXT NOT NULL,
  user TEXT NOT NULL,
  seat_id TEXT NOT NULL,
  PRIMARY KEY (tenant, user, seat_id),
  FOREIGN KEY (tenant, seat_id) REFERENCES seats (tenant, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX members_of_seat ON members (tenant, seat_id);

-- Counted as they come and go: a page of Seats costs the same however many members they have.
CREATE TRIGGER member_came AFTER INSERT ON members BEGIN
  UPDATE seats SET member_count = member_count + 1 WHERE tenant = NEW.tenant AND id = NEW.seat_id;
END;
CREATE TRIGGER member_went AFTER DELETE ON members BEGIN
  UPDATE seats SET member_count = member_count - 1 WHERE tenant = OLD.tenant AND id = OLD.seat_id;
END;
`

/**
 * Older changes get mark 0, except the newest, so that a reader at the head of another copy of this file is
 * detected. A random mark is from 1 to 2^31 - 1.
 */
const marks = `
ALTER TABLE counter ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE changes ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
UPDATE counter SET mark = abs(random() % 2147483647) + 1 WHERE seq > 0;
UPDATE changes SET mark = (SELECT mark FROM counter) WHERE seq = (SELECT seq FROM counter);
`

/**
 * The gateway that owns this store, as `device:inode` of the lock file that it holds; empty before the first
 * owner. See `ownership.ts`.
 */
const owner = `
ALTER TABLE counter ADD COLUMN owner TEXT NOT NULL DEFAULT '';
`

/**
 * The few Seats that may administrate a tenant. A write that takes this from one of them looks for another.
 * The database uses the index only if the text of its condition is that of `administrating` in `rows.ts`.
 */
const administrators = `
CREATE INDEX administrators ON seats (tenant, spaces, id) WHERE
  (instr(permissions, '"*"') > 0 OR (instr(permissions, '"seats:update"') > 0 AND instr(permissions, '"seats:grant"') > 0));
`

/** Counts the writes to a Seat or an API key. */
const versions = `
ALTER TABLE seats ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE api_keys ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
`

/** The users from before this migration: those with Seats, without email and time. */
const users = `
${shared.users}
INSERT INTO users (tenant, sub) SELECT DISTINCT tenant, user FROM members;
`

const providerSessions = `
ALTER TABLE sessions ADD COLUMN provider_session BLOB;
ALTER TABLE sessions ADD COLUMN created_at INTEGER;
${shared.logouts}
`

/** Versions without an audit could still be running: their changes are refused. */
const audit = `
${shared.audit}
CREATE TABLE audited_changes (
  seq INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  mark INTEGER NOT NULL DEFAULT 0,
  audited INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT written_by_a_version_with_an_audit CHECK (audited = 1 OR kind NOT IN ('seat', 'seat-name', 'api-key'))
) STRICT;
INSERT INTO audited_changes SELECT seq, tenant, kind, key, mark, 1 FROM changes;
DROP TABLE changes;
ALTER TABLE audited_changes RENAME TO changes;
`

/** Both databases count in the statement that changes the members. */
const counts = `
DROP TRIGGER member_came;
DROP TRIGGER member_went;
`

/** A user may have a block of each origin. Those of before are of `admin`. */
const blockOrigins = `
CREATE TABLE blocks_of_origins (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  sub TEXT NOT NULL,
  sub_digest BLOB NOT NULL,
  until INTEGER,
  reason TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  origin TEXT NOT NULL DEFAULT 'admin',
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, sub_digest, origin)
) STRICT;
INSERT INTO blocks_of_origins SELECT tenant, id, sub, sub_digest, until, reason, created_by, created_at, 'admin' FROM blocks;
DROP TABLE blocks;
ALTER TABLE blocks_of_origins RENAME TO blocks;
`

/** `user_version` is the number of applied migrations. */
export const MIGRATIONS: readonly string[] = [
  first,
  marks,
  shared.sessions,
  owner,
  administrators,
  shared.blocks,
  versions,
  users,
  providerSessions,
  audit,
  shared.keyUses,
  shared.wildcards,
  counts,
  shared.revocations,
  shared.leftOutGroups,
  blockOrigins,
  shared.grants,
  shared.scim,
  shared.usersByEmail,
  shared.voidTokens,
  shared.scimNames,
  shared.tables,
  shared.formerScimSubs,
]

/** Reads the first page only. @throws unless the database is marked as a Seatgate store */
export function requireMark(database: DatabaseSync): void {
  if (pragma(database, 'application_id') !== APPLICATION_ID)
    throw new UnusableStore('NOT_A_STORE', 'the file is not a Seatgate store')
}

/** Marks a new, empty database as a Seatgate store. */
export function mark(database: DatabaseSync): void {
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
}

/** @throws for another program's database and for a store of a newer version */
export function migrate(database: DatabaseSync, steps = MIGRATIONS): void {
  requireMark(database)
  // An up-to-date schema requires no lock: another program's lock must not prevent the start.
  if (stepsToTake(database, steps).length === 0) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Read again under the lock: another process may have migrated.
    for (const step of stepsToTake(database, steps)) database.exec(step)
    database.exec(`PRAGMA user_version = ${steps.length}; COMMIT`)
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw cause
  }
}

function stepsToTake(database: DatabaseSync, steps: readonly string[]): readonly string[] {
  return steps.slice(appliedSteps(database, steps))
}

/** @throws for a store of a newer version */
export function appliedSteps(database: DatabaseSync, steps = MIGRATIONS): number {
  return supported(pragma(database, 'user_version'), steps.length)
}

function pragma(database: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
}
