/** For the log: the setting to change when a provider refuses the gateway as its client. Contains no secret. */

import type { ClientAuth, OidcConfig } from '../../config/config.ts'

const OTHER: Readonly<Record<ClientAuth, string>> = {
  client_secret_basic: 'or set client_auth: client_secret_post',
  client_secret_post: 'or set client_auth: client_secret_basic',
  none: 'or set a client_secret, with client_auth: client_secret_basic or client_secret_post',
}

/** After 401, `invalid_client` and `unauthorized_client`. */
export function clientAdvice(clientAuth: ClientAuth): string {
  return `(the gateway authenticates by ${clientAuth}: check client_id and client_secret, ${OTHER[clientAuth]})`
}

/** After `invalid_scope`. */
export function scopeAdvice({ scopes }: Pick<OidcConfig, 'scopes'>): string {
  if (!scopes.includes('offline_access')) return '(set scopes to those that the provider grants this client)'
  const others = scopes.filter((scope) => scope !== 'offline_access')
  return `(set scopes without offline_access: [${others.join(', ')}])`
}
