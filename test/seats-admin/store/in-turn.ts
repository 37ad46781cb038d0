/** Stores that the tests of a file use in turn: opening one, with its threads or connections, costs more than most tests. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'

/** Stores on one database. */
export interface Database {
  readonly stores: readonly Store[]
  /** Runs a script on the tables. */
  run(script: string): Promise<void>
}

/**
 * Gives each test a database without content, and takes it back after the test.
 * @param open a new, empty one, which ends with `all`
 * @param emptying deletes the content of all tables but `counter`
 */
export function inTurn(
  all: Test,
  open: (t: Test) => Promise<Database & { readonly emptying: string }>,
): (t: Test) => Promise<Database & { readonly store: Store }> {
  const free: Awaited<ReturnType<typeof open>>[] = []
  return async (t) => {
    const database = free.pop() ?? (await open(all))
    const [store] = database.stores
    if (store === undefined) throw new Error('a database without a store')
    t.teardown(async () => {
      await database.run(`${database.emptying}; UPDATE counter SET seq = 0, id_time = 0, mark = 0`)
      // The test may have closed it.
      await store.changesSince(null).then(
        () => free.push(database),
        () => {},
      )
    })
    return { ...database, store }
  }
}
