/** What a receipt says: the answer to a revocation, with its issuer, tenant and audit entry. */

import { checker, isRefusal } from '../../../seats-admin/index.ts'
import {
  count,
  flag,
  list,
  object,
  oneOf,
  orNull,
  text,
  type ValueOf,
} from '../../../seats-admin/model/json-schema.ts'
import { BLOCK_ORIGINS } from '../../../seats-admin/model/block.ts'
import { ULID } from '../../../seats-admin/model/ulid.ts'
import type { RevocationSubject } from '../../../seats-admin/model/revocation.ts'
import type { ReceiptClaims, ReceiptFault } from '../../identity/receipt.ts'
import { placeInWords } from '../remote/problem-text.ts'

const moment = text('A moment.', { format: 'moment' })

const instance = object({
  id: text('Its id.'),
  name: text('Its host and pid.'),
  how: oneOf(['acknowledged', 'lease_ended'], 'How it was reached.'),
  ms: { ...count('Milliseconds until then.'), type: 'number' },
  cut: orNull(count('What it has cut.')),
})

const claims = object(
  {
    iss: text('The issuer: identity.issuer of the configuration.'),
    tenant: text('The tenant of the subject.'),
    id: text('The id of the revocation.', { pattern: ULID.source }),
    seq: count('The number of its last change.'),
    at: moment,
    subject: object({}),
    what: oneOf(['existing', 'all', 'tokens'], 'Whether the user is blocked too, or only tokens are void.'),
    reason: orNull(text('The reason.')),
    state: oneOf(['closed', 'partial'], 'Whether everything was cut.'),
    ended: object({
      sessions: count('Sessions.'),
      api_keys: count('API keys.'),
      websockets: count('WebSockets.'),
      streams: count('Streams.'),
      requests: count('Requests.'),
    }),
    instances: list(instance, 'The gateways.'),
    not_covered: list(object({ what: text('What was not reached.') }, { until: moment }), 'What stays.'),
    audit: object({ seq: count('The number of the audit entry.'), hash: text('Its hash.') }),
  },
  {
    origin: oneOf(BLOCK_ORIGINS, 'The origin of the block; admin if it is absent.'),
    until: moment,
    api_keys: flag('Whether API keys of the tenant were revoked.'),
    kept: list(object({ api_key: text('The id of the API key.') }), 'The API key that asked.'),
  },
)

const check = checker(claims)

export type RevocationClaims = Omit<ValueOf<typeof claims>, 'subject'> & {
  readonly subject: RevocationSubject
}

/** The claims of a receipt, or a fault if they describe no revocation. The caller verifies the signature. */
export function revocationClaims(unchecked: ReceiptClaims): RevocationClaims | ReceiptFault {
  const checked = check(unchecked)
  if (isRefusal(checked)) {
    const [{ path, message } = { path: '', message: 'are not' }] = checked.faults ?? []
    return { fault: `it is not of a revocation: ${placeInWords(path) || 'its claims'} ${message}` }
  }
  const subject = subjectOf(checked.subject)
  return subject === null ? { fault: 'it names no subject that can be revoked' } : { ...checked, subject }
}

function subjectOf(value: object): RevocationSubject | null {
  const [[kind, name] = [], ...more] = Object.entries(value)
  if (more.length > 0) return null
  if (kind === 'tenant') return name === true ? { tenant: true } : null
  if (typeof name !== 'string' || name === '') return null
  if (kind === 'user') return { user: name }
  if (kind === 'api_key') return { api_key: name }
  if (kind === 'session') return { session: name }
  return kind === 'issuer' ? { issuer: name } : null
}
