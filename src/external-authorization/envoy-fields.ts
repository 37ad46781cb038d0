/** What Envoy changes in an allowed request, beside the identity: the credentials that the gateway would not pass either. */

import { fieldName } from '../http/wire/field-name.ts'
import { withoutSession } from '../proxy/reserved-cookies.ts'
import type { MoreFields } from './http-question.ts'

const COOKIE = fieldName('cookie')

/** Envoy removes the fields that this one names from the request (`ext_authz`, HTTP service). */
const REMOVED = 'x-envoy-auth-headers-to-remove'

export const envoyFields: MoreFields = ({ section }, { evaluation }, upstream) => {
  const removed = ['x-api-key']
  const isPublic = evaluation?.decision.permission === 'public'
  if (isPublic || upstream?.passAuthorization !== true) removed.push('authorization')
  const cookies = section.fields.values(COOKIE).join('; ')
  const others = withoutSession(cookies)
  if (others === null) removed.push('cookie')
  const fields = [REMOVED, removed.join(', ')]
  if (others !== null && others !== cookies) fields.push('cookie', others)
  return fields
}
