/** Who a credential is, and whether it can do anything. */

import { signedIn } from './credentials.js'
import { call, callOnce, callSignIn, otherSession } from './gateway-calls.js'
import { refusalOf } from './loading.js'

/**
 * Asks who the credential is, and whether it can do anything in the space: by the first Seat. Callers without
 * the right to list Seats are signed in too.
 *
 * @param {string} key '' for the session cookie
 * @param {string} wanted '' for the admin space of the tenant
 * @param {import('./credentials.js').Remembered} [before] the space is one of its tenant
 * @returns {Promise<import('./credentials.js').SignedIn>} rejects with a Refused, also where a reload would
 *   continue in another tenant
 */
export async function identified(key, wanted, before) {
  const me = await callSignIn('GET', '/auth/oidc/me', undefined, key)
  const isOther = before !== undefined && before.tenant !== me.tenant
  if (isOther && before.isOfTab) throw otherSession(me)
  const space = wanted === '' || isOther ? me.admin_space : wanted
  const { admin_space: adminSpace, tenant: ownTenant, user, email } = me
  const by = { key, space }
  const isAdmin = space === adminSpace
  const [readsGroups, readsTables] = await Promise.all([
    isAdmin && mayRead(callOnce('GET', '/v1/scim/groups', FIRST, by), NO_GROUPS),
    isAdmin && mayRead(callOnce('GET', '/v1/tables', FIRST, by), NO_TABLES),
    mayRead(callOnce('GET', '/v1/seats', FIRST, by)),
  ])
  return {
    ...{ by: key === '' ? 'session' : 'key', space, adminSpace, tenant: ownTenant, user, email },
    ...{ byGroups: me.seats_from === 'scim', readsGroups, readsTables },
  }
}

const FIRST = { query: { limit: '1' } }

/**
 * @param {string} space
 * @returns {Promise<import('./credentials.js').Reads>} rejects with a Refused where the user can do nothing
 */
export async function trySpace(space) {
  const options = { ...FIRST, space }
  const isAdmin = space === signedIn.value?.adminSpace
  const [readsGroups, readsTables] = await Promise.all([
    isAdmin && mayRead(call('GET', '/v1/scim/groups', options), NO_GROUPS),
    isAdmin && mayRead(call('GET', '/v1/tables', options), NO_TABLES),
    mayRead(call('GET', '/v1/seats', options)),
  ])
  return { readsGroups, readsTables }
}

/** The codes for a tenant without SCIM, and from a gateway of an older version. */
const NO_GROUPS = ['scim_not_configured', 'route_not_found']

/** The codes from a gateway whose tables are in files, and from one of an older version. */
const NO_TABLES = ['tables_in_files', 'route_not_found']

/**
 * @param {Promise<unknown>} reading
 * @param {readonly string[]} [missing] codes of a refusal that there is nothing to read
 * @returns {Promise<boolean>} rejects with a Refused where the user can do nothing
 */
async function mayRead(reading, missing = []) {
  try {
    await reading
    return true
  } catch (cause) {
    if (!['permission_denied', ...missing].includes(refusalOf(cause).code)) throw cause
    return false
  }
}
