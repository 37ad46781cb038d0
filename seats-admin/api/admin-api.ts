/** The endpoints of administration. The gateway adds them to its routes and calls them after authorization. */

import { apiKeyEndpoints } from './api-keys.ts'
import { auditEndpoints } from './audit.ts'
import { blockEndpoints } from './blocks.ts'
import type { AdminDeps, AdminEndpoint } from './endpoint.ts'
import { seatsFileEndpoints } from './seats-file.ts'
import { seatEndpoints } from './seats.ts'
import { sessionEndpoints } from './sessions.ts'
import { userEndpoints } from './users.ts'

export function createAdminApi(deps: AdminDeps): AdminEndpoint[] {
  return [
    ...seatEndpoints(deps),
    ...seatsFileEndpoints(deps),
    ...apiKeyEndpoints(deps),
    ...userEndpoints(deps),
    ...sessionEndpoints(deps),
    ...blockEndpoints(deps),
    ...auditEndpoints(deps),
  ]
}
