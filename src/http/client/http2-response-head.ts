/** The grammar of HTTP/2 responses: as strict as that of HTTP/1.1. The rules are in `wire/http2/field-list.ts`. */

import { responseFields, trailerFields } from '../wire/http2/field-list.ts'
import { ProtocolError, type ResponseHead } from './upstream-request.ts'

export interface Http2ResponseHead extends ResponseHead {
  /** The announced bytes of the body; null without Content-Length. */
  readonly length: number | null
}

/** Throws a ProtocolError. @param list name, value, … as received */
export function readResponse(list: readonly string[]): Http2ResponseHead {
  const { status, fields, length } = responseFields(list, fault)
  return { status, phrase: '', fields, length }
}

/** Throws a ProtocolError. @param list name, value, … as received */
export function readTrailers(list: readonly string[]): readonly string[] {
  trailerFields(list, fault)
  return list
}

const fault = (what: string) => new ProtocolError(what)
