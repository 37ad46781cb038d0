/** What SCIM users and groups may be, and the refusals of their writes. */

import {
  MAX_SCIM_EMAIL,
  MAX_SCIM_KEY,
  MAX_SCIM_NAME,
  MAX_SCIM_RESOURCE,
  type ScimGroupInput,
  type ScimRefusal,
  type ScimUserInput,
} from '../model/scim.ts'
import type { AdminRefusal } from '../model/refusal.ts'
import { type Dialect, text } from './rows.ts'
import { isStorable } from './storable-text.ts'
import type { Transaction } from './transaction.ts'

export const scimNotFound: ScimRefusal = {
  refused: 'not_found',
  detail: 'No user or group of this tenant has the id.',
}

export const scimPreconditionFailed: ScimRefusal = {
  refused: 'precondition_failed',
  detail: 'If-Match names another version: it was changed since you read it.',
}

export const scimChanged: ScimRefusal = {
  refused: 'changed',
  detail: 'It was changed by another request at the same time.',
}

export function scimTaken(attribute: string): ScimRefusal {
  return { refused: 'uniqueness', detail: `Another one has this ${attribute}.` }
}

export function scimInvalid(detail: string): ScimRefusal {
  return { refused: 'invalid_value', detail }
}

/** @param value null: there is none */
function refuseText(attribute: string, value: string | null, most: number): ScimRefusal | null {
  if (value === null) return null
  if (value === '') return scimInvalid(`${attribute} is empty.`)
  if (value.length > most) return scimInvalid(`${attribute} has more than ${most} characters.`)
  return isStorable(value) ? null : scimInvalid(`${attribute} has characters that cannot be stored.`)
}

/** @returns null if the store can hold it */
export function refuseScimUser({
  userName,
  externalId,
  email,
  displayName,
  resource,
}: ScimUserInput): ScimRefusal | null {
  const isLarge = Buffer.byteLength(JSON.stringify(resource)) > MAX_SCIM_RESOURCE
  return (
    refuseText('userName', userName, MAX_SCIM_KEY) ??
    refuseText('externalId', externalId, MAX_SCIM_KEY) ??
    refuseText('The email address', email, MAX_SCIM_EMAIL) ??
    refuseText('displayName', displayName, MAX_SCIM_NAME) ??
    (isLarge ? scimInvalid(`The user has more than ${MAX_SCIM_RESOURCE} bytes.`) : null)
  )
}

export function refuseScimGroup({ displayName, externalId }: ScimGroupInput): ScimRefusal | null {
  return (
    refuseText('displayName', displayName, MAX_SCIM_NAME) ??
    refuseText('externalId', externalId, MAX_SCIM_KEY)
  )
}

/**
 * During an upgrade, an instance that does not understand changes of memberships would go on to accept what a
 * write takes away.
 */
export async function refuseOlderInstance(
  { instanceWithout }: Dialect,
  transaction: Transaction,
): Promise<ScimRefusal | null> {
  if (instanceWithout === null) return null
  const older = await transaction.get(instanceWithout, { understands: '"membership"' })
  if (older === undefined) return null
  return scimUnavailable(
    `The instance ${text(older, 'name')} has an older version, which knows no groups of SCIM. Replace it, and repeat: nothing was changed.`,
  )
}

/** To a provider, a deletion that finds nothing is one that was made. */
export function announcedIfMissing(refusal: ScimRefusal, { unchanged }: Transaction): ScimRefusal {
  return refusal.refused === 'not_found' ? { ...refusal, upTo: unchanged } : refusal
}

export function scimUnavailable(detail: string): ScimRefusal {
  return { refused: 'unavailable', detail }
}

/** The refusal of a block or a revocation as part of a write of SCIM: an instance has an older version. */
export function scimRefusal({ detail }: AdminRefusal): ScimRefusal {
  return scimUnavailable(detail)
}
