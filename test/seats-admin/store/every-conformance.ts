/** Requirements of every store driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { administrationConformance } from './administration-conformance.ts'
import { apiKeyConformance } from './api-key-conformance.ts'
import { auditStatesConformance } from './audit-states-conformance.ts'
import { auditConformance } from './audit-conformance.ts'
import { blockConformance } from './block-conformance.ts'
import { changeConformance } from './change-conformance.ts'
import { grantConformance } from './grant-conformance.ts'
import { pageConformance } from './page-conformance.ts'
import { providerRequestConformance } from './provider-request-conformance.ts'
import { receiptConformance } from './receipt-conformance.ts'
import { registryConformance } from './registry-conformance.ts'
import { revocationConformance } from './revocation-conformance.ts'
import { rightConformance } from './right-conformance.ts'
import { seatGrantConformance } from './seat-grant-conformance.ts'
import { scimBlockConformance } from './scim-block-conformance.ts'
import { scimGrantConformance } from './scim-grant-conformance.ts'
import { scimGroupConformance } from './scim-group-conformance.ts'
import { scimSeatsConformance } from './scim-seats-conformance.ts'
import { scimUserConformance } from './scim-user-conformance.ts'
import { seatConformance } from './seat-conformance.ts'
import { seatsFileConformance } from './seats-file-conformance.ts'
import { sessionAuditConformance } from './session-audit-conformance.ts'
import { tablesConformance } from './tables-conformance.ts'
import { userConformance } from './user-conformance.ts'
import { versionConformance } from './version-conformance.ts'

/** @param openStore gives each test an empty store */
export function conforms(t: Test, openStore: (t: Test) => Promise<Store>): void {
  for (const suite of [
    seatConformance,
    changeConformance,
    apiKeyConformance,
    rightConformance,
    pageConformance,
    grantConformance,
    registryConformance,
    blockConformance,
    seatGrantConformance,
    revocationConformance,
    receiptConformance,
    providerRequestConformance,
    versionConformance,
    seatsFileConformance,
    userConformance,
    auditConformance,
    auditStatesConformance,
    sessionAuditConformance,
    administrationConformance,
    scimUserConformance,
    scimGroupConformance,
    scimBlockConformance,
    scimGrantConformance,
    scimSeatsConformance,
    tablesConformance,
  ])
    suite(t, openStore)
}
