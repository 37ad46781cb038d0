/** Route tables of any size, in which one route can be opened and closed. */

import type { TableFiles } from '../../seats-admin/index.ts'
import { routeTable } from '../../test/support/configuration.ts'

/** The route that pushes change. */
export const GATE = '/gate'

/** Routes of one file, as of one service. */
const PER_FILE = 100

/** The statuses of requests without a credential. */
export const GATE_STATUS = { open: 200, closed: 401 } as const

/** @param routes of all files together, with the one that changes */
export function routeFiles(routes: number, isOpen: boolean): TableFiles {
  const gate = routeTable([`GET ${GATE}: ${isOpen ? 'public' : 'gate:read'}`])
  const files: Record<string, string> = { 'gate.yaml': gate }
  for (let first = 1; first < routes; first += PER_FILE) {
    const count = Math.min(PER_FILE, routes - first)
    const lines = Array.from(
      { length: count },
      (_, i) => `GET /v1/service-${first}/things-${i}/{id}: things:read`,
    )
    files[`service-${first}.yaml`] = routeTable(lines)
  }
  return files
}
