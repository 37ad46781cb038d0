/** `/v1/seats`. The rules of writes, `If-Match` among them, are in `store/seat-rules.ts`. */

import { seatTag } from '../model/entity-tag.ts'
import { list, strictObject, text, textItem } from '../model/json-schema.ts'
import { isRefusal } from '../model/refusal.ts'
import type { SeatLists } from '../model/seat.ts'
import {
  type AdminDeps,
  type AdminEndpoint,
  type Caller,
  endpoint,
  noContent,
  respondToWrite,
  tagged,
  writerOf,
} from './admin-endpoint.ts'
import { ID, PAGE, pageOf } from './parameters.ts'
import { checker } from './validate-body.ts'
import { countsExactly } from '../model/seats-from.ts'
import { createdSeat, listedSeat, listing, seat, updatedSeat } from './views.ts'
import { heldSeat, unaskedPermissions, type Warning, warned } from './warnings.ts'

/** Both are in memory as sets while the Seat is in use, and each read of the Seat transfers them. */
const MAX_SPACES = 10_000
const MAX_PERMISSIONS = 10_000

export const fieldsOfSeat = {
  name: text('Unique in the tenant.', { format: 'name', examples: ['Viewer'] }),
  spaces: list(
    textItem({ format: 'space', examples: ['main'] }),
    'The spaces in which the permissions are granted.',
    {
      maxItems: MAX_SPACES,
    },
  ),
  permissions: list(
    textItem({ format: 'permission', examples: ['trainings:list'] }),
    'The permissions that the Seat grants in each of its spaces.',
    { maxItems: MAX_PERMISSIONS },
  ),
}

export const seatBody = checker(strictObject(fieldsOfSeat))
/** Any subset of a Seat's fields, also the empty one. */
export const seatPatchBody = checker(strictObject({}, fieldsOfSeat))

const params = { seat_id: text('The id of the Seat.', ID) }
const seats = listing(listedSeat)

export function seatEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [createSeat, listSeats, readSeat, updateSeat, deleteSeat].map((each) => each(deps))
}

function createSeat(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'POST',
    path: '/v1/seats',
    permission: 'seats:create',
    operation: 'createSeat',
    summary: 'Creates a Seat.',
    details:
      'Once it has been answered, every instance decides with the Seat. The caller must hold the permissions that the Seat grants, in each of its spaces.',
    body: seatBody,
    answers: { 200: createdSeat.schema },
    tagged: true,
    codes: ['grant_exceeds_own', 'seat_name_taken'],
    async handle({ body, caller }) {
      const warnings = await unaskedPermissions([['/permissions', body.permissions]], deps.routePermissions())
      const write = deps.store.createSeat(writerOf(caller, deps), body)
      return respondToWrite(write, deps, async (made, written) =>
        tagged(seatTag(made), await warned(createdSeat(made), caller, deps, written, warnings)),
      )
    },
  })
}

function listSeats(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/seats',
    permission: 'seats:list',
    operation: 'listSeats',
    summary: 'Lists the Seats that the caller may see.',
    details:
      'In order of creation. Outside the admin space, only Seats whose spaces are all the space of the request are listed.',
    query: PAGE,
    answers: { 200: seats.schema },
    codes: [],
    async handle({ query, caller: { tenant, scope } }) {
      const page = await deps.store.listSeats(tenant, { ...pageOf(query), scope })
      const exact = countsExactly(deps.seatsFrom?.(tenant) ?? null)
      const data = page.data.map((seat) => ({ seat, exact }))
      return { status: 200, body: seats({ ...page, data }) }
    },
  })
}

function readSeat(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/seats/{seat_id}',
    permission: 'seats:read',
    operation: 'readSeat',
    summary: 'Reads a Seat.',
    details: 'The ETag names the version of the Seat, which If-Match of a change takes.',
    params,
    answers: { 200: seat.schema },
    tagged: true,
    codes: ['seat_not_found'],
    async handle({ params: { seat_id }, caller: { tenant, scope } }) {
      const stored = await deps.store.readSeat(tenant, seat_id, scope)
      return isRefusal(stored) ? stored : tagged(seatTag(stored), seat(stored))
    },
  })
}

function updateSeat(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'PUT',
    path: '/v1/seats/{seat_id}',
    permission: 'seats:update',
    operation: 'updateSeat',
    summary: 'Changes the given fields of a Seat.',
    details:
      'Fields that the body lacks stay as they are. Once it has been answered, no instance decides on the former Seat.',
    params,
    body: seatPatchBody,
    answers: { 200: updatedSeat.schema },
    tagged: true,
    conditional: true,
    codes: ['grant_exceeds_own', 'seat_not_found', 'seat_name_taken', 'last_administrator'],
    async handle({ params: { seat_id }, body, ifMatch, caller }) {
      const unasked = await unaskedPermissions(
        [['/permissions', body.permissions ?? []]],
        deps.routePermissions(),
      )
      const warnings = [...unasked, ...(await heldWarnings(deps, seat_id, body, caller))]
      const write = deps.store.updateSeat(writerOf(caller, deps, ifMatch), seat_id, body)
      return respondToWrite(write, deps, async (updated, written) =>
        tagged(seatTag(updated), await warned(updatedSeat(updated), caller, deps, written, warnings)),
      )
    },
  })
}

function deleteSeat(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'DELETE',
    path: '/v1/seats/{seat_id}',
    permission: 'seats:delete',
    operation: 'deleteSeat',
    summary: 'Deletes a Seat.',
    details:
      'Users and API keys that hold the Seat lose what it grants, on every instance, once it has been answered.',
    params,
    answers: { 204: null },
    conditional: true,
    codes: ['grant_exceeds_own', 'seat_not_found', 'last_administrator'],
    async handle({ params: { seat_id }, ifMatch, caller }) {
      const write = deps.store.deleteSeat(writerOf(caller, deps, ifMatch), seat_id)
      return respondToWrite(write, deps, noContent)
    },
  })
}

/** Only where the body empties the Seat: others take no further read. */
async function heldWarnings(
  { store, now }: AdminDeps,
  id: string,
  { spaces, permissions }: Partial<SeatLists>,
  { tenant, scope }: Caller,
): Promise<Warning[]> {
  const field = permissions?.length === 0 ? 'permissions' : spaces?.length === 0 ? 'spaces' : null
  if (field === null) return []
  const { users, keys } = await store.seatHolders({ tenant, scope, now: now() }, id)
  return heldSeat(field, users, keys)
}
