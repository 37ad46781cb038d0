/** Users as SCIM shows them, and as the store keeps them. */

import type { Json, JsonObject } from '../model/canonical-json.ts'
import type { ScimUser, ScimUserInput } from '../model/scim.ts'
import { ENTERPRISE_ATTRIBUTES, ENTERPRISE_URN, USER_ATTRIBUTES, USER_URN } from './scim-attributes.ts'
import { invalidSyntax, invalidValue, ScimFault } from './scim-fault.ts'
import { canonicalObject, isInput, membersOf } from './scim-values.ts'

/** The attributes of a user, in canonical form, with the extension under its name. */
export type UserAttributes = JsonObject

/** The attributes of a body. Unknown ones are dropped, `id` and `meta` among them. */
export function readUser(body: unknown): UserAttributes | ScimFault {
  if (!isInput(body)) return invalidSyntax('The body must be a JSON object.')
  const members = membersOf(body)
  if (members instanceof ScimFault) return members
  const fault = bodyFault(members, USER_URN)
  if (fault !== null) return fault
  const attributes = canonicalObject(body, USER_ATTRIBUTES)
  if (attributes instanceof ScimFault) return attributes
  const enterprise = readEnterprise(members.get(ENTERPRISE_URN.toLowerCase()))
  if (enterprise instanceof ScimFault) return enterprise
  return enterprise === null ? attributes : { ...attributes, [ENTERPRISE_URN]: enterprise }
}

function readEnterprise(value: unknown): JsonObject | null | ScimFault {
  if (value === undefined || value === null) return null
  if (!isInput(value)) return invalidValue('The enterprise extension must be an object.')
  const enterprise = canonicalObject(value, ENTERPRISE_ATTRIBUTES)
  return enterprise instanceof ScimFault || Object.keys(enterprise).length > 0 ? enterprise : null
}

/**
 * Attributes below the name of their own schema would be dropped, `active: false` among them.
 *
 * @param members of a body, by their names in lower case
 * @returns null if the body may be of the schema
 */
export function bodyFault(members: ReadonlyMap<string, unknown>, urn: string): ScimFault | null {
  const lower = urn.toLowerCase()
  for (const name of members.keys())
    if (name === lower || name.startsWith(`${lower}:`))
      return invalidSyntax(
        `The attributes of ${urn} must be members of the body itself, by their short names.`,
      )
  const schemas = members.get('schemas')
  return schemas === undefined ? null : schemasFault(schemas, urn)
}

export function schemasFault(schemas: unknown, urn: string): ScimFault | null {
  const named =
    Array.isArray(schemas) &&
    schemas.some((each) => typeof each === 'string' && each.toLowerCase() === urn.toLowerCase())
  return named ? null : invalidSyntax(`schemas must be a list with ${urn}.`)
}

/** @returns what the store keeps of the attributes; `active` is true unless they say otherwise */
export function userInput(attributes: UserAttributes): ScimUserInput | ScimFault {
  const { userName, externalId, active, displayName, ...resource } = attributes
  if (typeof userName !== 'string') return invalidValue('userName is required.')
  return {
    userName,
    externalId: textOrNull(externalId),
    active: active !== false,
    email: workEmail(resource.emails),
    displayName: textOrNull(displayName),
    resource,
  }
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}

/** The first one of type work, by which providers look for users; null: there is none. */
function workEmail(emails: Json | undefined): string | null {
  for (const each of listOf(emails)) {
    if (typeof each !== 'object' || each === null || !('type' in each) || !('value' in each)) continue
    const { type, value } = each
    if (typeof type === 'string' && type.toLowerCase() === 'work' && typeof value === 'string') return value
  }
  return null
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

/** The attributes that a change is applied to. */
export function userAttributes(user: ScimUserInput): UserAttributes {
  const { userName, externalId, active, displayName, resource } = user
  return {
    userName,
    ...(externalId === null ? {} : { externalId }),
    active,
    ...(displayName === null ? {} : { displayName }),
    ...resource,
  }
}

/** The JSON of a user. */
export function userForm(user: ScimUser, meta: JsonObject): JsonObject {
  const hasEnterprise = ENTERPRISE_URN in user.resource
  return {
    schemas: hasEnterprise ? [USER_URN, ENTERPRISE_URN] : [USER_URN],
    id: user.id,
    ...userAttributes(user),
    meta,
  }
}
