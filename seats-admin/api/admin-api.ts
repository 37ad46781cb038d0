/** The Seat and API key endpoints. The gateway lists them in its route table and calls them once a request is decided. */

import { apiKeyEndpoints } from './api-keys.ts'
import type { AdminDeps, AdminEndpoint } from './endpoint.ts'
import { seatEndpoints } from './seats.ts'

export function createAdminApi(deps: AdminDeps): AdminEndpoint[] {
  return [...seatEndpoints(deps), ...apiKeyEndpoints(deps)]
}
