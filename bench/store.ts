/**
 * A store of any number of Seats, filled faster than by its own writes. Its feed of changes does not contain
 * them, as if they were older than the feed.
 */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { openStore } from '../seats-admin/index.ts'
import { ulid } from '../seats-admin/model/ulid.ts'
import { PERMISSIONS, SPACE, seatName, TENANT } from './names.ts'

const INSERT = `INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at)
  VALUES (?, ?, ?, ?, ?, 'bench', ?)`

/**
 * Returns the store as a configuration names it, and creates it if it does not exist.
 *
 * @param open creates the tables: of another revision, where two are compared
 */
export async function storeOf(path: string, seats: number, open = openStore): Promise<string> {
  if (existsSync(path)) return `sqlite:${path}`
  await (await open({ kind: 'sqlite', path })).close()
  const database = new DatabaseSync(path)
  const [spaces, permissions] = [JSON.stringify([SPACE, 's2']), JSON.stringify(PERMISSIONS)]
  const insert = database.prepare(INSERT)
  database.exec('BEGIN')
  for (let i = 0; i < seats; i++)
    insert.run(TENANT, ulid(i + 1, randomBytes(16)), seatName(i), spaces, permissions, i + 1)
  database.exec('COMMIT')
  database.close()
  return `sqlite:${path}`
}
