/**
 * The contents of the store, by number: tenants, their Seats, and the Seats in use. The same number is the
 * same Seat in a store of any size.
 */

export const SEATS_EACH = 100
/** The permission of the requests' route; every Seat holds it. */
export const PERMISSION = 'trainings:list'

const RESOURCES = ['trainings', 'files', 'courses', 'reports', 'invoices', 'machines', 'people', 'sites']
const OPERATIONS = ['read', 'create', 'update', 'delete', 'approve', 'export']
const SPACES = 8

export interface Seat {
  readonly tenant: string
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
}

export function tenantId(tenant: number): string {
  return `tenant-${tenant}`
}

/** Two to four spaces, five to ten permissions. */
export function seatOf(tenant: number, seat: number): Seat {
  const turn = tenant + seat
  return {
    tenant: tenantId(tenant),
    name: `Role ${seat}`,
    spaces: Array.from({ length: 2 + (turn % 3) }, (_, i) => `site-${(seat + i) % SPACES}`),
    permissions: [PERMISSION, ...Array.from({ length: 4 + (turn % 6) }, (_, i) => permissionOf(turn + i))],
  }
}

function permissionOf(turn: number): string {
  const resource = RESOURCES[turn % RESOURCES.length]
  const operation = OPERATIONS[Math.floor(turn / RESOURCES.length) % OPERATIONS.length]
  return `${resource}:${operation}`
}

/** One Seat of a tenant is in use, at varying positions: a hundredth of all. */
export function usedSeatOf(tenant: number): Seat {
  return seatOf(tenant, (tenant * 37) % SEATS_EACH)
}

/** `count` of the tenants, spread over all. */
export function someTenants(tenants: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.floor((i * tenants) / count))
}

export function* allSeats(tenants: number): Generator<Seat> {
  for (let tenant = 0; tenant < tenants; tenant++) {
    for (let seat = 0; seat < SEATS_EACH; seat++) yield seatOf(tenant, seat)
  }
}
