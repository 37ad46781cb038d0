/** Who a credential is, and whether it can do anything. */

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
  await tried(callOnce('GET', '/v1/seats', FIRST, { key, space }))
  const { admin_space: adminSpace, tenant: ownTenant, user, email } = me
  return { by: key === '' ? 'session' : 'key', space, adminSpace, tenant: ownTenant, user, email }
}

const FIRST = { query: { limit: '1' } }

/** Rejects with a Refused where the user can do nothing. @param {string} space */
export function trySpace(space) {
  return tried(call('GET', '/v1/seats', { ...FIRST, space }))
}

/** @param {Promise<unknown>} reading of Seats */
async function tried(reading) {
  await reading.catch((cause) => {
    if (refusalOf(cause).code !== 'permission_denied') throw cause
  })
}
