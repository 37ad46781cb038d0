/** The parts of a client's request that decisions and logs use. */

import { randomUUID } from 'node:crypto'
import { readCredentials } from '../decision/authn/credentials.ts'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import { peerAddress, type TrustedProxies } from '../proxy/forwarded.ts'

export function authorizationRequest(request: ClientRequest): AuthorizationRequest {
  const { method, url, host, upgrade, section, rawHeaders } = request
  return {
    method,
    target: url,
    host,
    credentials: readCredentials(section.fields),
    browser: { method, rawHeaders, upgrade: upgrade !== null },
  }
}

/** Ids of this form can't inject into logs, header fields and problem documents. */
const REQUEST_ID = /^[A-Za-z0-9._~-]{1,128}$/

/** The id that a trusted proxy sent; otherwise a new one. */
export function requestIdOf({ rawHeaders, socket }: ClientRequest, trustedProxies: TrustedProxies): string {
  if (!trustedProxies.has(peerAddress(socket.remoteAddress))) return randomUUID()
  const received = onlyValue(rawHeaders, 'x-request-id')
  return received !== null && REQUEST_ID.test(received) ? received : randomUUID()
}

/** Null where the name has no field line, or several. @param wanted in lower case */
function onlyValue(rawHeaders: readonly string[], wanted: string): string | null {
  let found: string | null = null
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== wanted) continue
    if (found !== null) return null
    found = rawHeaders[i + 1] ?? ''
  }
  return found
}
