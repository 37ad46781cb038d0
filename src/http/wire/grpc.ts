/** What makes a request or a response one of gRPC over HTTP/2 (PROTOCOL-HTTP2.md of gRPC). */

import { fieldName } from './field-name.ts'
import type { FieldTable } from './field-table.ts'

const CONTENT_TYPE = fieldName('content-type')
/** gRPC-Web has its trailers in the body, and is plain HTTP to a proxy. */
const GRPC = /^application\/grpc(?!-web)/i

/** Whether the message is one of gRPC. A message with two content types is not. */
export function isGrpc(fields: FieldTable): boolean {
  const [type, second] = fields.values(CONTENT_TYPE)
  return type !== undefined && second === undefined && GRPC.test(type)
}
