/** Whether the file has the tables, columns and indexes that its version has. */

import { DatabaseSync } from 'node:sqlite'
import { partsIn, requireParts } from '../schema-parts.ts'
import { UnusableStore } from '../unavailable.ts'
import { appliedSteps, MIGRATIONS } from './sqlite-migrations.ts'

/**
 * Statements name indexes (`INDEXED BY`), and fail without them. A virtual table is of another program: its
 * columns are known only where its module is loaded.
 */
const PARTS = `SELECT type || ' ' || name AS part FROM sqlite_schema WHERE type IN ('table', 'index')
  UNION ALL SELECT 'column ' || s.name || '.' || c.name
    FROM sqlite_schema s JOIN pragma_table_xinfo(s.name) c
    WHERE s.type = 'table' AND s.sql NOT LIKE 'CREATE VIRTUAL TABLE %'`

/** Writes nothing. @throws when a part is missing, and for a store of a newer version */
export function checkSchema(database: DatabaseSync): void {
  const version = appliedSteps(database)
  // A store is created complete: only a new draft has version 0.
  if (version === 0) throw new UnusableStore('DAMAGED', 'it has no table and no version')
  requireParts(version, partsOf(version), partsIn(database.prepare(PARTS).all()))
}

/** What the migrations themselves make, in memory. */
function partsOf(version: number): ReadonlySet<string> {
  using database = new DatabaseSync(':memory:')
  for (const step of MIGRATIONS.slice(0, version)) database.exec(step)
  return partsIn(database.prepare(PARTS).all())
}
