/** Fills the tables of a store by statements of their own, which is faster than the writes of the store. */

import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { TENANT } from '../../test/fleet/fleet.ts'

/** Executes a statement on the tables of a store, with `$1`, `$2`… for its values. */
export type Fill = (text: string, values: (string | number)[]) => Promise<unknown>

/** What differs between the two databases. */
export interface Filler {
  readonly fill: Fill
  /** The prefix of tables. */
  readonly schema: string
  /** A query of the numbers from 1 to the first parameter, as `n`. */
  readonly numbers: string
  /** The SHA-256 of a text. */
  digest(text: string): string
}

export function postgresFiller(query: Fill): Filler {
  return {
    fill: query,
    schema: 'seatgate.',
    numbers: 'SELECT generate_series(1, $1::int) AS n',
    digest: (text) => `sha256(convert_to(${text}, 'UTF8'))`,
  }
}

/** @param path of the file, which no gateway uses now */
export function sqliteFiller(path: string): Filler & Disposable {
  const database = new DatabaseSync(path)
  const sha256 = (text: unknown) => createHash('sha256').update(String(text)).digest()
  database.function('sha256_of', { deterministic: true }, sha256)
  return {
    fill: async (text, values) => database.prepare(text.replaceAll('$', '?')).run(...values),
    schema: '',
    numbers:
      'WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1) SELECT n FROM numbers',
    digest: (text) => `sha256_of(${text})`,
    [Symbol.dispose]: () => database.close(),
  }
}

export interface Sessions {
  /** The ids are {@link sessionId} of this and a number from 1. */
  readonly prefix: string
  readonly count: number
  /** The user of all; left out: each has one of its own, whose `sub` is the id. */
  readonly user?: string
  readonly hashPerm: readonly string[]
}

/** Milliseconds that sessions last. */
const LASTING = 3_600_000

const FIRST = 10_000_000

/** The id of a session, of the length of others. @param prefix of up to 14 characters */
export function sessionId(prefix: string, number: number): string {
  return `${padded(prefix)}${FIRST + number}`
}

function padded(prefix: string): string {
  return prefix.padEnd(14, '-')
}

/** Sessions of programs, as after a sign-in. */
export async function fillSessions(
  { fill, schema, numbers, digest }: Filler,
  { prefix, count, user, hashPerm }: Sessions,
): Promise<void> {
  const now = Date.now()
  const hash = (part: string) => digest(`CAST($3 AS text) || (${FIRST} + n) || '${part}'`)
  const sub = user === undefined ? `'"' || CAST($3 AS text) || (${FIRST} + n) || '"'` : '$8'
  const text = `INSERT INTO ${schema}sessions (tenant, id, family_hash, handle_hash, sub, hash_perm, issued_at, renew_at, expires_at, sealed, created_at)
    SELECT $2, CAST($3 AS text) || (${FIRST} + n), ${hash('family')}, ${hash('handle')}, ${sub}, $4, $5, $6, $6, 'sealed', $7 FROM (${numbers}) AS n`
  const times = [Math.floor(now / 1000) - 1, now + LASTING, now]
  const values = [count, TENANT, padded(prefix), JSON.stringify(hashPerm), ...times]
  await fill(text, user === undefined ? values : [...values, JSON.stringify(user)])
}

/** Cutoffs of users who are called `cut off` and a number from 1. */
export async function fillCutoffs({ fill, schema, numbers, digest }: Filler, count: number): Promise<void> {
  const subject = `'{"user":"cut off ' || n || '"}'`
  const text = `INSERT INTO ${schema}cutoffs (tenant, kind, digest, subject, at, revocation)
    SELECT $2, 'user', ${digest(subject)}, ${subject}, $3, 'bench' FROM (${numbers}) AS n`
  await fill(text, [count, TENANT, Date.now()])
}
