/** Reads of revocations. */

import type { Database } from './database.ts'
import { revocationReads, storedRevocation, subjectValues } from './revocation-queries.ts'
import type { RevocationStore } from './revocation-store.ts'
import { storableOrEmpty } from './storable-text.ts'

/** Greater than any id. */
const NEWEST = 'a'

export function revocationReader({ dialect, lists }: Database) {
  const queries = revocationReads(dialect)
  return {
    async revocationById(tenant, id) {
      const row = await lists.get(queries.revocation, { tenant, id: storableOrEmpty(id) })
      return row === undefined ? null : storedRevocation(row)
    },

    async listRevocations(tenant, { limit, after, subject }) {
      const values = { tenant, before: storableOrEmpty(after ?? NEWEST), limit, rows: limit + 1 }
      const { rows, hasMore } =
        subject === null
          ? await lists.page(queries.revocations, values, limit)
          : await lists.page(queries.revocationsOf, { ...values, ...subjectValues(subject) }, limit)
      return { data: rows.map(storedRevocation), hasMore }
    },
  } satisfies Partial<RevocationStore>
}
