/**
 * What Envoy changes in the header fields of a request that it may forward: as forwarding by the gateway
 * itself does.
 */

import type { UpstreamConfig } from '../../config/config.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import type { FieldTable } from '../../http/wire/field-table.ts'
import type { Decision } from '../../model/decision.ts'
import { OWN_CREDENTIAL_FIELDS } from '../../model/principal.ts'
import { foldName } from '../../proxy/header-rules.ts'
import { wholeIdentity } from '../../proxy/identity-headers.ts'
import { requestHeaderRules } from '../../proxy/request-header-rules.ts'
import { withoutSession } from '../../proxy/reserved-cookies.ts'
import type { Changes } from './check-response.ts'

/** What the request is forwarded with. */
export interface Forwarding {
  /** The upstream of the route; null if it has none, so that no credential of the client passes. */
  readonly upstream: UpstreamConfig | null
  /** Name and value of the signed identity; empty: identity is not signed. */
  readonly signed: readonly string[]
}

export function changesOf(
  { request }: Exchange,
  decision: Decision,
  { upstream, signed }: Forwarding,
): Changes {
  const { fields } = request.section
  const passesAuthorization = upstream?.passAuthorization === true && decision.permission !== 'public'
  const set = [...wholeIdentity(decision), ...signed]
  // Envoy may have kept fields from the question: it removes these in any case.
  const remove = new Set(OWN_CREDENTIAL_FIELDS)
  if (!passesAuthorization) remove.add('authorization')
  const signedName = foldName(signed[0] ?? '')
  for (let i = 0; i < fields.count; i++)
    if (isRemoved(fields, i, upstream?.passOverrides === true) || foldName(fields.name(i)) === signedName)
      remove.add(fields.name(i).toLowerCase())
  // Envoy removes after it sets.
  for (let i = 0; i < set.length; i += 2) remove.delete(set[i] ?? '')
  addCookies(fields, set, remove)
  return { set, remove: [...remove] }
}

/**
 * The names to remove, besides other spellings. Envoy itself writes the exact names of the others, such as
 * the fields of a connection.
 */
const REMOVED = /^(?:x-seatgate.*|proxy|proxy-authorization)$/

function isRemoved(fields: FieldTable, i: number, passesOverrides: boolean): boolean {
  const treatment = requestHeaderRules.treatment(fields, i)
  if (treatment === 'override') return !passesOverrides
  if (treatment !== 'drop') return false
  return fields.isOdd(i) || REMOVED.test(foldName(fields.name(i)))
}

/** The cookies without those of the gateway, as one field. */
function addCookies(fields: FieldTable, set: string[], remove: Set<string>): void {
  const lines: string[] = []
  let isChanged = false
  for (let i = 0; i < fields.count; i++) {
    if (requestHeaderRules.treatment(fields, i) !== 'cookie') continue
    const others = withoutSession(fields.value(i))
    if (others !== null) lines.push(others)
    isChanged ||= others !== fields.value(i)
  }
  if (!isChanged) return
  if (lines.length === 0) remove.add('cookie')
  else set.push('cookie', lines.join('; '))
}
