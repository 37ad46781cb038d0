/** Where memory reads its records from. */

import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { GrantsReading, UserGrantsReading } from '../../../seats-admin/model/grant.ts'
import type { GrantReading, Named, SpacesReading } from '../../../seats-admin/model/readings.ts'
import type { RestrictionsReading, UserRestrictionReading } from '../../../seats-admin/model/revocation.ts'
import type { MembershipReading, ScimMode } from '../../../seats-admin/model/scim.ts'
import type { SeatLists } from '../../../seats-admin/model/seat.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import type { SeatQuestion } from '../../model/decision-seat.ts'
import { memberOf } from '../../model/membership.ts'
import type { AsOf } from './read-through.ts'

/** The reads that memory sends to the store. */
export interface SeatSource {
  grantByName(tenant: string, name: string, question: SeatQuestion): Promise<AsOf<Named<GrantReading>>>
  grantById(tenant: string, id: string, question: SeatQuestion): Promise<AsOf<GrantReading | null>>
  spacesByName(tenant: string, name: string): Promise<AsOf<SpacesReading | null>>
  seatById(tenant: string, id: string): Promise<AsOf<SeatLists | null>>
  apiKeyById(tenant: string, id: string): Promise<AsOf<StoredApiKey | null>>
}

/**
 * Read from the store directly. Each session belongs to one browser and each membership to one user, so a
 * shared cache would rarely hit; the restrictions and the grants of a tenant are read once and kept.
 */
export interface DirectSource {
  readSession(tenant: string, id: string): Promise<AsOf<SessionRecord | null>>
  /** @param member the id of a membership */
  groups(tenant: string, member: string): Promise<AsOf<MembershipReading>>
  grants(tenant: string): Promise<AsOf<GrantsReading>>
  userGrants(tenant: string, user: string): Promise<AsOf<UserGrantsReading>>
  restrictions(tenant: string): Promise<AsOf<RestrictionsReading>>
  userRestriction(tenant: string, user: string): Promise<AsOf<UserRestrictionReading>>
}

/** What {@link directSource} reads of the store of a gateway. */
interface ReadStore extends Omit<DirectSource, 'readSession' | 'groups'> {
  membership(tenant: string, mode: ScimMode, key: string): Promise<AsOf<MembershipReading>>
  readonly sessions: Pick<DirectSource, 'readSession'>
}

export function directSource(store: ReadStore): DirectSource {
  return {
    readSession: (tenant, id) => store.sessions.readSession(tenant, id),
    groups(tenant, member) {
      const { attribute, key } = memberOf(member)
      return store.membership(tenant, attribute, key)
    },
    grants: (tenant) => store.grants(tenant),
    userGrants: (tenant, user) => store.userGrants(tenant, user),
    restrictions: (tenant) => store.restrictions(tenant),
    userRestriction: (tenant, user) => store.userRestriction(tenant, user),
  }
}
