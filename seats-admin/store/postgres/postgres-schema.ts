/** Whether the schema has the tables, columns and unique keys that its version has. */

import { partsIn, requireParts } from '../schema-parts.ts'
import { UnusableStore } from '../unavailable.ts'
import type { Connection } from './postgres-connection.ts'

const VERSION_TABLE = 'table schema_version'

/**
 * The catalogs, which each role may read. Statements with ON CONFLICT need the keys, which a dump restores after the rows.
 */
const PARTS = `WITH tables AS (SELECT c.oid, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'seatgate' AND c.relkind IN ('r', 'p')),
   columns AS (SELECT t.oid, t.name AS relation, a.attnum, a.attname AS name FROM tables t
     JOIN pg_attribute a ON a.attrelid = t.oid WHERE a.attnum > 0 AND NOT a.attisdropped)
   SELECT 'table ' || name AS part FROM tables
   UNION ALL SELECT 'column ' || relation || '.' || name FROM columns
   UNION ALL SELECT 'key ' || c.relation || ' (' || string_agg(c.name, ', ' ORDER BY array_position(i.indkey::int2[], c.attnum)) || ')'
     FROM pg_index i JOIN columns c ON c.oid = i.indrelid AND c.attnum = ANY (i.indkey::int2[])
     WHERE i.indisunique AND i.indisvalid GROUP BY i.indexrelid, c.relation`

/**
 * Writes nothing.
 *
 * @param steps all migrations
 * @param applied how many the store has; null: it has no version
 * @throws when a part is missing
 */
export async function checkSchema(
  connection: Connection,
  steps: readonly string[],
  applied: number | null,
): Promise<void> {
  const parts = partsIn(await connection.query(PARTS, {}))
  if (applied !== null) return requireParts(applied, partsMadeBy(steps.slice(0, applied)), parts)
  // Another instance may have created all of them since the version was read.
  const isDamaged = !parts.has(VERSION_TABLE) && partsMadeBy(steps).some((part) => parts.has(part))
  if (isDamaged)
    throw new UnusableStore('DAMAGED', `it lacks the ${VERSION_TABLE}, but has others of a store`)
}

/** In the order of the migrations. */
export function partsMadeBy(steps: readonly string[]): string[] {
  return steps.flatMap((step) => step.split(';')).flatMap(partsOfStatement)
}

function partsOfStatement(statement: string): string[] {
  const [, table = '', body = ''] = /CREATE TABLE (\w+) \((.*)\)\s*$/s.exec(statement) ?? []
  if (table !== '')
    return [`table ${table}`, ...elementsOf(body).flatMap((each) => partsOfElement(table, each))]
  const [, altered = '', changes = ''] = /ALTER TABLE (\w+) (ADD COLUMN .*)$/s.exec(statement) ?? []
  return [...changes.matchAll(/ADD COLUMN (\w+)/g)].map(([, column]) => `column ${altered}.${column}`)
}

/** The text between commas outside of parentheses. */
function elementsOf(body: string): string[] {
  return body.split(/,(?![^(]*\))/).map((element) => element.trim())
}

function partsOfElement(table: string, element: string): string[] {
  const [, key] = /^(?:PRIMARY KEY|UNIQUE) \((.*)\)$/.exec(element) ?? []
  if (key !== undefined) return [`key ${table} (${key})`]
  const [column] = /^[a-z_]+/.exec(element) ?? []
  if (column === undefined) return []
  const isKey = element.includes(' PRIMARY KEY')
  return [`column ${table}.${column}`, ...(isKey ? [`key ${table} (${column})`] : [])]
}
