/** Asks for administrators in the transaction of a write. Runs in the writer's thread. */

import type { DatabaseSync } from 'node:sqlite'
import type { KeyAdministration } from '../../model/administration.ts'
import { administrationQueries, unchangedAdministrationValues } from '../administration.ts'
import type { Writer } from '../store.ts'
import { sqlite } from './dialect.ts'

const { administratingKey } = administrationQueries(sqlite)

/** @returns the question, which takes the ids of the Seats that the write changes */
export function keyAdministration(database: DatabaseSync) {
  const statement = database.prepare(administratingKey)
  return (writer: Writer, changed: readonly string[] = []): KeyAdministration => ({
    keyAdministers: statement.get(unchangedAdministrationValues(writer, changed)) !== undefined,
  })
}
