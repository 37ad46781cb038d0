/** The Seat and API key endpoints. The gateway adds them to its routes and calls them after authorization. */

import { apiKeyEndpoints } from './api-keys.ts'
import type { AdminDeps, AdminEndpoint } from './endpoint.ts'
import { seatEndpoints } from './seats.ts'

export function createAdminApi(deps: AdminDeps): AdminEndpoint[] {
  return [...seatEndpoints(deps), ...apiKeyEndpoints(deps)]
}
