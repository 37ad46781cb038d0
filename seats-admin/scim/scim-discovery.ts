/**
 * What a provider can learn of this server: its features, resource types and schemas (RFC 7643, sections 5 to
 * 7).
 */

import type { JsonObject } from '../model/canonical-json.ts'
import { MAX_SCIM_PAGE } from '../store/scim-store.ts'
import {
  type Attributes,
  ENTERPRISE_ATTRIBUTES,
  ENTERPRISE_URN,
  GROUP_ATTRIBUTES,
  GROUP_URN,
  type ScimAttribute,
  USER_ATTRIBUTES,
  USER_URN,
} from './scim-attributes.ts'

const CORE = 'urn:ietf:params:scim:schemas:core:2.0'

/** Bytes of a request. */
export const MAX_SCIM_BODY = 8 * 1024 * 1024

/** @param base the address of the server, without a final slash */
export function serviceProviderConfig(base: string): JsonObject {
  return {
    schemas: [`${CORE}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: MAX_SCIM_BODY },
    filter: { supported: true, maxResults: MAX_SCIM_PAGE },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token that the operator of the gateway gave to the provider.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  }
}

/** The resource types by name. */
export function resourceTypes(base: string): ReadonlyMap<string, JsonObject> {
  const type = (id: string, schema: string, more: JsonObject): [string, JsonObject] => [
    id,
    {
      schemas: [`${CORE}:ResourceType`],
      id,
      name: id,
      description: `${id}s of the tenant.`,
      endpoint: `/${id}s`,
      schema,
      ...more,
      meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${id}` },
    },
  ]
  return new Map([
    type('User', USER_URN, { schemaExtensions: [{ schema: ENTERPRISE_URN, required: false }] }),
    type('Group', GROUP_URN, {}),
  ])
}

/** The schemas by their names. */
export function schemas(base: string): ReadonlyMap<string, JsonObject> {
  const schema = (id: string, name: string, attributes: Attributes): [string, JsonObject] => [
    id,
    {
      schemas: [`${CORE}:Schema`],
      id,
      name,
      description: `Attributes of ${name}.`,
      attributes: [...attributes.values()].map(attributeForm),
      meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
    },
  ]
  return new Map([
    schema(USER_URN, 'User', USER_ATTRIBUTES),
    schema(GROUP_URN, 'Group', GROUP_ATTRIBUTES),
    schema(ENTERPRISE_URN, 'EnterpriseUser', ENTERPRISE_ATTRIBUTES),
  ])
}

function attributeForm(attribute: ScimAttribute): JsonObject {
  const { name, type, multi, description, required, exact, unique, sub } = attribute
  return {
    name,
    type,
    multiValued: multi,
    description,
    required,
    caseExact: exact,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: unique ? 'server' : 'none',
    ...(type === 'reference' ? { referenceTypes: ['external'] } : {}),
    ...(sub.size === 0 ? {} : { subAttributes: [...sub.values()].map(attributeForm) }),
  }
}
