/**
 * Filters of lists (RFC 7644, section 3.4.2.2). Only those are accepted by which providers find users and
 * groups: a filter that is read as less than it says would show everyone.
 */

import type { ScimGroupFilter, ScimUserFilter } from '../store/scim-store.ts'
import { GROUP_URN, USER_URN } from './scim-attributes.ts'
import { ScimFault } from './scim-fault.ts'
import { parseFilter, type ScimCondition, type ScimPath } from './scim-path.ts'

const USER_FIELDS: ReadonlyMap<string, keyof ScimUserFilter> = new Map([
  ['username', 'userName'],
  ['externalid', 'externalId'],
  ['displayname', 'displayName'],
  ['emails[type eq work].value', 'email'],
])
const GROUP_FIELDS: ReadonlyMap<string, keyof ScimGroupFilter> = new Map([
  ['displayname', 'displayName'],
  ['externalid', 'externalId'],
  ['members.value', 'member'],
])

export function userFilter(text: string): ScimUserFilter | ScimFault {
  return filterOf(
    text,
    USER_URN,
    USER_FIELDS,
    'userName, externalId, displayName or emails[type eq "work"].value',
  )
}

export function groupFilter(text: string): ScimGroupFilter | ScimFault {
  return filterOf(text, GROUP_URN, GROUP_FIELDS, 'displayName, externalId or members.value')
}

/** @param names of the fields, for people */
function filterOf<Field extends string>(
  text: string,
  urn: string,
  fields: ReadonlyMap<string, Field>,
  names: string,
): Partial<Record<Field, string>> | ScimFault {
  const refused = (detail: string) => new ScimFault(400, 'invalidFilter', detail)
  const conditions = parseFilter(text, urn)
  if (conditions === null)
    return refused('The filter is not understood: it may have conditions with eq, joined by and.')
  const filter: Partial<Record<Field, string>> = {}
  for (const { path, value } of conditions) {
    const field = fields.get(nameOf(path))
    if (field === undefined) return refused(`A filter may be over ${names}.`)
    if (typeof value !== 'string') return refused('A filter compares with a text in double quotes.')
    // Two members of a group satisfy both of two conditions; a filter of the store has one of each.
    if (field in filter) return refused('A filter may have one condition on each attribute.')
    filter[field] = value
  }
  return filter
}

function nameOf({ extension, attribute, where, sub }: ScimPath): string {
  const condition = where.map(conditionText).join(' and ')
  const rest = `${condition === '' ? '' : `[${condition}]`}${sub === null ? '' : `.${sub}`}`
  return `${extension ?? ''}${attribute}${rest}`
}

function conditionText({ path, value }: ScimCondition): string {
  return `${nameOf(path)} eq ${typeof value === 'string' ? value.toLowerCase() : `(${value})`}`
}
