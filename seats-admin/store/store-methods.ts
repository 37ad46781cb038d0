/** The store's methods on a database. */

import { adminReader } from './admin-reader.ts'
import { administrationReader } from './administration-reader.ts'
import { apiKeyWriter } from './api-key-writer.ts'
import { auditReader } from './audit-reader.ts'
import { blockWriter } from './block-writer.ts'
import { bootstrapWriter } from './bootstrap-writer.ts'
import type { Database } from './database.ts'
import { decisionReader } from './decision-reader.ts'
import { groupLister } from './group-listings.ts'
import { revocationReader } from './revocation-reader.ts'
import { revocationWriter } from './revocation-writer.ts'
import { integer } from './rows.ts'
import { seatGrantWriter } from './seat-grant-writer.ts'
import { scimComparisonReader } from './scim-comparison-reader.ts'
import { scimGroupWriter } from './scim-group-writer.ts'
import { scimReader } from './scim-reader.ts'
import { scimUserWriter } from './scim-user-writer.ts'
import { seatWriter } from './seat-writer.ts'
import { seatsFileReader } from './seats-file-reader.ts'
import { seatsFileWriter } from './seats-file-writer.ts'
import { sessionWriter } from './session-writer.ts'
import { signInWriter } from './sign-in-writer.ts'
import type { Store } from './store.ts'
import { tablesReader } from './tables-reader.ts'
import { tablesWriter } from './tables-writer.ts'

export type StoreMethods = Omit<Store, 'registry' | 'ownership' | 'health' | 'close'>

export function methodsOf(database: Database): StoreMethods {
  const { readSession, ...decisions } = decisionReader(database)
  const { endSession, ...sessions } = sessionWriter(database)
  const { dialect, reads } = database
  return {
    ...decisions,
    ...adminReader(database),
    ...administrationReader(database),
    ...seatWriter(database),
    ...seatsFileReader(database),
    ...seatsFileWriter(database),
    ...apiKeyWriter(database),
    ...blockWriter(database),
    ...seatGrantWriter(database),
    ...revocationReader(database),
    ...revocationWriter(database),
    ...signInWriter(database),
    ...scimReader(database),
    ...scimComparisonReader(database),
    ...groupLister(database),
    ...scimUserWriter(database),
    ...scimGroupWriter(database),
    ...bootstrapWriter(database),
    ...tablesReader(database),
    ...tablesWriter(database),
    endSession,
    sessions: { readSession, ...sessions },
    audit: auditReader(database),
    clock: async () => integer((await reads.get(`SELECT ${dialect.clock} AS now`, {})) ?? {}, 'now'),
  }
}
