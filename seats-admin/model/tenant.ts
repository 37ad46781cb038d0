/** The tenant grammar. A tenant id contains no `_`, which separates the fields of an API key. */

const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,62}$/

export function isTenantId(text: string): boolean {
  return TENANT_ID.test(text)
}
