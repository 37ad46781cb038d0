/** The names of header fields, and the ones that settings cannot use. */

import { OWN_CREDENTIAL_FIELDS } from '../model/principal.ts'
import { InvalidValue } from './invalid-value.ts'

/** The fields with another meaning, with credentials, or that the gateway itself drops, writes or reads. */
const RESERVED = new Set([
  ...OWN_CREDENTIAL_FIELDS,
  'authorization',
  'connection',
  'cookie',
  'cf-connecting-ip',
  'date',
  'dpop',
  'expect',
  'fastly-client-ip',
  'forwarded',
  'from',
  'front-end-https',
  'host',
  'http2-settings',
  'keep-alive',
  'max-forwards',
  'origin',
  'path-info',
  'pragma',
  'priority',
  'proxy',
  'range',
  'referer',
  'script-name',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'true-client-ip',
  'upgrade',
  'user-agent',
  'via',
])
const RESERVED_PREFIX =
  /^(?:accept|access-control-|cache-|client-cert|content-|grpc-|if-|proxy-|sec-|trace|www-|x-(?:accel|api-key|client-ip|cluster-client-ip|envoy|forwarded|host|http-|method-|original|override|real-ip|remote-|request-id|rewrite|scheme|script-name|seatgate|sendfile|url-|waws))/

/** @param name the name of a field in lower case */
export function isReservedField(name: string): boolean {
  return RESERVED.has(name) || RESERVED_PREFIX.test(name)
}

/** @returns the name in lower case */
export function headerName(text: string): string | InvalidValue {
  return /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(text)
    ? text.toLowerCase()
    : new InvalidValue('is not the name of a header of at most 64 letters, digits and -')
}
