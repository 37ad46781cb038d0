/**
 * The endpoints of administration. The gateway adds them to its routes and calls them after authorization.
 */

import { apiKeyEndpoints } from './api-key-endpoints.ts'
import { auditEndpoints } from './audit-endpoints.ts'
import { blockEndpoints } from './block-endpoints.ts'
import type { AdminDeps, AdminEndpoint } from './admin-endpoint.ts'
import { grantEndpoints } from './grant-endpoints.ts'
import { groupListingEndpoints } from './group-listing-endpoints.ts'
import { revocationEndpoints } from './revocation-endpoints.ts'
import { scimComparisonEndpoints } from './scim-comparison-endpoints.ts'
import { seatsFileEndpoints } from './seats-file-endpoints.ts'
import { seatEndpoints } from './seat-endpoints.ts'
import { sessionEndpoints } from './session-endpoints.ts'
import { userEndpoints } from './user-endpoints.ts'

export function createAdminApi(deps: AdminDeps): AdminEndpoint[] {
  return [
    ...seatEndpoints(deps),
    ...seatsFileEndpoints(deps),
    ...apiKeyEndpoints(deps),
    ...userEndpoints(deps),
    ...sessionEndpoints(deps),
    ...blockEndpoints(deps),
    ...grantEndpoints(deps),
    ...revocationEndpoints(deps),
    ...scimComparisonEndpoints(deps),
    ...groupListingEndpoints(deps),
    ...auditEndpoints(deps),
  ]
}
