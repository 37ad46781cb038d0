/** `/Users`. */

import { inShares } from '../model/time-share.ts'
import { scimTag } from '../model/entity-tag.ts'
import { type ScimUser, type ScimUserInput } from '../model/scim.ts'
import { editScimUser } from '../store/scim-edit.ts'
import { USER_URN } from './scim-attributes.ts'
import {
  closeWrite,
  existing,
  listForm,
  metaOf,
  type ResourceEndpoints,
  resourceResponse,
  type ResourceRequest,
  type ScimResponse,
} from './scim-exchange.ts'
import { ScimFault } from './scim-fault.ts'
import { userFilter } from './scim-filter.ts'
import { readOperations } from './scim-operations.ts'
import type { Projection } from './scim-projection.ts'
import { listQueryIn, projectionIn } from './scim-query.ts'
import { patchUser } from './scim-user-patch.ts'
import { readUser, userAttributes, userForm, userInput } from './scim-users.ts'
import { clears } from './scim-values.ts'

/** Two, and more if the user is made active in between. */
const DELETION_STEPS = 6
const busy = new ScimFault(503, null, 'Other requests change this user all the time.')

export const userEndpoints: ResourceEndpoints = {
  async list({ deps: { store }, tenant, query }) {
    const listQuery = listQueryIn(query, USER_URN, userFilter, {})
    if (listQuery instanceof ScimFault) return listQuery
    const { data, total } = await store.listScimUsers(tenant.id, listQuery.page)
    const resources = data.map((user) =>
      listQuery.projection.applied(userForm(user, metaOf(user, 'User', tenant.base))),
    )
    return { status: 200, body: listForm(resources, total, listQuery.page.startIndex) }
  },

  async create({ deps, tenant, query, body, writer }) {
    const projection = projectionIn(query, USER_URN)
    if (projection instanceof ScimFault) return projection
    const attributes = readUser(body)
    const input = attributes instanceof ScimFault ? attributes : userInput(attributes)
    if (input instanceof ScimFault) return input
    const written = await closeWrite(deps, deps.store.createScimUser(writer, tenant.mode, input))
    return written instanceof ScimFault ? written : userResponse(201, written.value, tenant.base, projection)
  },

  async read({ deps, tenant, query, ifNoneMatch }, id) {
    const projection = projectionIn(query, USER_URN)
    if (projection instanceof ScimFault) return projection
    const user = existing(await deps.store.readScimUser(tenant.id, id), ifNoneMatch)
    return 'userName' in user ? userResponse(200, user, tenant.base, projection) : user
  },

  /**
   * What the body does not name has no value afterwards, except what rights depend on: without `active`, the
   * user stays active or not, and without `externalId`, the same caller.
   */
  async replace(request, id) {
    const attributes = readUser(request.body)
    if (attributes instanceof ScimFault) return attributes
    const clearsId = clears(request.body, 'externalId')
    return change(request, id, ({ active, externalId }) =>
      userInput({ active, ...(externalId === null || clearsId ? {} : { externalId }), ...attributes }),
    )
  },

  async patch(request, id) {
    const operations = await inShares(readOperations(request.body))
    if (operations instanceof ScimFault) return operations
    return change(request, id, async (user) => {
      const attributes = await inShares(patchUser(userAttributes(user), operations))
      return attributes instanceof ScimFault ? attributes : userInput(attributes)
    })
  },

  /** Deactivates the user, and deletes it once each instance has cut what was open. */
  async delete({ deps, tenant, query, writer }, id) {
    const projection = projectionIn(query, USER_URN)
    if (projection instanceof ScimFault) return projection
    for (let step = 0, { ifMatch = null } = writer; step < DELETION_STEPS; step++) {
      const write = deps.store.deleteScimUser({ ...writer, ifMatch }, tenant.mode, id)
      const written = await closeWrite<ScimUser | null>(deps, write)
      if (written instanceof ScimFault) return written
      if (written.value === null) return { status: 204 }
      if (ifMatch !== null) ifMatch = [scimTag(written.value)]
    }
    return busy
  },
}

async function change(
  { deps, tenant, query, writer }: ResourceRequest,
  id: string,
  edit: (user: ScimUser) => ScimUserInput | ScimFault | Promise<ScimUserInput | ScimFault>,
): Promise<ScimResponse | ScimFault> {
  const projection = projectionIn(query, USER_URN)
  if (projection instanceof ScimFault) return projection
  const written = await closeWrite(deps, editScimUser(deps.store, writer, { mode: tenant.mode, id }, edit))
  return written instanceof ScimFault ? written : userResponse(200, written.value, tenant.base, projection)
}

function userResponse(status: number, user: ScimUser, base: string, projection: Projection): ScimResponse {
  const meta = metaOf(user, 'User', base)
  return resourceResponse(status, meta, projection.applied(userForm(user, meta)))
}
