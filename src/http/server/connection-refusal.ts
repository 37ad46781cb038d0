/** Refusals of connections without a readable request, and of connections beyond a limit. */

import { Refusal } from '../../model/errors.ts'
import type { MalformedRequest } from '../wire/malformed-request.ts'

export const connectionsExhausted = new Refusal(
  'unavailable',
  'The gateway has reached its limit of connections. Nothing was read.',
)
export const addressExhausted = new Refusal(
  'unavailable',
  'The client has reached the limit of connections for one address. Nothing was read.',
)
export const memoryExhausted = new Refusal(
  'unavailable',
  'The gateway has no memory left for incomplete header sections.',
)
export const headTimeout = new Refusal('request_timeout', 'The header section did not arrive in time.')

const CODES = {
  malformed: 'request_malformed',
  http2: 'request_malformed',
  'bad-target': 'path_ambiguous',
  'large-target': 'uri_too_long',
  'large-head': 'headers_too_large',
  'large-body': 'body_too_large',
} as const

export function malformedRefusal({ kind, message }: MalformedRequest): Refusal {
  return new Refusal(CODES[kind], message)
}
