/** Records who a user is in SCIM, for tenants in which a claim says so (`scim.user: {claim: NAME}`). */

import { isScimRefusal } from '../../../seats-admin/model/scim.ts'
import type { Refusal } from '../../model/errors.ts'
import { invalidToken } from './compact-jws.ts'
import type { Context } from '../context.ts'
import type { OidcTenant } from '../ports.ts'
import { providerAuthor } from '../session/end-session.ts'
import { blockedUser } from '../session/session-authentication.ts'

const noMember = invalidToken('The identity provider does not say who the user is in SCIM.')

/**
 * Records the key before the user gets a session or a token, so that a deactivation by SCIM finds both.
 * Rejects if the store is unavailable.
 *
 * @param member the key; null: the provider sent none, and no deactivation could reach the user
 * @returns a Refusal if SCIM has deactivated the user, or does not know who it is; null: the user may go on
 */
export async function recordMember(
  context: Context,
  tenant: OidcTenant,
  sub: string,
  member: string | null,
): Promise<Refusal | null> {
  if (tenant.scim?.user.mode !== 'claim') return null
  if (member === null) return noMember.of({ tenant: tenant.id, user: sub })
  const blocked = await context.seats.recordScimMember(providerAuthor(context, tenant), sub, member)
  if (blocked === null) return null
  if (isScimRefusal(blocked)) throw new Error(blocked.detail)
  await context.announce(blocked)
  return blockedUser.of({ tenant: tenant.id, user: sub })
}
