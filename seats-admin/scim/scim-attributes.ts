/**
 * The attributes of users and groups (RFC 7643, sections 4 and 8.7), each declared once. Discovery shows
 * them, and values, paths and filters are read by them. What is not declared is taken and dropped:
 * `password`, and what the gateway has no use for.
 */

export const USER_URN = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP_URN = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE_URN = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

export interface ScimAttribute {
  readonly name: string
  readonly description: string
  readonly type: 'string' | 'boolean' | 'reference' | 'complex'
  /** The attribute has a list of values. */
  readonly multi: boolean
  readonly required: boolean
  /** Upper and lower case differ. */
  readonly exact: boolean
  readonly unique: boolean
  /** The attributes of a value, by names in lower case; empty unless the type is `complex`. */
  readonly sub: Attributes
}

/** Attributes by their names in lower case: names do not depend on case (RFC 7643, section 2.1). */
export type Attributes = ReadonlyMap<string, ScimAttribute>

type Options = Partial<Pick<ScimAttribute, 'required' | 'exact' | 'unique' | 'type' | 'multi'>>

function attribute(
  name: string,
  description: string,
  options: Options = {},
  sub: readonly ScimAttribute[] = [],
): ScimAttribute {
  const type = options.type ?? (sub.length > 0 ? 'complex' : 'string')
  const { required = false, exact = false, unique = false, multi = false } = options
  return { name, description, type, multi, required, exact, unique, sub: byName(sub) }
}

function byName(all: readonly ScimAttribute[]): Attributes {
  return new Map(all.map((each) => [each.name.toLowerCase(), each]))
}

/** A list of values: each may have a type, and one is primary (RFC 7643, section 2.4). */
function values(name: string, description: string, valueType: Options = {}): ScimAttribute {
  return attribute(name, description, { multi: true }, [
    attribute('value', 'The value.', valueType),
    attribute('display', 'A name of the value, for people.'),
    attribute('type', 'What the value is for, such as work.'),
    attribute('primary', 'Whether it is the preferred value. One value is at most.', { type: 'boolean' }),
  ])
}

const EXTERNAL_ID = attribute('externalId', 'The id at the provider.', { exact: true })

export const USER_ATTRIBUTES = byName([
  attribute('userName', 'The name of the user at the provider.', { required: true, unique: true }),
  EXTERNAL_ID,
  attribute('active', 'Whether the user may use the gateway.', { type: 'boolean' }),
  attribute('displayName', 'The name of the user, for people.', { exact: true }),
  attribute('name', 'The parts of the name of the user.', {}, [
    attribute('formatted', 'The whole name.'),
    attribute('familyName', 'The family name.'),
    attribute('givenName', 'The given name.'),
    attribute('middleName', 'The middle names.'),
    attribute('honorificPrefix', 'What stands before the name.'),
    attribute('honorificSuffix', 'What stands after the name.'),
  ]),
  attribute('nickName', 'What the user is called.'),
  attribute('profileUrl', 'A page about the user.', { type: 'reference', exact: true }),
  attribute('title', 'The title of the position.'),
  attribute('userType', 'The relation of the user to the organization.'),
  attribute('preferredLanguage', 'The language that the user prefers.'),
  attribute('locale', 'The locale of the user.'),
  attribute('timezone', 'The time zone of the user.'),
  values('emails', 'Email addresses. The one of type work is shown to administrators.'),
  values('phoneNumbers', 'Telephone numbers.'),
  values('ims', 'Addresses of instant messengers.'),
  values('photos', 'Addresses of pictures.', { type: 'reference', exact: true }),
  attribute('addresses', 'Postal addresses.', { multi: true }, [
    attribute('formatted', 'The whole address.'),
    attribute('streetAddress', 'Street and number.'),
    attribute('locality', 'The city.'),
    attribute('region', 'The state or region.'),
    attribute('postalCode', 'The postal code.'),
    attribute('country', 'The country.'),
    attribute('type', 'What the address is for, such as work.'),
    attribute('primary', 'Whether it is the preferred one.', { type: 'boolean' }),
  ]),
  values('entitlements', 'What the user is entitled to at the provider. It gives nothing here.'),
  values('roles', 'Roles of the user at the provider. They give nothing here.'),
])

export const ENTERPRISE_ATTRIBUTES = byName([
  attribute('employeeNumber', 'The number of the employee.'),
  attribute('costCenter', 'The cost center.'),
  attribute('organization', 'The organization.'),
  attribute('division', 'The division.'),
  attribute('department', 'The department.'),
  attribute('manager', 'The manager.', {}, [
    attribute('value', 'The id of the manager.', { exact: true }),
    attribute('$ref', 'The address of the manager.', { type: 'reference', exact: true }),
    attribute('displayName', 'The name of the manager.'),
  ]),
])

export const GROUP_ATTRIBUTES = byName([
  attribute('displayName', 'The name of the group, which is that of the Seat that it gives.', {
    required: true,
    exact: true,
    unique: true,
  }),
  EXTERNAL_ID,
  attribute('members', 'The members, all of which are users.', { multi: true }, [
    attribute('value', 'The id of the user.', { exact: true }),
    attribute('display', 'The name of the user, for people.'),
  ]),
])
