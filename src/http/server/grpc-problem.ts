/**
 * Refusals for clients of gRPC: HTTP 200 with `grpc-status` and `grpc-message` in place of a body
 * (PROTOCOL-HTTP2.md of gRPC, "Trailers-Only"). Clients over HTTP/1.1 get problem documents whatever their
 * content type: gRPC needs HTTP/2, so they are other programs, for which a 200 would be a success.
 */

import type { Refusal } from '../../model/errors.ts'
import { isGrpc } from '../wire/grpc.ts'
import type { ClientRequest } from './client-request.ts'

/** Whether the client is one of gRPC. */
export function speaksGrpc({ http2, section }: ClientRequest): boolean {
  return http2 && isGrpc(section.fields)
}

const UNAUTHENTICATED = 16
const BY_STATUS: Readonly<Record<number, number>> = {
  401: UNAUTHENTICATED,
  403: 7,
  404: 12,
  429: 8,
  502: 14,
  503: 14,
  504: 14,
}
const INTERNAL = 13

/** The status of gRPC for a refusal. */
export function grpcStatusOf({ code, status }: Refusal): number {
  if (code === 'credentials_ambiguous') return UNAUTHENTICATED
  return BY_STATUS[status] ?? INTERNAL
}

/** The trailers that end a call: name, value, … */
export function grpcTrailers(refusal: Refusal): string[] {
  const message = percentEncoded(`${refusal.code}: ${refusal.detail}`)
  const trailers = ['grpc-status', String(grpcStatusOf(refusal)), 'grpc-message', message]
  // gRFC A6: when clients that retry may do so.
  if (refusal.retryAfter !== null)
    trailers.push('grpc-retry-pushback-ms', String(Math.ceil(refusal.retryAfter)))
  return trailers
}

/** Bytes other than visible ASCII and space, and the percent sign, as `%XX`. */
export function percentEncoded(text: string): string {
  let encoded = ''
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== PERCENT
    encoded += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}

const PERCENT = 0x25

/**
 * Name, value, … of a refusal in the form of gRPC: trailers only. Caches would keep a 200 (RFC 9111, section
 * 4.2.2), and give it to clients that are not of gRPC.
 */
export function grpcProblemFields(refusal: Refusal, requestId: string): string[] {
  const own = ['Cache-Control', 'no-store', 'X-Request-Id', requestId]
  return ['Content-Type', 'application/grpc', ...grpcTrailers(refusal), ...own]
}
