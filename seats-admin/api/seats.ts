/** `/v1/seats`. */

import { isRefusal } from '../model/refusal.ts'
import { type AdminDeps, type AdminEndpoint, respondToWrite, noContent, writerOf } from './endpoint.ts'
import { readSeatInput, readSeatPatch } from './input.ts'
import { readPage } from './page.ts'
import { createdSeat, listedSeat, listing, seat } from './views.ts'

export function seatEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    {
      method: 'POST',
      path: '/v1/seats',
      permission: 'seats:create',
      async handle({ body, caller }) {
        const input = readSeatInput(body)
        if (isRefusal(input)) return input
        const write = deps.store.createSeat(writerOf(caller, deps), input)
        return respondToWrite(write, deps, (made) => ({ status: 200, body: createdSeat(made) }))
      },
    },
    {
      method: 'GET',
      path: '/v1/seats',
      permission: 'seats:list',
      async handle({ query, caller: { tenant, scope } }) {
        const page = readPage(query)
        if (isRefusal(page)) return page
        const found = await deps.store.listSeats(tenant, { ...page, scope })
        return { status: 200, body: listing(found, listedSeat) }
      },
    },
    {
      method: 'GET',
      path: '/v1/seats/{seat_id}',
      permission: 'seats:read',
      async handle({ params, caller: { tenant, scope } }) {
        const found = await deps.store.readSeat(tenant, params.seat_id ?? '', scope)
        return isRefusal(found) ? found : { status: 200, body: seat(found) }
      },
    },
    {
      method: 'PUT',
      path: '/v1/seats/{seat_id}',
      permission: 'seats:update',
      async handle({ params, body, caller }) {
        const patch = readSeatPatch(body)
        if (isRefusal(patch)) return patch
        const write = deps.store.updateSeat(writerOf(caller, deps), params.seat_id ?? '', patch)
        return respondToWrite(write, deps, (updated) => ({ status: 200, body: seat(updated) }))
      },
    },
    {
      method: 'DELETE',
      path: '/v1/seats/{seat_id}',
      permission: 'seats:delete',
      async handle({ params, caller }) {
        return respondToWrite(
          deps.store.deleteSeat(writerOf(caller, deps), params.seat_id ?? ''),
          deps,
          noContent,
        )
      },
    },
  ]
}
