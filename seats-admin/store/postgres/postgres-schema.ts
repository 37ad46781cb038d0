/** Whether the schema has the tables, columns and unique keys that its version has. */

import { partsIn, requireParts } from '../schema-parts.ts'
import { UnusableStore } from '../unavailable.ts'
import type { Connection } from './postgres-connection.ts'

const VERSION_TABLE = 'table schema_version'

/**
 * The catalogs, which each role may read. Statements with ON CONFLICT need the keys, which a dump restores
 * after the rows; they take no deferrable one. A partial index, or one of expressions, is no key of all rows.
 * No statement has the key of `audit` in ON CONFLICT: if the table is partitioned, the key may have the
 * columns of the partitions, too, which PostgreSQL requires. The columns of a key are in the order of their
 * names, since any order will do.
 */
const PARTS = `WITH tables AS (SELECT c.oid, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'seatgate' AND c.relkind IN ('r', 'p')),
   columns AS (SELECT t.oid, t.name AS relation, a.attnum, a.attname AS name FROM tables t
     JOIN pg_attribute a ON a.attrelid = t.oid WHERE a.attnum > 0 AND NOT a.attisdropped),
   keys AS (SELECT i.indexrelid AS oid, c.relation, c.name, c.attnum = ANY (p.partattrs::int2[]) AS is_partition FROM pg_index i
     JOIN columns c ON c.oid = i.indrelid AND c.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])
     LEFT JOIN pg_partitioned_table p ON p.partrelid = i.indrelid
     WHERE i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL)
   SELECT 'table ' || name AS part FROM tables
   UNION ALL SELECT 'column ' || relation || '.' || name FROM columns
   UNION ALL SELECT 'key ' || relation || ' (' || string_agg(name, ', ' ORDER BY name) || ')' FROM keys GROUP BY oid, relation
   UNION ALL SELECT 'key audit (' || string_agg(name, ', ' ORDER BY name) || ')' FROM keys
     WHERE relation = 'audit' AND NOT is_partition GROUP BY oid`

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
  const stored = { has: (part: string) => parts.has(inOrder(part)) }
  if (applied !== null) return requireParts(applied, partsMadeBy(steps.slice(0, applied)), stored)
  // Another instance may have created all of them since the version was read.
  const isDamaged = !parts.has(VERSION_TABLE) && partsMadeBy(steps).some((part) => parts.has(part))
  if (isDamaged)
    throw new UnusableStore('DAMAGED', `it lacks the ${VERSION_TABLE}, but has others of a store`)
}

/** A key, with its columns in the order of their names. */
function inOrder(part: string): string {
  return part.replace(/\((.*)\)/, (_, columns: string) => `(${columns.split(', ').toSorted().join(', ')})`)
}

/** In the order of the migrations. */
export function partsMadeBy(steps: readonly string[]): string[] {
  const statements = steps.flatMap((step) => step.split(';'))
  const dropped = new Set(
    statements.map((statement) => / DROP CONSTRAINT IF EXISTS (\w+)/.exec(statement)?.[1] ?? ''),
  )
  return statements.flatMap(partsOfStatement).filter((part) => !dropped.has(nameOfKey(part)))
}

/** The name that PostgreSQL gives to a key without one. */
function nameOfKey(part: string): string {
  const [, table = '', columns = ''] = /^key (\w+) \((.*)\)$/.exec(part) ?? []
  return `${[table, ...columns.split(', ')].join('_')}_key`
}

function partsOfStatement(statement: string): string[] {
  const [, table = '', body = ''] = /CREATE TABLE (\w+) \((.*)\)\s*$/s.exec(statement) ?? []
  if (table !== '')
    return [`table ${table}`, ...elementsOf(body).flatMap((each) => partsOfElement(table, each))]
  const [, of = '', key = ''] = /ALTER TABLE (\w+) ADD UNIQUE \((.*)\)$/.exec(statement) ?? []
  if (of !== '') return [`key ${of} (${key})`]
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
