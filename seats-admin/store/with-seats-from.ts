/** The store for callers who know the configuration of tenants. */

import type { SeatsFrom } from '../model/seats-from.ts'
import type { Store } from './store.ts'

/**
 * The store, which answers questions about users and the Seats that they have by what gives the users of the
 * tenant their Seats.
 *
 * @param seatsFrom of a tenant by its id
 */
export function withSeatsFrom(store: Store, seatsFrom: (tenant: string) => SeatsFrom): Store {
  return {
    ...store,
    readUser: (tenant, sub, scope) => store.readUser(tenant, sub, scope, seatsFrom(tenant)),
    listUsers: (tenant, page) => store.listUsers(tenant, { ...page, seatsFrom: seatsFrom(tenant) }),
    listSeats: (tenant, page) => store.listSeats(tenant, { ...page, seatsFrom: seatsFrom(tenant) }),
    planSeats: (reader, wanted) =>
      store.planSeats({ ...reader, seatsFrom: seatsFrom(reader.tenant) }, wanted),
    seatHolders: (reader, id) => store.seatHolders({ ...reader, seatsFrom: seatsFrom(reader.tenant) }, id),
    isAdministered: (tenant, administration) =>
      store.isAdministered(tenant, { ...administration, seatsFrom: seatsFrom(tenant) }),
  }
}
