/** `/Groups`. */

import { inShares } from '../model/time-share.ts'
import {
  MAX_GROUP_MEMBERS,
  type ScimGroup,
  type ScimGroupStep,
  type ScimMember,
  shortSteps,
} from '../model/scim.ts'
import { GROUP_URN } from './scim-attributes.ts'
import {
  closeWrite,
  existing,
  listForm,
  metaOf,
  type ResourceEndpoints,
  type ResourceRequest,
  resourceResponse,
  type ScimResponse,
} from './scim-exchange.ts'
import { ScimFault } from './scim-fault.ts'
import { groupFilter } from './scim-filter.ts'
import { groupForm, readGroup, readGroupSteps } from './scim-groups.ts'
import { readOperations } from './scim-operations.ts'
import type { Projection } from './scim-projection.ts'
import { listQueryIn, projectionIn } from './scim-query.ts'

/** Members that are read at once. */
const PAGE = 1000

export const groupEndpoints: ResourceEndpoints = {
  async list(own) {
    const { deps, tenant, query } = own
    const listQuery = listQueryIn(query, GROUP_URN, groupFilter, {})
    if (listQuery instanceof ScimFault) return listQuery
    const { page, projection } = listQuery
    const { data, total } = await deps.store.listScimGroups(tenant.id, page)
    const groups = projection.has('members') ? ofBoundedMembers(data) : data
    const resources = []
    for (const group of groups) resources.push(await formOf(own, group, projection))
    return { status: 200, body: listForm(resources, total, page.startIndex) }
  },

  async create(own) {
    const { deps, query, body, writer } = own
    const projection = projectionIn(query, GROUP_URN)
    if (projection instanceof ScimFault) return projection
    const group = await inShares(readGroup(body))
    if (group instanceof ScimFault) return group
    const { displayName, externalId = null, members = [] } = group
    const write = deps.store.createScimGroup(writer, { displayName, externalId }, members)
    const written = await closeWrite(deps, write)
    return written instanceof ScimFault ? written : groupResponse(201, own, written.value, projection)
  },

  async read(own, id) {
    const { deps, tenant, query, ifNoneMatch } = own
    const projection = projectionIn(query, GROUP_URN)
    if (projection instanceof ScimFault) return projection
    const group = existing(await deps.store.readScimGroup(tenant.id, id), ifNoneMatch)
    return 'displayName' in group ? groupResponse(200, own, group, projection) : group
  },

  /**
   * Without `externalId` or `members`, these stay: a provider that only renames a group takes no rights away.
   */
  async replace(own, id) {
    const projection = projectionIn(own.query, GROUP_URN)
    if (projection instanceof ScimFault) return projection
    const group = await inShares(readGroup(own.body))
    if (group instanceof ScimFault) return group
    const { displayName, externalId, members } = group
    const set = externalId === undefined ? { displayName } : { displayName, externalId }
    const steps: ScimGroupStep[] = [{ set }, ...(members === undefined ? [] : [{ replace: members }])]
    const written = await change(own, id, steps)
    return written instanceof ScimFault ? written : groupResponse(200, own, written, projection)
  },

  /** Answers with the group only if the request says which attributes (RFC 7644, section 3.5.2). */
  async patch(own, id) {
    const projection = projectionIn(own.query, GROUP_URN)
    if (projection instanceof ScimFault) return projection
    const operations = await inShares(readOperations(own.body))
    const steps = operations instanceof ScimFault ? operations : await inShares(readGroupSteps(operations))
    if (steps instanceof ScimFault) return steps
    const written = await change(own, id, steps)
    if (written instanceof ScimFault) return written
    if (!projection.isWhole) return groupResponse(200, own, written, projection)
    return resourceResponse(204, metaOf(written, 'Group', own.tenant.base), null)
  },

  async delete({ deps, query, writer }, id) {
    const projection = projectionIn(query, GROUP_URN)
    if (projection instanceof ScimFault) return projection
    const written = await closeWrite(deps, deps.store.deleteScimGroup(writer, id))
    return written instanceof ScimFault ? written : { status: 204 }
  },
}

async function change(
  { deps, writer }: ResourceRequest,
  id: string,
  steps: readonly ScimGroupStep[],
): Promise<ScimGroup | ScimFault> {
  const written = await closeWrite(deps, deps.store.updateScimGroup(writer, id, shortSteps(steps)))
  return written instanceof ScimFault ? written : written.value
}

/**
 * The first groups, with as many members in all as one group may have. Of the rest, the provider asks by
 * `startIndex`: a list may be shorter than `count`.
 */
function ofBoundedMembers(groups: readonly ScimGroup[]): readonly ScimGroup[] {
  let members = 0
  const end = groups.findIndex(
    ({ memberCount }, at) => (members += memberCount) > MAX_GROUP_MEMBERS && at > 0,
  )
  return end < 0 ? groups : groups.slice(0, end)
}

async function groupResponse(
  status: number,
  own: Source,
  group: ScimGroup,
  projection: Projection,
): Promise<ScimResponse> {
  const meta = metaOf(group, 'Group', own.tenant.base)
  return resourceResponse(status, meta, await formOf(own, group, projection))
}

type Source = Pick<ResourceRequest, 'deps' | 'tenant'>

async function formOf({ deps, tenant }: Source, group: ScimGroup, projection: Projection) {
  const members = projection.has('members') ? await membersOf(deps.store, group) : undefined
  return projection.applied(groupForm(group, members, metaOf(group, 'Group', tenant.base)))
}

async function membersOf(
  store: ResourceRequest['deps']['store'],
  { tenant, id }: ScimGroup,
): Promise<ScimMember[]> {
  const members: ScimMember[] = []
  let after: string | null = null
  let hasMore = true
  while (hasMore) {
    const page = await store.listScimMembers(tenant, id, { limit: PAGE, after })
    for (const each of page.data) members.push(each)
    after = page.data.at(-1)?.id ?? null
    hasMore = page.hasMore && after !== null
  }
  return members
}
